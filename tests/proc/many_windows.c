/*
 * COUNT windows of a word each, one of every eight freed again: many_windows COUNT DEATHS. Each
 * rank puts to a window drawn from the step and its rank, also to the last; DEATHS as in deaths.h,
 * RANK@STEP.0. Then windows are allocated until the call is refused.
 */
#include "deaths.h"
#include "try.h"

#include <keel/keel.h>

#include <stdio.h>
#include <stdlib.h>

enum { STEPS = 40, SAVE_EVERY = 8, EXIT_WRONG = 1, EXIT_USAGE = 2, EXIT_KEEL = 3, WINDOWS_MAX = 4084 };

typedef struct {
    const char *deaths;
    unsigned count;
    uint64_t step; /* protected */
    keel_context_h ctx;
    keel_win_h win[WINDOWS_MAX + 1];
} job_t;

static int is_freed(const job_t *job, unsigned w)
{
    return w % 8 == 7 && w + 1 < job->count;
}

/* The window that the rank puts to in this step. */
static unsigned window_of(const job_t *job, uint32_t rank)
{
    const uint64_t drawn = (job->step * 977 + rank * 131) * 2654435761u % job->count;
    const unsigned w = (job->step % 5 == 0) ? job->count - 1 : (unsigned)drawn;

    return is_freed(job, w) ? w - 1 : w;
}

static keel_status_t make(job_t *job)
{
    for (unsigned w = 0; w < job->count; w++) {
        TRY(keel_win_alloc(job->ctx, sizeof(uint64_t) * 8, NULL, &job->win[w]));
        TRY(is_freed(job, w) ? keel_win_free(job->win[w]) : KEEL_OK);
    }
    return KEEL_OK;
}

static keel_status_t step(job_t *job)
{
    const uint32_t rank = keel_rank(job->ctx), right = (rank + 1) % keel_size(job->ctx);
    const uint32_t left = (rank + keel_size(job->ctx) - 1) % keel_size(job->ctx);
    const uint64_t said = job->step + 1, *own;

    TRY(keel_put(job->win[window_of(job, rank)], right, 8 * (uint64_t)(rank % 8), &said, sizeof(said)));
    die_when_said(keel_incarnation(job->ctx) == 0 ? job->deaths : NULL, rank, job->step, 0);
    TRY(keel_gsync(job->ctx, 0));
    own = keel_win_base(job->win[window_of(job, left)]);
    if (own[left % 8] != said) {
        fprintf(stderr, "many_windows: rank %u, step %lu: window %u has %lu\n", rank, (unsigned long)job->step,
                window_of(job, left), (unsigned long)own[left % 8]);
        exit(EXIT_WRONG);
    }
    job->step++;
    return keel_gsync(job->ctx, (job->step % SAVE_EVERY == 0) ? KEEL_GSYNC_SAFE : 0);
}

static keel_status_t run(job_t *job)
{
    keel_status_t status = KEEL_OK;

    do {
        status = keel_restarted(job->ctx) ? keel_restore(job->ctx) : KEEL_OK;
        while (status == KEEL_OK && job->step < STEPS) {
            status = step(job);
        }
    } while (status == KEEL_ERR_ROLLED_BACK);
    return status;
}

int main(int argc, char **argv)
{
    static job_t job;
    keel_status_t status = KEEL_OK;
    keel_stats_t stats;
    unsigned made;

    job.count = (argc == 3) ? (unsigned)strtoul(argv[1], NULL, 10) : 0;
    if (job.count < 16 || job.count > WINDOWS_MAX) {
        fprintf(stderr, "usage: many_windows 16..%d -|RANK@STEP.0,...\n", WINDOWS_MAX);
        return EXIT_USAGE;
    }
    job.deaths = argv[2];
    if (keel_init(NULL, &job.ctx) != KEEL_OK || make(&job) != KEEL_OK ||
        keel_protect(job.ctx, 1, &job.step, sizeof(job.step)) != KEEL_OK || run(&job) != KEEL_OK ||
        keel_stats(job.ctx, &stats, sizeof(stats)) != KEEL_OK) {
        return EXIT_KEEL;
    }
    for (made = job.count; made <= WINDOWS_MAX && job.count == WINDOWS_MAX && status == KEEL_OK; made++) {
        /* every rank is refused the same window */
        status = keel_win_alloc(job.ctx, 8, NULL, &job.win[made]);
    }
    if (job.count == WINDOWS_MAX && status != KEEL_ERR_LIMIT) {
        return EXIT_WRONG;
    }
    if (keel_rank(job.ctx) == keel_size(job.ctx) - 1) {
        printf("many_windows: %u, %lu checkpoints, %lu rollbacks: right\n", job.count, (unsigned long)stats.checkpoints,
               (unsigned long)stats.rollbacks);
    }
    return (keel_finalize(job.ctx) == KEEL_OK) ? 0 : EXIT_WRONG;
}
