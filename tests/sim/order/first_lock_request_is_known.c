/*
 * The first act of a job: between two windows, rank 0 locks a window exclusively at rank 1. Rank 0
 * dies with the lock. The other ranks have accessed nothing and wait for rank 0 with the second
 * window; all that they know is that a rank asked for the lock. The lock must not stay taken.
 */
#include "few_ranks.h"

#define SEEDS 20

typedef struct job {
    few_t few;
    keel_win_h win[FEW_RANKS_MAX];
    int has_locked;
} job_t;

static void ready(few_t *few, uint32_t rank)
{
    job_t *job = (job_t *)few;
    keel_context_h ctx = few->ctx[rank];
    keel_status_t status = keel_win_alloc(ctx, 64, NULL, &job->win[rank]);
    keel_win_h second;

    if (status == KEEL_OK && rank == 0 && keel_incarnation(ctx) == 0) {
        status = keel_win_lock(job->win[rank], 1, KEEL_LOCK_EXCLUSIVE);
        job->has_locked = 1;
        keel_sim_compute(few->sim, 100000000); /* dies here */
    }
    while (status == KEEL_OK && (status = keel_win_alloc(ctx, 64, NULL, &second)) == KEEL_ERR_ROLLED_BACK) {
        status = keel_restore(ctx);
    }
    if (status != KEEL_OK) {
        keel_sim_flaw(few->sim, "rank %u: %s", rank, keel_status_string(status));
    }
}

static keel_status_t phases(few_t *few, uint32_t rank, keel_win_h last)
{
    job_t *job = (job_t *)few;
    keel_status_t status = keel_win_lock(job->win[rank], 1, KEEL_LOCK_EXCLUSIVE);

    status = (status == KEEL_OK) ? keel_win_unlock(job->win[rank], 1) : status;
    return (status == KEEL_OK) ? keel_gsync(few->ctx[rank], 0) : status;
}

static void strike(few_t *few)
{
    if (few->deaths == 0 && ((job_t *)few)->has_locked) {
        few_kill(few, 0);
    }
}

int main(void)
{
    static const few_play_t play = {.ranks = 3, .deaths = 1, .ready = ready, .phases = phases, .strike = strike};

    return few_main(&play, sizeof(job_t), SEEDS);
}
