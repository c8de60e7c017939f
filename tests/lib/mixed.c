/* Programs with a mix of all ways to synchronise. */
#include "mixed.h"

#include "life.h"
#include "mixed_draw.h"
#include "mixed_more.h"
#include "mixed_pieces.h"
#include "mixed_raced.h"
#include "mixed_rounds.h"
#include "sim/random.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { ID_STATE = 1, ID_GATHER, PAGE_BYTES = 4096 };

typedef struct mixed_state {
    uint64_t step;
    uint64_t is_half; /* the first half of this step's epoch is done */
} mixed_state_t;

typedef struct mixed_run {
    play_host_t *host;
    mixed_journal_t *journal;
    life_t life;
    keel_win_h win, device;
    mixed_state_t state;          /* a protected region */
    mixed_act_t acts[MIXED_EACH]; /* acts of this step */
    unsigned count;
    mixed_more_t more;
    mixed_pieces_t pieces;
    mixed_rounds_t rounds;
    keel_win_h raced;
} mixed_run_t;

/* ---- the program ---- */

static keel_status_t run_add(const mixed_run_t *run, const mixed_act_t *act)
{
    const uint64_t way = keel_random_mix(act->value) >> 1;
    uint64_t found;

    TRY(other_combine(run->win, act->target, offsetof(mixed_memory_t, words), act->value, way));
    return other_add(run->win, act->target, offsetof(mixed_memory_t, total), act->value, act->fetches ? &found : NULL,
                     way >> 4);
}

/* Writes a word. No other rank writes the word at this time. */
static keel_status_t run_put(const mixed_run_t *run, uint32_t target, uint64_t offset, uint64_t value)
{
    if (mixed_is_other(&run->journal->options, value)) {
        return other_put(run->win, target, offset, value, keel_random_mix(value) >> 1);
    }
    return keel_put(run->win, target, offset, &value, sizeof(value));
}

static void on_added(void *user, keel_status_t status)
{
    (void)keel_flush_all(((const mixed_run_t *)user)->life.ctx);
}

/* Adds by one atomic, by a loop of compare and swaps, or by a posted atomic that stays outstanding
 * until the next flush. */
static keel_status_t run_device(const mixed_run_t *run, const mixed_act_t *act)
{
    const uint64_t offset = offsetof(mixed_device_t, total), way = keel_random_mix(act->value) % 3;
    const keel_rma_params_t params = {
        .field_mask = KEEL_RMA_PARAM_FIELD_CB, .cb = on_added, .user = (void *)(uintptr_t)run};
    uint64_t found = 0, seen;
    keel_req_h req = NULL;
    keel_status_t status;

    if (way == 0) {
        status = keel_atomic_nbx(run->device, KEEL_ATOMIC_ADD, act->target, offset, 8, act->value, 0, NULL,
                                 act->fetches ? &params : NULL, &req);
        if (req != NULL) {
            keel_req_free(req);
        }
        return (status == KEEL_INPROGRESS) ? KEEL_OK : status;
    }
    if (way == 1) {
        return keel_atomic(run->device, KEEL_ATOMIC_ADD, act->target, offset, 8, act->value, 0,
                           act->fetches ? &found : NULL);
    }
    TRY(keel_atomic(run->device, KEEL_ATOMIC_FETCH, act->target, offset, 8, 0, 0, &found));
    do {
        seen = found;
        TRY(keel_atomic(run->device, KEEL_ATOMIC_CSWAP, act->target, offset, 8, seen + act->value, seen, &found));
    } while (found != seen);
    return KEEL_OK;
}

/* The additional accesses of some programs. */
static keel_status_t run_besides(mixed_run_t *run, const mixed_act_t *act)
{
    const unsigned ways = run->journal->options.ways;

    if (act->kind == ACT_PUT) {
        TRY((ways & MIXED_WINDOWS) ? more_put(&run->more, act) : KEEL_OK);
        return (ways & MIXED_PIECES) ? pieces_put(&run->pieces, run->state.step, act) : KEEL_OK;
    }
    if (act->kind == ACT_ADD) {
        return (ways & MIXED_TICKETS) ? raced_do(run->journal, run->raced, run->host->rank, run->state.step, act)
                                      : KEEL_OK;
    }
    return (ways & MIXED_PIECES) ? pieces_get(&run->pieces, run->state.step, act) : KEEL_OK;
}

static keel_status_t run_access(mixed_run_t *run, const mixed_act_t *act)
{
    const uint64_t slot = mixed_slot_at(run->host->rank);
    uint64_t value = act->value, found;

    if (act->kind == ACT_PUT && mixed_puts_again(&run->journal->options, run->host->rank, run->state.step, act)) {
        TRY(keel_fence(run->life.ctx));
    }
    TRY(run_besides(run, act));
    switch (act->kind) {
    case ACT_PUT:
        return mixed_is_tested(&run->journal->options, act) ? more_put_tested(&run->more, act->target, slot, value)
                                                            : run_put(run, act->target, slot, value);
    case ACT_ADD:
        if (mixed_is_device(&run->journal->options, act)) {
            return run_device(run, act);
        }
        if (mixed_is_called(&run->journal->options, act)) {
            return more_call(&run->more, act, offsetof(mixed_memory_t, total));
        }
        if (mixed_is_other(&run->journal->options, value)) {
            return run_add(run, act);
        }
        return keel_atomic(run->win, KEEL_ATOMIC_ADD, act->target, offsetof(mixed_memory_t, total), sizeof(value),
                           value, 0, act->fetches ? &found : NULL);
    default:
        return keel_get(run->win, act->target, offsetof(mixed_memory_t, slot), &found, sizeof(found));
    }
}

/* Adds to the count under the lock of the window. */
static keel_status_t run_window_section(mixed_run_t *run, const mixed_act_t *act)
{
    uint64_t count = 0;

    TRY(other_lock(run->win, act->target, KEEL_LOCK_EXCLUSIVE, act->value));
    TRY(keel_get(run->win, act->target, offsetof(mixed_memory_t, locked_count), &count, sizeof(count)));
    count += act->value;
    TRY(keel_put(run->win, act->target, offsetof(mixed_memory_t, locked_count), &count, sizeof(count)));
    return keel_win_unlock(run->win, act->target);
}

static keel_status_t run_section(mixed_run_t *run, const mixed_act_t *act)
{
    uint64_t count = 0;

    if (mixed_is_other(&run->journal->options, act->value)) {
        return run_window_section(run, act);
    }

    TRY(keel_lock(run->life.ctx, act->target));
    TRY(keel_get(run->win, act->target, offsetof(mixed_memory_t, count), &count, sizeof(count)));
    count += act->value;
    TRY(keel_put(run->win, act->target, offsetof(mixed_memory_t, count), &count, sizeof(count)));
    return keel_unlock(run->life.ctx, act->target);
}

/* True if the lock of the window is used instead of keel_lock() or keel_lock_all(). */
static int locks_window(const mixed_run_t *run, uint64_t value)
{
    return mixed_is_other(&run->journal->options, value) || (run->journal->options.ways & MIXED_KEPT);
}

/* Makes the same access in a reading epoch of its own, or with the target locked. */
static keel_status_t run_locked(mixed_run_t *run, const mixed_act_t *act, int is_shared)
{
    if (is_shared && locks_window(run, act->value + 1)) {
        TRY(other_lock(run->win, act->target, KEEL_LOCK_SHARED, act->value));
        TRY(run_access(run, act));
        return keel_win_unlock(run->win, act->target);
    }
    TRY(is_shared ? keel_lock_all(run->life.ctx) : keel_lock(run->life.ctx, act->target));
    TRY(run_access(run, act));
    TRY(act->fetches ? keel_flush(run->life.ctx, act->target) : KEEL_OK);
    return is_shared ? keel_unlock_all(run->life.ctx) : keel_unlock(run->life.ctx, act->target);
}

static keel_status_t run_act(mixed_run_t *run, const mixed_act_t *act, int is_epoch)
{
    const mixed_options_t *options = &run->journal->options;

    if (run->host->point != NULL) {
        run->host->point(run->host);
    }
    if (act->kind == ACT_SECTION) {
        return run_section(run, act);
    }
    if (act->kind == ACT_READING) {
        const mixed_act_t put = {.kind = ACT_PUT, .target = act->target, .value = act->value, .fetches = act->fetches};

        return run_locked(run, &put, 1);
    }
    if (is_epoch || mixed_is_bare(options, act) || !(options->ways & (MIXED_SECTIONS | MIXED_EPOCHS))) {
        return run_access(run, act);
    }
    return run_locked(run, act, !(options->ways & MIXED_SECTIONS));
}

static keel_status_t relay_put(mixed_run_t *run, const mixed_relay_t *relay, uint64_t step, unsigned i)
{
    TRY(relay->is_locked[i] ? keel_lock(run->life.ctx, relay->at) : KEEL_OK);
    TRY(run_put(run, relay->at, offsetof(mixed_memory_t, relay) + step * sizeof(relay->value[i]), relay->value[i]));
    TRY(keel_flush(run->life.ctx, relay->at));
    return relay->is_locked[i] ? keel_unlock(run->life.ctx, relay->at) : KEEL_OK;
}

static keel_status_t relay_signal(mixed_run_t *run, const mixed_relay_t *relay, uint64_t step)
{
    const uint64_t offset = offsetof(mixed_memory_t, token) + step * sizeof(step), said = step + 1;
    const int is_locked = relay->signal == SIGNAL_SECTION || relay->is_signal_locked;

    TRY(is_locked ? keel_lock(run->life.ctx, relay->rank[1]) : KEEL_OK);
    TRY(relay->signal == SIGNAL_ATOMIC
            ? keel_atomic(run->win, KEEL_ATOMIC_ADD, relay->rank[1], offset, sizeof(said), said, 0, NULL)
            : keel_put(run->win, relay->rank[1], offset, &said, sizeof(said)));
    TRY(keel_flush(run->life.ctx, relay->rank[1]));
    return is_locked ? keel_unlock(run->life.ctx, relay->rank[1]) : KEEL_OK;
}

/* the three ways to wait */
enum { WAIT_UNTIL, WAIT_ANY, WAIT_TEST, WAIT_WAYS };

static keel_status_t run_await(mixed_run_t *run, uint64_t offset, uint64_t said, unsigned way)
{
    keel_word_t words[] = {
        {.win = run->win, .offset = offsetof(mixed_memory_t, never), .size = 2, .compare = KEEL_COMPARE_NE},
        {.win = run->win, .offset = offset, .size = sizeof(said), .compare = KEEL_COMPARE_GE, .value = said}};
    keel_status_t status = KEEL_INPROGRESS;
    unsigned met = 1;

    if (way == WAIT_UNTIL || !(run->journal->options.ways & MIXED_TESTS)) {
        return keel_wait_until(run->win, offset, sizeof(said), KEEL_COMPARE_GE, said);
    }
    if (way == WAIT_ANY) {
        status = keel_wait(run->life.ctx, KEEL_WAIT_ANY, words, 2, &met);
    }
    while (status == KEEL_INPROGRESS) {
        status = keel_test(run->life.ctx, KEEL_WAIT_ALL, &words[1], 1, NULL);
    }
    return (status == KEEL_OK && (met != 1 || words[0].is_met || !words[1].is_met || words[1].seen < said))
               ? KEEL_ERR_CORRUPT
               : status;
}

static keel_status_t relay_await(mixed_run_t *run, const mixed_relay_t *relay, uint64_t step)
{
    const uint64_t offset = offsetof(mixed_memory_t, token) + step * sizeof(step), said = step + 1;
    const uint32_t own = run->host->rank;
    uint64_t token = 0;

    if (relay->signal == SIGNAL_WAIT) {
        return run_await(run, offset, said, (unsigned)(step % WAIT_WAYS));
    }
    while (token < said) {
        if (relay->signal == SIGNAL_ATOMIC && !relay->is_locked[1]) {
            TRY(keel_atomic(run->win, KEEL_ATOMIC_ADD, own, offset, sizeof(token), 0, 0, &token));
        } else {
            TRY(keel_lock(run->life.ctx, own));
            TRY(keel_get(run->win, own, offset, &token, sizeof(token)));
            TRY(keel_unlock(run->life.ctx, own));
        }
        TRY(keel_progress(run->life.ctx));
    }
    return KEEL_OK;
}

static keel_status_t run_relay(mixed_run_t *run, uint64_t step)
{
    const mixed_relay_t relay = mixed_step_relay(&run->journal->options, step);

    if (relay.is_due && run->host->rank == relay.rank[0]) {
        TRY(relay_put(run, &relay, step, 0));
        TRY(relay_signal(run, &relay, step));
    }
    if (relay.is_due && run->host->rank == relay.rank[1]) {
        TRY(relay_await(run, &relay, step));
        TRY(relay_put(run, &relay, step, 1));
    }
    return KEEL_OK;
}

/* True if @a rank sends its flag as the signal of a put: the note is put before the flag. */
static int has_note(const mixed_options_t *options, uint64_t step, uint32_t rank)
{
    return mixed_is_varied(options, options->seed ^ (step << 16) ^ rank);
}

/* Puts a note to the next rank, with a device's atomic as the signal. Waits until the signals of
 * the preceding rank equal the number of notes. */
static keel_status_t run_signalled_note(mixed_run_t *run, uint64_t step)
{
    const mixed_memory_t *memory = keel_win_base(run->win);
    const mixed_options_t *options = &run->journal->options;
    const uint32_t own = run->host->rank, before = (own + options->ranks - 1) % options->ranks;
    const uint64_t said = step + 1, at = offsetof(mixed_device_t, signals);
    const keel_signal_t signal = {
        .win = run->device, .offset = at + own * sizeof(said), .op = KEEL_SIGNAL_ADD, .value = 1};
    uint64_t notes = 0;

    for (uint64_t s = 0; s <= step; s++) {
        notes += (unsigned)mixed_step_kind(options, s).waits;
    }
    TRY(keel_put_signal(run->win, (own + 1) % options->ranks, offsetof(mixed_memory_t, note) + own * sizeof(said),
                        &said, sizeof(said), &signal));
    TRY(keel_wait_until(run->device, at + before * sizeof(said), sizeof(notes), KEEL_COMPARE_GE, notes));
    return (memory->note[before] >= said) ? KEEL_OK : KEEL_ERR_CORRUPT;
}

/* The note that @a source put here before its signal. */
static uint64_t run_note(const mixed_run_t *run, uint32_t source)
{
    uint64_t note;

    memcpy(&note, (const char *)keel_win_base(run->win) + mixed_note_at(source), sizeof(note));
    return note;
}

/* Waits for the flag of the preceding rank in own memory, or polls the flag. Some polls go on to
 * the preceding rank's memory, for the flag of its predecessor, and then check the note put before
 * that flag. */
static keel_status_t run_await_before(mixed_run_t *run, uint64_t step, uint32_t before)
{
    const mixed_options_t *options = &run->journal->options;
    const uint32_t own = run->host->rank, first = (before + options->ranks - 1) % options->ranks;
    const uint64_t said = step + 1, draw = keel_random_mix(options->seed ^ (step << 16) ^ own ^ 0x706f6c6c);
    uint64_t note = said;

    if (!(options->ways & MIXED_POLLS) || draw % 3 == 0) {
        return run_await(run, mixed_flag_at(before), said, (unsigned)((step + own) % WAIT_WAYS));
    }
    TRY(more_poll(&run->more, own, mixed_flag_at(before), said));
    if (draw % 3 == 1) {
        return KEEL_OK;
    }
    TRY(more_poll(&run->more, before, mixed_flag_at(first), said));
    if (has_note(options, step, first)) {
        TRY(keel_get(run->win, before, mixed_note_at(first), &note, sizeof(note)));
    }
    return (note >= said) ? KEEL_OK : KEEL_ERR_CORRUPT;
}

static keel_status_t run_wait(mixed_run_t *run, uint64_t step)
{
    const uint32_t own = run->host->rank, ranks = run->journal->options.ranks;
    const uint32_t before = (own + ranks - 1) % ranks, next = (own + 1) % ranks;
    const uint64_t said = step + 1;

    if (run->journal->options.ways & MIXED_DEVICE) {
        TRY(run_signalled_note(run, step));
    }
    if (has_note(&run->journal->options, step, own)) {
        const keel_signal_t flag = {.offset = mixed_flag_at(own), .value = said};

        TRY(keel_put_signal(run->win, next, mixed_note_at(own), &said, sizeof(said), &flag));
    } else {
        TRY(keel_put(run->win, next, mixed_flag_at(own), &said, sizeof(said)));
    }
    TRY(run_await_before(run, step, before));
    return (!has_note(&run->journal->options, step, before) || run_note(run, before) >= said) ? KEEL_OK
                                                                                              : KEEL_ERR_CORRUPT;
}

/* Some ranks of an epoch lock the window at every rank, instead of all memory. */
static int locks_windows(const mixed_run_t *run, uint64_t step)
{
    return locks_window(run, run->journal->options.seed ^ (step << 20) ^ run->host->rank);
}

static int locks_at_once(const mixed_run_t *run)
{
    return (run->journal->options.seed + run->host->rank) % 2 == 0;
}

static keel_status_t run_epoch_lock(mixed_run_t *run)
{
    if (!locks_windows(run, run->state.step)) {
        return keel_lock_all(run->life.ctx);
    }
    if (locks_at_once(run)) {
        return keel_win_lock_all(run->win);
    }
    for (uint32_t r = 0; r < run->journal->options.ranks; r++) {
        TRY(keel_win_lock(run->win, r, KEEL_LOCK_SHARED));
    }
    return KEEL_OK;
}

static keel_status_t run_epoch_unlock(mixed_run_t *run, uint64_t step)
{
    if (!locks_windows(run, step)) {
        return keel_unlock_all(run->life.ctx);
    }
    if (locks_at_once(run)) {
        return keel_win_unlock_all(run->win);
    }
    for (uint32_t r = 0; r < run->journal->options.ranks; r++) {
        TRY(keel_win_unlock(run->win, r));
    }
    return KEEL_OK;
}

/* A rank in the epoch would exclude other ranks from locks that they still need, so all ranks
 * arrive at a gsync first. An image may be taken inside the epoch. */
static keel_status_t run_epoch_half(mixed_run_t *run, const mixed_kind_t *kind)
{
    TRY(keel_gsync(run->life.ctx, 0));
    TRY(run_epoch_lock(run));
    for (unsigned i = 0; i < run->count / 2; i++) {
        TRY(run_act(run, &run->acts[i], 1));
    }
    TRY(keel_flush_all(run->life.ctx));
    run->state.is_half = 1;
    return keel_gsync(run->life.ctx, kind->is_safe ? KEEL_GSYNC_SAFE : 0);
}

/* Collective operations of some ranks, the same in all steps, after each rank's own accesses. */
static keel_status_t run_together(mixed_run_t *run, uint64_t step)
{
    const mixed_options_t *options = &run->journal->options;
    const uint64_t seed = keel_random_mix(options->seed ^ (step << 24));
    const uint32_t ranks = (options->ranks < MIXED_RANKS_NEAR) ? options->ranks : MIXED_RANKS_NEAR;

    if (!mixed_is_varied(options, seed) || !(options->ways & MIXED_WAITS) || options->is_divided ||
        run->host->rank >= ranks) {
        return KEEL_OK;
    }
    return together(run->win, offsetof(mixed_memory_t, group), run->host->rank, ranks, options->seed >> 8, seed);
}

static keel_status_t run_step(mixed_run_t *run, uint64_t step)
{
    const mixed_kind_t kind = mixed_step_kind(&run->journal->options, step);
    const unsigned gsync = kind.is_safe ? KEEL_GSYNC_SAFE : 0;

    run->count = mixed_step_acts(&run->journal->options, step, run->host->rank, run->acts);
    if (kind.is_epoch && !run->state.is_half) {
        TRY(run_epoch_half(run, &kind));
    }
    for (unsigned i = kind.is_epoch ? run->count / 2 : 0; i < run->count; i++) {
        TRY(run_act(run, &run->acts[i], kind.is_epoch));
    }
    TRY(run_relay(run, step));
    TRY(kind.waits ? run_wait(run, step) : KEEL_OK);
    TRY(run_together(run, step));
    TRY((run->journal->options.ways & MIXED_ROUNDS) ? rounds_step(&run->rounds, &run->journal->options, step)
                                                    : KEEL_OK);
    TRY(kind.is_epoch ? run_epoch_unlock(run, step) : KEEL_OK);
    run->state = (mixed_state_t){.step = step + 1};
    TRY(more_say_extents(&run->more, step));
    TRY((run->journal->options.ways & MIXED_PIECES) ? pieces_say_extents(&run->pieces, step) : KEEL_OK);
    if (kind.ends_with_checkpoint) {
        return keel_checkpoint(run->life.ctx);
    }
    return kind.ends_with_gsync ? keel_gsync(run->life.ctx, gsync) : KEEL_OK;
}

static size_t memory_bytes(const mixed_options_t *options)
{
    return (options->ranks > MIXED_RANKS_NEAR) ? sizeof(mixed_memory_t) : offsetof(mixed_memory_t, far);
}

static keel_status_t run_steps(void *arg)
{
    mixed_run_t *run = arg;
    const mixed_options_t *options = &run->journal->options;

    TRY(more_check(&run->more));
    while (run->state.step < options->steps) {
        const uint64_t step = run->state.step;

        run->host->at(run->host, (uint32_t)step);
        if (run->host->asks != NULL && run->host->asks(run->host, (uint32_t)step)) {
            return keel_rollback(run->life.ctx);
        }
        TRY(run_step(run, step));
    }
    if (options->ways & MIXED_GSYNCS) {
        TRY(keel_gsync(run->life.ctx, 0));
    } else if (run->state.step == options->steps) {
        run->state.step++; /* an image of that checkpoint continues after this step */
        TRY(keel_checkpoint(run->life.ctx));
    }
    TRY(more_check(&run->more));
    memcpy(&run->journal->end[run->host->rank], keel_win_base(run->win), memory_bytes(options));
    more_end(&run->more, &run->journal->further[run->host->rank]);
    if (options->ways & MIXED_TICKETS) {
        run->journal->raced[run->host->rank] = *(const mixed_raced_t *)keel_win_base(run->raced);
    }
    if (options->ways & MIXED_DEVICE) {
        run->journal->end[run->host->rank].device = ((const mixed_device_t *)keel_win_base(run->device))->total;
    }
    TRY((options->ways & MIXED_ROUNDS) ? rounds_judge(&run->rounds, options) : KEEL_OK);
    return (options->ways & MIXED_PIECES) ? pieces_judge(&run->pieces) : KEEL_OK;
}

/* Allocates the window from Keel. In programs with unlogged accesses, two ranks of three use the
 * program's own memory instead, aligned to pages or not. */
static keel_status_t run_window(mixed_run_t *run)
{
    const uint32_t kind = run->host->rank % 3;
    const size_t memory_size = memory_bytes(&run->journal->options);
    const size_t bytes = (memory_size + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
    char *memory;

    if (run->host->given == NULL || !(run->journal->options.ways & MIXED_UNLOGGED) || kind == 2) {
        return keel_win_alloc(run->life.ctx, memory_size, NULL, &run->win);
    }
    memory = run->host->given(bytes + PAGE_BYTES);
    return keel_win_create(run->life.ctx, memory + 64 * kind, bytes, NULL, &run->win);
}

static keel_status_t run_open(void *arg)
{
    mixed_run_t *run = arg;

    const keel_win_params_t device = {.field_mask = KEEL_WIN_PARAM_FIELD_ATOMICS,
                                      .atomics =
                                          (run->host->rank % 4 != 3) ? KEEL_WIN_ATOMICS_DEVICE : KEEL_WIN_ATOMICS_ANY};
    const unsigned ways = run->journal->options.ways;

    TRY(run_window(run));
    if (ways & MIXED_DEVICE) {
        TRY(keel_win_alloc(run->life.ctx, sizeof(mixed_device_t), &device, &run->device));
    }
    run->more = (mixed_more_t){.host = run->host, .options = &run->journal->options, .win = run->win};
    TRY(more_open(&run->more));
    TRY((ways & MIXED_ROUNDS) ? rounds_open(&run->rounds, run->host, &run->journal->options, ID_GATHER) : KEEL_OK);
    TRY((ways & MIXED_PIECES) ? pieces_open(&run->pieces) : KEEL_OK);
    if (ways & MIXED_TICKETS) {
        TRY(keel_win_alloc(run->life.ctx, sizeof(mixed_raced_t), NULL, &run->raced));
    }
    return keel_protect(run->life.ctx, ID_STATE, &run->state, sizeof(run->state));
}

keel_status_t mixed_program(play_host_t *host)
{
    mixed_run_t run = {.host = host, .journal = host->mixed};
    const int has_pieces = (run.journal->options.ways & MIXED_PIECES) != 0;
    keel_status_t status;

    run.pieces = (mixed_pieces_t){.host = host, .options = &run.journal->options};
    if (has_pieces) {
        pieces_begin(&run.pieces);
    }
    run.life = (life_t){.host = host,
                        .steps = run.journal->options.steps,
                        .step = &run.state.step,
                        .open = run_open,
                        .run = run_steps,
                        .arg = &run};
    status = life_run(&run.life);
    if (has_pieces) {
        pieces_finish(&run.pieces);
    }
    return status;
}
