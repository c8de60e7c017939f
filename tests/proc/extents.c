/*
 * A large window, of which a small part belongs to the image: extents STEPS. Each rank puts a word
 * to two distant places of its neighbour's window. From the middle step on, a third place replaces
 * the first, and the extents follow. Rank 1 kills itself twice, before the change and after the
 * change.
 */
#include "try.h"

#include <keel/keel.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BYTES  ((size_t)48 << 20)
#define FIRST  ((uint64_t)1 << 20)
#define SECOND ((uint64_t)32 << 20)
#define THIRD  (BYTES - 8)

typedef struct job {
    keel_context_h ctx;
    keel_win_h win;
    uint64_t steps, step; /* step is protected */
} job_t;

static keel_status_t set_extents(const job_t *job)
{
    const keel_extent_t early[2] = {{FIRST, 8}, {SECOND, 8}}, late[2] = {{SECOND, 8}, {THIRD, 8}};

    return keel_win_extents(job->win, (job->step < job->steps / 2) ? early : late, 2);
}

static void maybe_die(const job_t *job)
{
    const uint64_t at = (job->steps / 4) * (1 + 2 * (uint64_t)keel_incarnation(job->ctx));

    if (keel_rank(job->ctx) == 1 && keel_incarnation(job->ctx) < 2 && job->step == at) {
        raise(SIGKILL);
    }
}

static keel_status_t step(job_t *job)
{
    const uint32_t right = (keel_rank(job->ctx) + 1) % keel_size(job->ctx);
    const uint64_t said = job->step + 1;

    TRY(keel_put(job->win, right, (job->step < job->steps / 2) ? FIRST : THIRD, &said, sizeof(said)));
    TRY(keel_put(job->win, right, SECOND, &said, sizeof(said)));
    maybe_die(job);
    job->step++;
    TRY(set_extents(job));
    return keel_gsync(job->ctx, KEEL_GSYNC_SAFE);
}

static keel_status_t run(job_t *job)
{
    keel_status_t status;

    do {
        status = keel_restarted(job->ctx) ? keel_restore(job->ctx) : KEEL_OK;
        while (status == KEEL_OK && job->step < job->steps) {
            status = step(job);
        }
    } while (status == KEEL_ERR_ROLLED_BACK);
    return status;
}

int main(int argc, char **argv)
{
    job_t job = {.steps = (argc == 2) ? strtoul(argv[1], NULL, 10) : 0};
    keel_stats_t stats;
    const char *own;
    int right;

    if (job.steps < 8 || keel_init(NULL, &job.ctx) != KEEL_OK ||
        keel_win_alloc(job.ctx, BYTES, NULL, &job.win) != KEEL_OK ||
        keel_protect(job.ctx, 1, &job.step, sizeof(job.step)) != KEEL_OK || run(&job) != KEEL_OK ||
        keel_stats(job.ctx, &stats, sizeof(stats)) != KEEL_OK) {
        return 3;
    }
    own = keel_win_base(job.win);
    right = memcmp(own + SECOND, &job.steps, 8) == 0 && memcmp(own + THIRD, &job.steps, 8) == 0 &&
            stats.checkpoints > 0 && stats.checkpoint_bytes < 4096;
    printf("extents: rank %u: %lu bytes an image: %s\n", keel_rank(job.ctx), (unsigned long)stats.checkpoint_bytes,
           right ? "right" : "WRONG");
    return (keel_finalize(job.ctx) == KEEL_OK && right) ? 0 : 1;
}
