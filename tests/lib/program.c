/* A plan as a Keel program: windows, protected state, restart, rollback; compared with the oracle
 * during the run. */
#include "many.h"
#include "play.h"
#include "shares.h"
#include "sim/random.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define PROGRAM_CALLS_MAX 1000 /* times that a single call may return KEEL_ERR_ROLLED_BACK */

#define ACCESS_BLOCKS_MAX 7u /* blocks of an access, at most */

#define PROGRAM_PAGE 4096u
#define PROGRAM_TAIL 96 /* bytes of a window after those of the plan, and up to twice as many */

enum { ID_STATE = 0, ID_HISTORY = 7, ID_ODD = 3 };

typedef struct program {
    play_host_t *host;
    keel_context_h ctx;
    keel_win_h win[PLAN_WINDOWS_MAX];
    unsigned window_calls; /* number of calls made, for plan_window_call() */
    int is_alive[PLAN_WINDOWS_MAX];
    play_t play;
    unsigned char odd[13]; /* a protected region of an odd size */
    play_access_t access;
} program_t;

static void __attribute__((format(printf, 2, 3))) program_flaw(program_t *program, const char *format, ...)
{
    char text[512];
    va_list args;
    int used;

    used = snprintf(text, sizeof(text), "rank %u.%u phase %u: ", program->host->rank, program->host->incarnation,
                    (unsigned)program->play.state.phase);
    va_start(args, format);
    vsnprintf(text + used, sizeof(text) - (size_t)used, format, args);
    va_end(args);
    program->host->flaw(program->host, text);
}

/* Call before each call of Keel: a point where the process may be killed. */
static void program_note(program_t *program, const char *what, const plan_op_t *op)
{
    static const char *const mode[] = {"", " for a request", " for a callback", " detached"};
    char text[128];

    if (program->host->point != NULL) {
        program->host->point(program->host);
    }

    if (program->host->note != NULL) {
        snprintf(text, sizeof(text), "phase %u: %s%s, window %u of rank %u, slot %u, %u bytes at %u",
                 (unsigned)program->play.state.phase, what, mode[op->mode], op->window, op->target, op->slot,
                 op->length, op->offset);
        program->host->note(program->host, text);
    }
}

/* ---- accesses ---- */

static const keel_rma_params_t *access_params(keel_rma_params_t *params, keel_send_cb_t cb, void *user)
{
    params->field_mask = KEEL_RMA_PARAM_FIELD_CB;
    params->cb = cb;
    params->user = user;
    return (cb != NULL) ? params : NULL;
}

/* In programs with strides about half of the accesses are of blocks: every second block first, and
 * then the blocks between. The remainder is a plain access. */
static unsigned access_blocks(const program_t *program, const plan_op_t *op)
{
    const uint64_t drawn = keel_random_mix(program->host->plan->options.seed ^ (program->play.state.phase << 40) ^
                                           ((uint64_t)op->target << 32) ^ ((uint64_t)op->offset << 8) ^ op->kind);

    return (program->host->has_strides && op->length >= 8 && drawn % 2 == 0)
               ? 2 + (drawn >> 8) % (ACCESS_BLOCKS_MAX - 1)
               : 0;
}

static keel_blocks_t access_every_other(const plan_op_t *op, unsigned count, unsigned first)
{
    const size_t length = op->length / count;

    return (keel_blocks_t){.length = length,
                           .count = (count + 1 - first) / 2,
                           .offset = op->offset + first * length,
                           .stride = 2 * length,
                           .buffer_stride = 2 * length};
}

static keel_status_t access_put_blocks(program_t *program, const plan_op_t *op, const char *buffer, unsigned count)
{
    const keel_win_h win = program->win[op->window];
    const size_t left = op->length % count;
    keel_status_t status = KEEL_OK;

    for (unsigned first = 0; first < 2 && status == KEEL_OK; first++) {
        const keel_blocks_t blocks = access_every_other(op, count, first);

        program_note(program, "put of blocks", op);
        status = keel_put_strided(win, op->target, &blocks, buffer + first * blocks.length);
    }
    if (status == KEEL_OK && left > 0) {
        status = keel_put(win, op->target, op->offset + op->length - left, buffer + op->length - left, left);
    }
    return status;
}

/* Puts the same bytes as a list from the last to the first block, with the remainder, and with an
 * empty block. */
static keel_status_t access_put_list(program_t *program, const plan_op_t *op, const char *buffer, unsigned count)
{
    const size_t length = op->length / count, left = op->length % count;
    keel_block_t list[ACCESS_BLOCKS_MAX + 2];
    size_t blocks = 0;

    if (left > 0) {
        list[blocks++] =
            (keel_block_t){op->offset + op->length - left, left, (char *)(uintptr_t)buffer + op->length - left};
    }
    list[blocks++] = (keel_block_t){.offset = op->offset};
    for (unsigned i = count; i > 0; i--) {
        list[blocks++] =
            (keel_block_t){op->offset + (i - 1) * length, length, (char *)(uintptr_t)buffer + (i - 1) * length};
    }
    program_note(program, "put of a list", op);
    return keel_put_list(program->win[op->window], op->target, list, blocks);
}

/* Gets all bytes as a list, from the last block to the first. Some blocks are empty, and the first
 * has the remainder. */
static keel_status_t access_get_list(program_t *program, const plan_op_t *op, char *buffer, unsigned count)
{
    keel_block_t blocks[ACCESS_BLOCKS_MAX];
    size_t end = op->length;

    for (unsigned i = 0; i < count; i++) {
        const size_t length = (i + 1 < count) ? op->length / count * (i % 3) / 2 : end;

        end -= length;
        blocks[i] = (keel_block_t){.offset = op->offset + end, .length = length, .buffer = buffer + end};
    }
    program_note(program, "get of a list", op);
    return keel_get_list(program->win[op->window], op->target, blocks, count);
}

static keel_status_t access_get_blocks(program_t *program, const plan_op_t *op, char *buffer, unsigned count)
{
    const keel_win_h win = program->win[op->window];
    const size_t left = op->length % count;
    keel_status_t status = KEEL_OK;

    if ((op->offset / 8 + op->length + count) % 2 == 0) {
        return access_get_list(program, op, buffer, count);
    }
    for (unsigned first = 0; first < 2 && status == KEEL_OK; first++) {
        const keel_blocks_t blocks = access_every_other(op, count, first);

        program_note(program, "get of blocks", op);
        status = keel_get_strided(win, op->target, &blocks, buffer + first * blocks.length);
    }
    if (status == KEEL_OK && left > 0) {
        status = keel_get(win, op->target, op->offset + op->length - left, buffer + op->length - left, left);
    }
    return status;
}

static keel_status_t access_put(void *arg, const plan_op_t *op, const void *buffer, keel_send_cb_t cb, void *user,
                                keel_req_h *req_p)
{
    program_t *program = arg;
    const unsigned blocks = access_blocks(program, op);
    keel_rma_params_t params;

    if (blocks > 0) {
        return (op->offset % 16 < 8) ? access_put_blocks(program, op, buffer, blocks)
                                     : access_put_list(program, op, buffer, blocks);
    }
    program_note(program, "put", op);
    if (op->mode == PLAN_BLOCKING) {
        return keel_put(program->win[op->window], op->target, op->offset, buffer, op->length);
    }
    return keel_put_nbx(program->win[op->window], op->target, op->offset, buffer, op->length,
                        access_params(&params, cb, user), req_p);
}

static keel_status_t access_get(void *arg, const plan_op_t *op, void *buffer, keel_send_cb_t cb, void *user,
                                keel_req_h *req_p)
{
    program_t *program = arg;
    const unsigned blocks = access_blocks(program, op);
    keel_rma_params_t params;

    if (blocks > 0) {
        return access_get_blocks(program, op, buffer, blocks);
    }
    program_note(program, "get", op);
    if (op->mode == PLAN_BLOCKING) {
        return keel_get(program->win[op->window], op->target, op->offset, buffer, op->length);
    }
    return keel_get_nbx(program->win[op->window], op->target, op->offset, buffer, op->length,
                        access_params(&params, cb, user), req_p);
}

/* In a slot of atomics only the first word changes. The other words of the slot may be combined
 * with neutral operands. */
static size_t accumulate_count(const program_t *program, const plan_op_t *op)
{
    const plan_t *plan = program->host->plan;
    const plan_slot_t *slot = &plan->window[op->window].slot[op->slot];
    const plan_role_t *role = plan_role(plan, (uint32_t)program->play.state.phase, op->window, op->target, op->slot);

    return (role->kind == PLAN_ATOMIC && op->atomic != KEEL_ATOMIC_SET && op->offset == slot->offset)
               ? slot->length / op->length
               : 1;
}

static keel_status_t access_update(void *arg, const plan_op_t *op, uint64_t operand, uint64_t compare, void *result,
                                   keel_send_cb_t cb, void *user, keel_req_h *req_p)
{
    program_t *program = arg;
    keel_rma_params_t params;

    program_note(program, "update", op);
    if (result == NULL && (op->offset / 8 + op->target) % 3 == 0 && many_is_known(op->atomic)) {
        return many_atomics(program->win[op->window], op->atomic, op->target, op->offset, op->length, operand, 0,
                            accumulate_count(program, op), access_params(&params, cb, user), req_p);
    }
    if (op->mode == PLAN_BLOCKING) {
        return keel_atomic(program->win[op->window], op->atomic, op->target, op->offset, op->length, operand, compare,
                           result);
    }
    return keel_atomic_nbx(program->win[op->window], op->atomic, op->target, op->offset, op->length, operand, compare,
                           result, access_params(&params, cb, user), req_p);
}

static keel_status_t access_wait(void *arg, keel_req_h req)
{
    return keel_req_wait(req);
}

static keel_status_t access_test(void *arg, keel_req_h req)
{
    return keel_req_test(req);
}

static void access_release(void *arg, keel_req_h req)
{
    keel_req_free(req);
}

static keel_status_t access_progress(void *arg)
{
    return keel_progress(((program_t *)arg)->ctx);
}

static keel_status_t access_flush(void *arg, uint32_t rank)
{
    const plan_op_t op = {.target = rank};

    program_note(arg, "flush", &op);
    return keel_flush(((program_t *)arg)->ctx, rank);
}

static keel_status_t access_flush_all(void *arg)
{
    const plan_op_t op = {0};

    program_note(arg, "flush of all", &op);
    return keel_flush_all(((program_t *)arg)->ctx);
}

static keel_status_t access_fence(void *arg)
{
    const plan_op_t op = {0};

    program_note(arg, "fence", &op);
    return keel_fence(((program_t *)arg)->ctx);
}

static void access_compute(void *arg, uint64_t ns)
{
    program_t *program = arg;

    program->host->compute(program->host, ns);
}

static int access_observe(void *arg, uint32_t phase, unsigned point, uint64_t value, const char *what)
{
    program_t *program = arg;
    const oracle_t *oracle = program->host->oracle;

    if (oracle == NULL) {
        return 0;
    }
    if ((point < oracle_points(oracle, phase, program->host->rank)) &&
        (oracle_value(oracle, phase, program->host->rank, point) == value)) {
        return 0;
    }
    program_flaw(program, "observation %u (%s) differs from the run without failure", point, what);
    return 1;
}

static const play_access_t program_access = {.put = access_put,
                                             .get = access_get,
                                             .update = access_update,
                                             .wait = access_wait,
                                             .test = access_test,
                                             .release = access_release,
                                             .progress = access_progress,
                                             .flush = access_flush,
                                             .flush_all = access_flush_all,
                                             .fence = access_fence,
                                             .compute = access_compute,
                                             .observe = access_observe};

/* ---- memory ---- */

/* Checks own slots that no other rank may be writing now, or all slots. */
static keel_status_t program_check_memory(program_t *program, int all)
{
    const plan_t *plan = program->host->plan;
    const uint32_t phase = (uint32_t)program->play.state.phase, rank = program->host->rank;
    const plan_slot_t *slot;
    const unsigned char *wanted;
    unsigned w, i, k;

    if (program->host->oracle == NULL) {
        return KEEL_OK;
    }
    for (w = 0; w < plan->window_count; ++w) {
        if (!program->is_alive[w]) {
            continue;
        }
        wanted = oracle_memory(program->host->oracle, phase, w, rank);
        for (i = 0; i < plan->window[w].slots_of[rank]; ++i) {
            slot = &plan->window[w].slot[i];
            if (!all && plan_is_remote(plan_role(plan, phase, w, rank, i))) {
                continue;
            }
            if (memcmp(program->play.base[w] + slot->offset, wanted + slot->offset, slot->length) == 0) {
                continue;
            }
            for (k = 0; program->play.base[w][slot->offset + k] == wanted[slot->offset + k]; ++k) {
            }
            program_flaw(program, "memory differs: window %u slot %u (%u bytes at %u) at byte %u: 0x%02x, not 0x%02x",
                         w, i, slot->length, slot->offset, k, program->play.base[w][slot->offset + k],
                         wanted[slot->offset + k]);
            return KEEL_ERR_CORRUPT;
        }
    }
    return KEEL_OK;
}

static keel_status_t program_check_private(program_t *program)
{
    unsigned i;

    for (i = 0; i < sizeof(program->odd); ++i) {
        if (program->odd[i] != (unsigned char)(program->play.state.phase * 3 + i)) {
            program_flaw(program, "protected byte %u is 0x%02x", i, program->odd[i]);
            return KEEL_ERR_CORRUPT;
        }
    }
    for (i = 0; (i < program->play.state.phase) && (i < PLAY_HISTORY); ++i) {
        if ((program->host->oracle != NULL) &&
            (program->play.history[i] !=
             oracle_value(program->host->oracle, i, program->host->rank,
                          oracle_points(program->host->oracle, i, program->host->rank) - 1))) {
            program_flaw(program, "protected history of phase %u is wrong", i);
            return KEEL_ERR_CORRUPT;
        }
    }
    return KEEL_OK;
}

static void program_mark_private(program_t *program)
{
    unsigned i;

    for (i = 0; i < sizeof(program->odd); ++i) {
        program->odd[i] = (unsigned char)(program->play.state.phase * 3 + i);
    }
}

/* ---- set-up and restart ---- */

/* Allocates Keel's memory, or at some ranks pages of the program's own. */
static keel_status_t program_window(program_t *program, uint64_t bytes, keel_win_h *win_p)
{
    const uint64_t drawn =
        keel_random_mix(program->host->plan->options.seed + program->window_calls) + program->host->rank;

    if (program->host->given == NULL || bytes == 0 || drawn % 2 == 0) {
        return keel_win_alloc(program->ctx, bytes, NULL, win_p);
    }
    bytes = (bytes + PROGRAM_PAGE - 1) / PROGRAM_PAGE * PROGRAM_PAGE;
    return keel_win_create(program->ctx, program->host->given(bytes), bytes, NULL, win_p);
}

/* Makes the next collective window call. Returns KEEL_ERR_LAST if no call remains before @a
 * phase. */
static keel_status_t program_window_call(program_t *program, uint64_t phase)
{
    const plan_t *plan = program->host->plan;
    keel_status_t status;
    plan_call_t call;

    if (!plan_window_call(plan, program->window_calls, &call) || (call.phase >= phase)) {
        return KEEL_ERR_LAST;
    }
    if (call.is_free) {
        status = keel_win_free(program->win[call.window]);
    } else {
        const uint64_t bytes = plan_window_bytes(plan, call.window, program->host->rank);
        const uint64_t more = program->host->has_extents ? PROGRAM_TAIL + bytes % PROGRAM_TAIL : 0;

        status = program_window(program, bytes + more, &program->win[call.window]);
    }
    if (status == KEEL_OK) {
        ++program->window_calls;
        program->is_alive[call.window] = !call.is_free;
        program->play.base[call.window] = call.is_free ? NULL : keel_win_base(program->win[call.window]);
    }
    return status;
}

static keel_status_t program_protect(program_t *program)
{
    keel_status_t status;

    status = keel_protect(program->ctx, ID_STATE, &program->play.state, sizeof(program->play.state));
    if (status == KEEL_OK) {
        status = keel_protect(program->ctx, ID_HISTORY, program->play.history, sizeof(program->play.history));
    }
    if (status == KEEL_OK) {
        status = keel_protect(program->ctx, ID_ODD, program->odd, sizeof(program->odd));
    }
    return status;
}

static keel_status_t program_setup(program_t *program)
{
    keel_status_t status = KEEL_OK;
    unsigned tries;

    for (tries = 0; tries < PROGRAM_CALLS_MAX; ++tries) {
        status = program_window_call(program, 1);
        if ((status != KEEL_OK) && (status != KEEL_ERR_ROLLED_BACK)) {
            break;
        }
    }
    return (status == KEEL_ERR_LAST) ? program_protect(program) : status;
}

/* The windows are now those of the image. */
static void program_adopt_windows(program_t *program)
{
    const plan_t *plan = program->host->plan;
    plan_call_t call;
    unsigned w;

    memset(program->is_alive, 0, sizeof(program->is_alive));
    for (program->window_calls = 0; plan_window_call(plan, program->window_calls, &call); ++program->window_calls) {
        if ((call.phase > 0) && (call.phase >= program->play.state.phase)) {
            break;
        }
        program->is_alive[call.window] = !call.is_free;
    }
    for (w = 0; w < plan->window_count; ++w) {
        program->play.base[w] = program->is_alive[w] ? keel_win_base(program->win[w]) : NULL;
    }
}

/* The image may contain later window calls: repeats them until the restore succeeds. */
static keel_status_t program_restore_again(program_t *program)
{
    keel_status_t status;

    do {
        status = keel_restore(program->ctx);
    } while ((status == KEEL_ERR_STATE) && (program_window_call(program, UINT64_MAX) == KEEL_OK));
    if (status == KEEL_OK) {
        program_adopt_windows(program);
    }
    return status;
}

/* ---- queries before a restore ---- */

/* A slot of own memory in the image. */
typedef struct look {
    unsigned window, slot;
    unsigned char bytes[PLAN_SLOT_BYTES];
    keel_status_t status;
    uint64_t generation; /* generation of the bytes */
} look_t;

static const plan_slot_t *look_slot(const program_t *program, const look_t *look)
{
    return &program->host->plan->window[look->window].slot[look->slot];
}

static void program_look(program_t *program, look_t *look)
{
    const uint32_t rank = program->host->rank, incarnation = program->host->incarnation;
    const plan_t *plan = program->host->plan;
    keel_stats_t stats;
    unsigned slots;

    look->window = (rank + incarnation) % plan->window_count;
    slots = plan->window[look->window].slots_of[rank];
    if (!program->host->has_looks || incarnation == 0 || slots == 0 || !program->is_alive[look->window]) {
        return;
    }
    look->slot = (incarnation * 7 + rank) % slots;
    look->status = keel_image_get(program->win[look->window], look_slot(program, look)->offset, look->bytes,
                                  look_slot(program, look)->length);
    if (look->status != KEEL_OK && look->status != KEEL_ERR_STATE && look->status != KEEL_ERR_RANGE &&
        look->status != KEEL_ERR_CATASTROPHIC && look->status != KEEL_ERR_ISOLATED) {
        program_flaw(program, "keel_image_get: %s", keel_status_string(look->status));
    }
    look->generation = (keel_stats(program->ctx, &stats, sizeof(stats)) == KEEL_OK) ? stats.generation : UINT64_MAX;
}

/* Skips the check if a further death may have changed the generation, or if other ranks may already
 * write to the slot. */
static void program_check_look(program_t *program, const look_t *look)
{
    const uint32_t phase = (uint32_t)program->play.state.phase;
    keel_stats_t stats;

    if ((look->status != KEEL_OK && look->status != KEEL_ERR_RANGE) || !program->is_alive[look->window] ||
        keel_stats(program->ctx, &stats, sizeof(stats)) != KEEL_OK ||
        (stats.generation != look->generation && stats.demand_recoveries == 0)) {
        return;
    }
    if (look->status == KEEL_ERR_RANGE) {
        if (!program->host->has_extents) {
            program_flaw(program, "keel_image_get: window %u is not in the image", look->window);
        }
    } else if (!plan_is_remote(plan_role(program->host->plan, phase, look->window, program->host->rank, look->slot)) &&
               memcmp(look->bytes, program->play.base[look->window] + look_slot(program, look)->offset,
                      look_slot(program, look)->length) != 0) {
        program_flaw(program, "keel_image_get: window %u slot %u: not what keel_restore() gave", look->window,
                     look->slot);
    }
}

static keel_status_t program_restore(program_t *program)
{
    look_t *look = program->host->alloc(sizeof(*look), "what was looked at");
    keel_status_t status;

    memset(look, 0, sizeof(*look));
    look->status = KEEL_ERR_STATE;
    program_look(program, look);
    status = program_restore_again(program);
    if (status == KEEL_OK) {
        program_check_look(program, look);
    }
    program->host->release(look);
    return status;
}

/* ---- the computation ---- */

static keel_status_t program_sync(program_t *program, plan_sync_t sync)
{
    switch (sync) {
    case PLAN_CHECKPOINT:
        return keel_checkpoint(program->ctx);
    case PLAN_GSYNC_SAFE:
        return keel_gsync(program->ctx, KEEL_GSYNC_SAFE);
    default:
        return keel_gsync(program->ctx, 0);
    }
}

/* The plan's bytes belong to the image, as two extents cut elsewhere in each phase. The bytes after
 * them never have the same values twice. */
static keel_status_t program_set_extents(program_t *program)
{
    const uint64_t phase = program->play.state.phase;
    keel_status_t status = KEEL_OK;

    for (unsigned w = 0; w < program->host->plan->window_count && status == KEEL_OK; w++) {
        const uint64_t bytes = plan_window_bytes(program->host->plan, w, program->host->rank);
        const uint64_t cut = (bytes > 1) ? 1 + (phase * 37 + w) % (bytes - 1) : bytes;
        const keel_extent_t extents[2] = {{0, cut}, {cut, bytes - cut}};

        if (program->is_alive[w]) {
            memset(program->play.base[w] + bytes, (int)(phase + 7 * program->host->incarnation), PROGRAM_TAIL);
            status = keel_win_extents(program->win[w], extents, (bytes > 1) ? 2 : (unsigned)bytes);
        }
    }
    return status;
}

/* Takes or releases the shared locks of the existing windows. */
static keel_status_t program_share(program_t *program, keel_status_t (*share)(const shares_t *, keel_win_h, unsigned))
{
    const plan_options_t *options = &program->host->plan->options;
    const shares_t shares = {.host = program->host,
                             .phase = program->play.state.phase,
                             .may_hold = !options->late_windows,
                             .is_last = program->play.state.phase + 1 == options->phases};
    keel_status_t status = KEEL_OK;

    for (unsigned w = 0; w < program->host->plan->window_count && status == KEEL_OK; w++) {
        status = program->is_alive[w] ? share(&shares, program->win[w], w) : KEEL_OK;
    }
    return status;
}

static keel_status_t program_steps(program_t *program)
{
    const plan_t *plan = program->host->plan;
    play_t *play = &program->play;
    keel_status_t status;

    while (play->state.phase < plan->options.phases) {
        program->host->at(program->host, (uint32_t)play->state.phase);
        if (program->host->asks != NULL && program->host->asks(program->host, (uint32_t)play->state.phase)) {
            return keel_rollback(program->ctx);
        }
        while ((status = program_window_call(program, play->state.phase + 1)) == KEEL_OK) {
        }
        if (status != KEEL_ERR_LAST) {
            return status;
        }
        status = program_check_private(program);
        if (status == KEEL_OK) {
            status = program_check_memory(program, 0);
        }
        if (status == KEEL_OK) {
            status = program_share(program, shares_take);
        }
        if (status == KEEL_OK) {
            status = play_phase(play);
        }
        if (status == KEEL_OK) {
            status = program_share(program, shares_give);
        }
        if (status != KEEL_OK) {
            return status;
        }
        ++play->state.phase; /* before the gsync: an image taken there continues after it */
        program_mark_private(program);
        if (program->host->has_extents) {
            status = program_set_extents(program);
        }
        if (status != KEEL_OK) {
            return status;
        }
        status = program_sync(program, plan->sync[play->state.phase - 1]);
        if (status != KEEL_OK) {
            return status;
        }
    }
    return KEEL_OK;
}

static keel_status_t program_finish(program_t *program)
{
    keel_stats_t stats;
    keel_status_t status;

    status = program_check_private(program);
    if (status == KEEL_OK) {
        status = program_check_memory(program, 1);
    }
    if (status != KEEL_OK) {
        return status;
    }
    if (keel_stats(program->ctx, &stats, sizeof(stats)) == KEEL_OK) {
        program->host->stats(program->host, &stats);
    }
    program->host->at(program->host, program->host->plan->options.phases);
    status = keel_finalize(program->ctx);
    if (status == KEEL_OK) {
        program->host->ctx = NULL;
    }
    return status;
}

static keel_status_t program_run(program_t *program)
{
    volatile keel_status_t status = program_setup(program);
    volatile unsigned lives;

    for (lives = 0; (status == KEEL_OK) && (lives < PROGRAM_CALLS_MAX); ++lives) {
        if (program->host->has_restart_point) {
            KEEL_RESTART_POINT(program->ctx);
            play_release(&program->play);
            status = KEEL_OK;
            if (program->host->clears_restart_point && (lives & 1)) {
                keel_restart_clear(program->ctx);
            }
        }
        if (keel_restarted(program->ctx)) {
            status = program_restore(program);
        }
        if (status == KEEL_OK) {
            status = program_steps(program);
        }
        if (status == KEEL_OK) {
            status = program_finish(program);
            if (status == KEEL_OK) {
                return KEEL_OK;
            }
        }
        if (status == KEEL_ERR_ROLLED_BACK) {
            play_release(&program->play);
            status = KEEL_OK;
        }
    }
    return status;
}

keel_status_t play_program(play_host_t *host)
{
    program_t *program = host->alloc(sizeof(*program), "program");
    void *scratch = host->alloc((size_t)PLAN_EPOCH_OPS * PLAN_SLOT_BYTES, "scratch");
    keel_status_t status;

    memset(program, 0, sizeof(*program));
    program->host = host;
    program->access = program_access;
    program->access.arg = program;
    play_start(&program->play, host->plan, host->rank, &program->access, scratch);
    program_mark_private(program);
    status = play_init(host, &program->ctx);
    if (status == KEEL_OK) {
        host->incarnation = keel_incarnation(program->ctx);
        host->ctx = program->ctx;
        host->at(host, PLAY_MET);
        status = program_run(program);
    }
    if ((status == KEEL_ERR_STATE) && (program->ctx == NULL) && (host->incarnation > 0)) {
        goto out; /* the predecessor had arrived at the last gsync: the other ranks are done */
    }
    if ((status != KEEL_OK) && (status != KEEL_ERR_CATASTROPHIC) &&
        !((status == KEEL_ERR_ISOLATED) && host->may_be_cut_off)) {
        program_flaw(program, "a call returned %d (%s)", (int)status, keel_status_string(status));
    }
out:
    host->release(scratch);
    host->release(program);
    return status;
}
