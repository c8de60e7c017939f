/* Sums, comparisons and kills of a rehearsal (rehearse.h). */
#include "rehearsal/rehearse.h"

#include "base/crc.h"
#include "base/memory.h"
#include "engine/context.h"
#include "window/image_parts.h"
#include "rehearsal/rehearse_compare.h"
#include "epoch/gsync.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PHASES_MIN 2u /* phases that a replacement re-executes at least */
/* distance from the image in use at which a new image is ordered */
#define PHASES_MAX            4u
#define PHASES_MIN_FROM_START 8u /* phases re-executed from the start, if no image was made */

struct keel_rehearse {
    int fd;
    keel_rehearse_lines_t before; /* lines of earlier processes of this rank */
    keel_rehearse_lines_t step;   /* lines of the current step */
    uint64_t differences;         /* count of differing gets already reported */
    int is_failed;
};

void keel_rehearse_close(keel_context_h ctx)
{
    keel_rehearse_t *rehearse = ctx->rehearse;

    if (rehearse == NULL) {
        return;
    }
    if (rehearse->fd >= 0) {
        close(rehearse->fd);
    }
    keel_free(rehearse->before.all);
    keel_free(rehearse->step.all);
    keel_free(rehearse);
    ctx->rehearse = NULL;
    ctx->rehearsal = NULL;
}

/* ---- writing ---- */

static keel_rehearse_line_t line_of(const keel_context_h ctx, keel_rehearse_kind_t kind, uint32_t phase, uint32_t id)
{
    return (keel_rehearse_line_t){.kind = (char)kind,
                                  .incarnation = ctx->lane.incarnation,
                                  .rollback = ctx->lane.rollback,
                                  .phase = phase,
                                  .id = id};
}

static void step_add(keel_context_h ctx, const keel_rehearse_line_t *line)
{
    ctx->rehearse->is_failed |= !keel_rehearse_add(&ctx->rehearse->step, line);
}

static void step_mark(keel_context_h ctx, keel_rehearse_kind_t kind, uint32_t phase)
{
    const keel_rehearse_line_t line = line_of(ctx, kind, phase, 0);

    step_add(ctx, &line);
}

static void step_write(keel_context_h ctx)
{
    keel_rehearse_t *rehearse = ctx->rehearse;

    if (!keel_rehearse_write(rehearse->fd, &rehearse->step) && !rehearse->is_failed) {
        keel_error_ctx(ctx, "KEEL_REHEARSE: nothing more can be written: %s", strerror(errno));
        rehearse->is_failed = 1;
    }
    rehearse->step.count = 0;
}

/* ---- comparing ---- */

static void rehearse_fail(keel_context_h ctx, uint32_t phase)
{
    keel_rehearse_print_hint(ctx, phase);
    ctx->rehearse->step.count = 0;
    step_mark(ctx, KEEL_REHEARSE_DIFFERENT, phase);
    step_write(ctx);
    ctx->runtime->ops->abort(ctx->runtime, EXIT_FAILURE, "a rehearsal found that its re-execution differs");
}

static void step_compare(keel_context_h ctx, keel_rehearse_kind_t kind, uint32_t phase)
{
    keel_rehearse_t *rehearse = ctx->rehearse;
    int is_known;

    if (!keel_rehearse_is_same(ctx, &rehearse->before, &rehearse->step, (char)kind, phase, &is_known)) {
        rehearse_fail(ctx, phase);
    } else if (is_known && kind == KEEL_REHEARSE_ARRIVED) {
        step_mark(ctx, KEEL_REHEARSE_SAME, phase);
    }
}

/* ---- summing ---- */

/*
 * Adds the record's data to the sum. An atomic adds its operand, not the value found, which may
 * legitimately differ in a re-execution.
 */
static uint32_t sum_data(uint32_t crc, const keel_record_t *record)
{
    uint64_t sum;

    if (!keel_where_is_atomic(record->where)) {
        return keel_crc(crc, record + 1, record->length);
    }
    sum = keel_digest_atomic(0, record, record + 1);
    return keel_crc(crc, &sum, sizeof(sum));
}

static keel_status_t sum_records(void *arg, const keel_record_t *records, size_t length)
{
    keel_rehearse_line_t *line = arg;
    keel_records_t run = keel_records_of(records, length);
    const keel_record_t *record;

    while ((record = keel_records_next(&run)) != NULL) {
        /* other records are no accesses of the program */
        if (keel_where_op(record->where) == KEEL_RECORD_PUT || keel_where_has_parts(record->where) ||
            keel_where_is_atomic(record->where)) {
            line->amount++;
            line->bytes += record->length;
            line->crc = keel_crc(line->crc, &record->where, sizeof(record->where));
            line->crc = keel_crc(line->crc, &record->length, sizeof(record->length));
            line->crc = sum_data(line->crc, record);
        }
    }
    return KEEL_OK;
}

static void sum_puts(keel_context_h ctx, uint32_t phase)
{
    for (uint32_t r = 0; r < ctx->lane.programs; r++) {
        const keel_put_target_t *target = &ctx->puts.targets[r];
        const int is_lost = target->is_off || target->lost == phase + 1;
        keel_rehearse_line_t line = line_of(ctx, is_lost ? KEEL_REHEARSE_LOST : KEEL_REHEARSE_PUTS, phase, r);
        uint64_t count = 0;

        if (r == ctx->lane.rank) {
            continue; /* covered by the sums of its own windows */
        }
        if (!is_lost) {
            (void)keel_put_log_for_phase(&ctx->puts, r, phase, SIZE_MAX, sum_records, &line, &count);
        }
        if (is_lost || line.amount > 0) {
            step_add(ctx, &line);
        }
    }
}

static void sum_memory(keel_context_h ctx, uint32_t phase, keel_part_kind_t part, keel_rehearse_kind_t kind)
{
    keel_part_t *parts;
    const unsigned count = keel_context_parts(ctx, &parts);

    for (unsigned i = 0; i < count; i++) {
        const uint32_t id = parts[i].id - ((part == KEEL_PART_WINDOW) ? KEEL_REGION_WINDOW0 : 0);
        keel_rehearse_line_t line = line_of(ctx, kind, phase, id);

        if (parts[i].kind != part || parts[i].length == 0) {
            continue;
        }
        line.bytes = parts[i].length;
        line.crc = keel_crc(0, parts[i].base, parts[i].length);
        /* adds the other extents of the window */
        while (i + 1 < count && parts[i + 1].kind == part && parts[i + 1].id == parts[i].id) {
            i++;
            line.bytes += parts[i].length;
            line.crc = keel_crc(line.crc, parts[i].base, parts[i].length);
        }
        step_add(ctx, &line);
    }
}

static void rehearse_arrive(keel_context_h ctx)
{
    const uint32_t phase = ctx->rec.phase;

    if (ctx->rehearse == NULL || ctx->lane.rank >= ctx->lane.programs) {
        return;
    }
    sum_puts(ctx, phase);
    sum_memory(ctx, phase, KEEL_PART_PROTECTED, KEEL_REHEARSE_PROTECTED);
    step_compare(ctx, KEEL_REHEARSE_ARRIVED, phase);
    step_mark(ctx, KEEL_REHEARSE_ARRIVED, phase);
    step_write(ctx);
}

static void rehearse_leave(keel_context_h ctx, uint32_t number, int was_front)
{
    const int is_still = was_front || keel_recovery_state(&ctx->rec) == KEEL_RANK_RECOVERING;

    if (ctx->rehearse == NULL || !is_still || ctx->lane.rank >= ctx->lane.programs) {
        return;
    }
    sum_memory(ctx, number - 1, KEEL_PART_WINDOW, KEEL_REHEARSE_WINDOW);
    step_compare(ctx, KEEL_REHEARSE_LEFT, number - 1);
    step_mark(ctx, KEEL_REHEARSE_LEFT, number - 1);
    step_write(ctx);
}

/* ---- choosing the victim ---- */

/* The first rank that has not died; the number of ranks if each has. */
static uint32_t next_victim(const keel_context_h ctx)
{
    uint32_t rank = 0;

    while (rank < ctx->lane.programs && keel_rank_incarnation(ctx, rank) > 0) {
        rank++;
    }
    return rank;
}

static int rehearse_is_pending(const keel_context_h ctx)
{
    return ctx->rehearse != NULL && next_victim(ctx) < ctx->lane.programs;
}

static int rehearse_wants_image(const keel_context_h ctx)
{
    const uint32_t used = ctx->ckpt.set.used.number;

    return ctx->ckpt.set.parity != NULL && (used == 0 || ctx->rec.phase + 1 >= used + PHASES_MAX);
}

static int is_next_victim(const keel_context_h ctx, uint32_t number, unsigned is_explicit)
{
    const uint32_t used = ctx->ckpt.set.used.number;
    const uint32_t least = (used > 0 || ctx->ckpt.set.parity == NULL) ? PHASES_MIN : PHASES_MIN_FROM_START;

    return ctx->lane.rank < ctx->lane.programs && next_victim(ctx) == ctx->lane.rank && number >= used + least &&
           (ctx->ckpt.set.making.number == 0 || is_explicit);
}

/*
 * Waits until all members have the parity and images that this rank holds for them, so the next
 * death finds complete parity.
 */
static keel_status_t await_parity(keel_context_h ctx)
{
    const keel_image_set_t *set = &ctx->ckpt.set;
    keel_status_t status = KEEL_OK;
    unsigned rounds = 0;

    while (status == KEEL_OK && !keel_recovery_is_finished(&ctx->rec) &&
           (keel_image_set_is_rearming(set) || keel_image_set_is_rearming(&ctx->demand.set) ||
            keel_image_set_is_making(set))) {
        status = keel_context_wait(ctx, &rounds);
    }
    return status;
}

static keel_status_t rehearse_end(keel_context_h ctx, uint32_t number, unsigned flags)
{
    keel_status_t status;

    if ((flags & KEEL_GSYNC_FINAL) || keel_recovery_is_finished(&ctx->rec)) {
        return KEEL_OK;
    }
    status = await_parity(ctx);
    if (status == KEEL_OK) {
        status = keel_gsync_second(ctx, number);
    }
    if (status == KEEL_OK && ctx->rec.front < number && is_next_victim(ctx, number, flags & KEEL_GSYNC_EXPLICIT)) {
        keel_info(&ctx->message, "rehearsal: rank %u is killed after gsync %u", ctx->lane.rank, number);
        step_mark(ctx, KEEL_REHEARSE_KILLED, number);
        step_write(ctx);
        ctx->runtime->ops->die(ctx->runtime);
    }
    return status;
}

static void rehearse_rolled_back(keel_context_h ctx)
{
    keel_rehearse_t *rehearse = ctx->rehearse;

    if (rehearse == NULL || ctx->rec.differences == rehearse->differences) {
        return;
    }
    rehearse->differences = ctx->rec.differences;
    keel_error_ctx(ctx, "rehearsal: rank %u, phase %u: what it read is not what its predecessor had", ctx->lane.rank,
                   ctx->rec.phase);
    rehearse_fail(ctx, ctx->rec.phase);
}

static const keel_rehearsal_ops_t rehearsal_ops = {.orders = rehearse_is_pending,
                                                   .wants_image = rehearse_wants_image,
                                                   .arrive = rehearse_arrive,
                                                   .leave = rehearse_leave,
                                                   .end = rehearse_end};

keel_status_t keel_rehearse_open(keel_context_h ctx)
{
    const char *directory = ctx->config.rehearse;
    keel_rehearse_t *rehearse;
    char path[4096];
    int is_read;

    if (directory == NULL) {
        return KEEL_OK;
    }
    if (ctx->config.protect == KEEL_PROTECT_NONE) {
        keel_error_ctx(ctx, "KEEL_REHEARSE with KEEL_PROTECT=none: nobody can be replaced");
        return KEEL_ERR_INVALID_PARAM;
    }
    if (ctx->lane.programs < 2) {
        keel_error_ctx(ctx, "KEEL_REHEARSE needs two ranks: of one nothing is left when it is killed");
        return KEEL_ERR_INVALID_PARAM;
    }
    if (ctx->runtime->ops->die == NULL) {
        keel_error_ctx(ctx, "KEEL_REHEARSE: under this launcher nobody can be killed");
        return KEEL_ERR_UNSUPPORTED;
    }
    rehearse = keel_alloc(sizeof(*rehearse), "rehearsal");
    if (rehearse == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    snprintf(path, sizeof(path), "%s/rank.%u", directory, ctx->lane.rank);
    rehearse->fd = open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    is_read = rehearse->fd >= 0 && keel_rehearse_read(rehearse->fd, ctx->lane.incarnation, &rehearse->before);
    ctx->rehearse = rehearse;
    ctx->rehearsal = &rehearsal_ops;
    keel_hooks_add(ctx, KEEL_HOOK_ROLLED_BACK, rehearse_rolled_back);
    if (!is_read) {
        keel_error_ctx(ctx, "KEEL_REHEARSE: '%s' cannot be used: %s", path, strerror(errno));
        keel_rehearse_close(ctx);
        return KEEL_ERR_INVALID_PARAM;
    }
    if (ctx->lane.rank >= ctx->lane.programs) {
        step_mark(ctx, KEEL_REHEARSE_CHECKSUM, 0);
        step_write(ctx);
    }
    return KEEL_OK;
}
