/*
 * Small programs for typical uses of one-sided communication, each with a result verified under
 * deaths:
 *
 *   updates   random words of all ranks are changed by xor, like GUPS, between gsyncs
 *   halo      a line of cells: neighbours put their borders with signals, and wait for them
 *   stealing  each rank draws its tasks from its own counter by fetch and add, then from those of
 *   other ranks, until none is left
 */
#include "patterns.h"

#include "../lib/kernel_options.h"
#include "../lib/kernel_outcome.h"

#include <stdio.h>
#include <string.h>

#define PROGRAM "patterns"

typedef struct {
    kernel_common_t common;
    const pattern_t *pattern;
    patterns_t run;
} job_t;

static const char help[] =
    "usage: patterns [options]     under a launcher, on 2 to 64 ranks\n"
    "  -p, --pattern NAME        updates, halo or stealing (updates)\n"
    "  -n, --steps N             (200)\n"
    "      --ckpt-every K        explicit checkpoint every K steps (none)\n"
    "  -v, --verbose             ignored\n"
    "      --json, --csv         the last line for scripts\n"
    "      --die RANK@STEP.PHASE that rank kills itself in its first life: before (0) that step\n"
    "  -h, --help                this text\n"
    "exit status 0: the result is right, 1: it is not, 2: usage, 3: an error of Keel's\n";

static int parse_pattern(const char *text, void *value)
{
    for (const pattern_t *pattern = patterns; pattern->name != NULL; pattern++) {
        if (strcmp(pattern->name, text) == 0) {
            *(const pattern_t **)value = pattern;
            return 0;
        }
    }
    return -1;
}

static keel_status_t run_steps(job_t *job)
{
    patterns_t *run = &job->run;

    if (keel_restarted(run->ctx)) {
        KERNEL_TRY(keel_restore(run->ctx));
    }
    while (run->step < run->steps) {
        kernel_die_here(&job->common.death, run->ctx, run->step, 0);
        KERNEL_TRY(job->pattern->step(run));
        run->step++;
        if (job->common.ckpt_every != 0 && run->step % job->common.ckpt_every == 0) {
            KERNEL_TRY(keel_checkpoint(run->ctx));
        } else {
            KERNEL_TRY(keel_gsync(run->ctx, KEEL_GSYNC_SAFE));
        }
    }
    return KEEL_OK;
}

/* Sums the flaws of all ranks, put only after the last step. */
static keel_status_t run_all(job_t *job, uint64_t *flaws_p)
{
    patterns_t *run = &job->run;
    uint64_t flaws;

    KERNEL_TRY(run_steps(job));
    flaws = job->pattern->flaws(run);
    KERNEL_TRY(
        keel_put(run->win, 0, run->own_bytes - (keel_rank(run->ctx) + 1) * sizeof(flaws), &flaws, sizeof(flaws)));
    KERNEL_TRY(keel_gsync(run->ctx, 0));
    *flaws_p = flaws;
    for (uint32_t r = 0; keel_rank(run->ctx) == 0 && r < keel_size(run->ctx); r++) {
        memcpy(&flaws, (char *)keel_win_base(run->win) + run->own_bytes - (r + 1) * sizeof(flaws), sizeof(flaws));
        *flaws_p += flaws;
    }
    return KEEL_OK;
}

static keel_status_t open_memory(job_t *job)
{
    patterns_t *run = &job->run;

    run->rank = keel_rank(run->ctx);
    run->ranks = keel_size(run->ctx);
    run->own_bytes = job->pattern->bytes(run) + PATTERNS_RANKS_MAX * sizeof(uint64_t);
    KERNEL_TRY(keel_win_alloc(run->ctx, run->own_bytes, NULL, &run->win));
    KERNEL_TRY(keel_protect(run->ctx, 0, &run->step, sizeof(run->step)));
    KERNEL_TRY(keel_protect(run->ctx, 1, &run->started, sizeof(run->started)));
    return keel_protect(run->ctx, 2, &run->done, sizeof(run->done));
}

int main(int argc, char **argv)
{
    static job_t job = {.pattern = patterns, .run = {.steps = 200}};
    const kernel_option_t own[] = {{.name = "steps", .letter = 'n', .number_p = &job.run.steps, .min = 1},
                                   {.name = "pattern", .letter = 'p', .parse = parse_pattern, .value = &job.pattern}};
    kernel_outcome_t outcome = {.kernel = PROGRAM, .is_verified = 1, .hash = KERNEL_HASH_START};
    int exit_status = kernel_options_parse(PROGRAM, help, argc, argv, own, 2, &job.common);
    keel_params_t params = {.field_mask = KEEL_PARAM_FIELD_FLAGS};
    uint64_t flaws = 0;
    keel_status_t status;

    if (exit_status >= 0) {
        return exit_status;
    }
    params.flags = job.pattern->flags;
    status = keel_init(&params, &job.run.ctx);
    if (status != KEEL_OK) {
        return kernel_keel_error(PROGRAM, "keel_init", status);
    }
    outcome.ranks = keel_size(job.run.ctx);
    if (outcome.ranks > PATTERNS_RANKS_MAX || outcome.ranks < 2) {
        return kernel_usage_error(PROGRAM, "2 to %d ranks", PATTERNS_RANKS_MAX);
    }
    job.run.started = kernel_now_s();
    status = open_memory(&job);
    if (status == KEEL_OK) {
        do {
            status = run_all(&job, &flaws);
        } while (status == KEEL_ERR_ROLLED_BACK);
    }
    outcome.is_right = flaws == 0;
    outcome.seconds = kernel_now_s() - job.run.started;
    if (status == KEEL_OK) { /* rank 0's memory, except the flaws */
        outcome.hash = kernel_hash(outcome.hash, keel_win_base(job.run.win), job.pattern->bytes(&job.run));
        status = keel_stats(job.run.ctx, &outcome.stats, sizeof(outcome.stats));
    }
    if (status == KEEL_OK) {
        status = keel_finalize(job.run.ctx);
    }
    if (status != KEEL_OK) {
        return kernel_keel_error(PROGRAM, "run", status);
    }
    if (job.run.rank == 0) {
        const kernel_field_t fields[] = {{"pattern", job.pattern->name, 0}, {"steps", NULL, (double)job.run.steps}};

        kernel_print_outcome(&outcome, job.common.format, fields, 2);
    }
    return outcome.is_right ? KERNEL_EXIT_OK : KERNEL_EXIT_WRONG;
}
