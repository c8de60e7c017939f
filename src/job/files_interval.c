/* Choice of the checkpoints that go to files. */
#include "job/files_interval.h"

#include "engine/context.h"
#include "job/files.h"

#include "ckpt/interval.h"
#include "ckpt/two_level.h"

#include <math.h>

uint32_t keel_files_interval_checkpoints(const keel_context_h ctx)
{
    const keel_file_interval_t *given = &ctx->config.file_interval;
    const uint32_t every = ctx->files->interval.every;

    return given->is_auto ? every + (every == 0) : given->checkpoints;
}

void keel_files_interval_passed(keel_context_h ctx)
{
    keel_files_interval_t *interval = &ctx->files->interval;

    interval->newest_ns = ctx->runtime->ops->now_ns(ctx->runtime);
    if (interval->first_ns == 0) {
        interval->first_ns = interval->newest_ns;
    } else {
        interval->passed++;
    }
}

/* Seconds from a checkpoint to the next: the measured or the configured time, the longer of both.
 * 0: not known yet. */
static double checkpoint_interval(const keel_context_h ctx)
{
    const keel_files_interval_t *interval = &ctx->files->interval;
    const keel_interval_t *given = &ctx->ckpt.interval;
    double least_s = 0;

    if (given->mode == KEEL_INTERVAL_DALY) {
        least_s = keel_interval_daly_s(given->cost_s, given->mtbf_s);
    } else if (given->mode == KEEL_INTERVAL_TIME) {
        least_s = given->value;
    }
    return (interval->passed > 0)
               ? fmax(least_s, (double)(interval->newest_ns - interval->first_ns) * 1e-9 / (double)interval->passed)
               : least_s;
}

/* The precision of the message: the number of checkpoints follows from the printed inputs. */
static double microseconds(double seconds)
{
    return fmax(round(seconds * 1e6), 1) / 1e6;
}

void keel_files_interval_measured(keel_context_h ctx, double set_s)
{
    keel_files_interval_t *interval = &ctx->files->interval;
    const double interval_s = microseconds(checkpoint_interval(ctx));
    const keel_two_level_t params = {.covered_mtbf_s = ctx->config.mtbf_s,
                                     .beyond_mtbf_s = ctx->config.file_mtbf_s,
                                     .cost_s = microseconds(ctx->ckpt.interval.cost_s),
                                     .set_time_s = microseconds(set_s),
                                     .set_cost_s = microseconds(interval->writer_s)};
    uint32_t every;

    if (!ctx->config.file_interval.is_auto || checkpoint_interval(ctx) == 0 || ctx->ckpt.interval.cost_s == 0) {
        return;
    }
    every = keel_two_level_checkpoints(&params, interval_s);
    if (every != interval->every) {
        keel_info(&ctx->message,
                  "KEEL_FILE_INTERVAL=auto: one of %u checkpoints goes to files: a checkpoint costs %.6f s and comes "
                  "after %.6f s, its files take %.6f s and %.6f s of a processor, KEEL_MTBF is %.9gs, KEEL_FILE_MTBF "
                  "%.9gs",
                  every, params.cost_s, interval_s, params.set_time_s, params.set_cost_s, params.covered_mtbf_s,
                  params.beyond_mtbf_s);
    }
    interval->every = every;
}
