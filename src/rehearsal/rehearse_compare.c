/*
 * Compares a step of a rehearsal with the same step of an earlier process of the rank and reports
 * the differences.
 */
#include "rehearsal/rehearse_compare.h"
#include "engine/context.h"
#include "rehearsal/rehearse.h"

#define REPORTED_MAX 4u /* count of differences reported one by one */

static void report_difference(keel_context_h ctx, const keel_rehearse_line_t *was, const keel_rehearse_line_t *is)
{
    static const keel_rehearse_line_t none;
    const keel_rehearse_line_t *any = (is != NULL) ? is : was;

    was = (was != NULL) ? was : &none;
    is = (is != NULL) ? is : &none;
    switch (any->kind) {
    case KEEL_REHEARSE_PUTS:
        keel_error_ctx(
            ctx,
            "rehearsal: rank %u, phase %u: what it put to rank %u differs: %lu record%s, %lu bytes, crc %08x; "
            "before its death %lu record%s, %lu bytes, crc %08x",
            ctx->lane.rank, any->phase, any->id, is->amount, (is->amount == 1) ? "" : "s", is->bytes, is->crc,
            was->amount, (was->amount == 1) ? "" : "s", was->bytes, was->crc);
        break;
    case KEEL_REHEARSE_PROTECTED:
        keel_error_ctx(ctx, "rehearsal: rank %u, phase %u: at its end protected region %u (%lu bytes) differs",
                       ctx->lane.rank, any->phase, any->id, any->bytes);
        break;
    default:
        keel_error_ctx(ctx, "rehearsal: rank %u, phase %u: at its end window %u (%lu bytes) differs", ctx->lane.rank,
                       any->phase, any->id, any->bytes);
        break;
    }
}

static const keel_rehearse_line_t *line_find(const keel_rehearse_line_t *from, size_t count,
                                             const keel_rehearse_line_t *line, char kind)
{
    for (size_t i = 0; i < count; i++) {
        if (from[i].kind == kind && from[i].id == line->id) {
            return &from[i];
        }
    }
    return NULL;
}

static int lines_are_same(const keel_rehearse_line_t *a, const keel_rehearse_line_t *b)
{
    return a->amount == b->amount && a->bytes == b->bytes && a->crc == b->crc;
}

/*
 * Counts the lines of @a mine that differ from @a other. With @a is_back only lines that @a other
 * lacks count.
 */
static unsigned lines_compare(keel_context_h ctx, const keel_rehearse_line_t *mine, size_t mine_count,
                              const keel_rehearse_line_t *other, size_t other_count, int is_back)
{
    unsigned differences = 0;

    for (size_t i = 0; i < mine_count; i++) {
        const keel_rehearse_line_t *line = &mine[i];
        const size_t at = (i < other_count) ? i : 0; /* mostly at the same place */
        const keel_rehearse_line_t *found = line_find(other + at, other_count - at, line, line->kind);

        found = (found != NULL) ? found : line_find(other, other_count, line, line->kind);
        if (line->kind == KEEL_REHEARSE_LOST || line_find(other, other_count, line, KEEL_REHEARSE_LOST) != NULL ||
            (found != NULL && (is_back || lines_are_same(found, line)))) {
            continue;
        }
        if (differences++ < REPORTED_MAX) {
            report_difference(ctx, is_back ? line : found, is_back ? NULL : line);
        }
    }
    return differences;
}

void keel_rehearse_print_hint(keel_context_h ctx, uint32_t phase)
{
    static const char *const others =
        "the clock, pids, addresses, random numbers, own memory that is read by loads while "
        "others put to it, atomics that ranks race for (KEEL_PARAM_FLAG_NONDETERMINISTIC is "
        "for programs that cannot do without)";

    if (phase == ctx->rec.restarted_at && phase > 0) {
        keel_error_ctx(ctx,
                       "rehearsal: it was restored at gsync %u, where that phase begins: look for memory that is not "
                       "protected, for a step counted after the safe gsync, for calls behind the safe gsync in the "
                       "body of a loop whose step was counted before it, then for %s",
                       phase, others);
    } else {
        keel_error_ctx(ctx,
                       "rehearsal: what it did from gsync %u on, where it was restored, was the same: look for memory "
                       "that is not protected and is first used in this phase, then for %s",
                       ctx->rec.restarted_at, others);
    }
}

/*
 * Index of the mark that ends the step, in @a before. Only a step after the same rollbacks matches:
 * a rollback may change the computation.
 */
static size_t step_find(keel_context_h ctx, const keel_rehearse_lines_t *before, char kind, uint32_t phase)
{
    size_t end = 0;

    while (end < before->count && (before->all[end].kind != kind || before->all[end].phase != phase ||
                                   before->all[end].rollback != ctx->lane.rollback)) {
        end++;
    }
    return end;
}

int keel_rehearse_is_same(keel_context_h ctx, const keel_rehearse_lines_t *before, const keel_rehearse_lines_t *step,
                          char kind, uint32_t phase, int *is_known_p)
{
    const size_t end = step_find(ctx, before, kind, phase);
    const keel_rehearse_line_t *was;
    unsigned differences;
    size_t count;

    *is_known_p = end < before->count;
    if (!*is_known_p) {
        return 1;
    }
    count = end - keel_rehearse_step(before, end);
    was = &before->all[end - count];
    differences = lines_compare(ctx, step->all, step->count, was, count, 0);
    differences += lines_compare(ctx, was, count, step->all, step->count, 1);
    if (differences > REPORTED_MAX) {
        keel_error_ctx(ctx, "rehearsal: and %u more in that phase", differences - REPORTED_MAX);
    }
    return differences == 0;
}
