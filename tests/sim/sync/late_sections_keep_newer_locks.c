/*
 * A replacement is complete when it arrives at a gsync. A peer that left the gsync before it knew
 * so sends the replacement its critical sections once more, those of the next phase. Locks that the
 * peer has taken at the replacement since then must stay taken. A waiting rank looks at its
 * messages and then at arrivals, so both would have to come between the two looks; here the test
 * sends the message by hand.
 */
#include "few_ranks.h"

#define SEEDS 10

typedef struct job {
    few_t few;
    int has_unlocked; /* rank 1 has unlocked in the first phase */
    int is_reading;   /* rank 0 reads in the second phase */
} job_t;

static keel_status_t reader(job_t *job)
{
    keel_context_h ctx = job->few.ctx[0];
    keel_win_h second;
    keel_status_t status = keel_win_alloc(ctx, 64, NULL, &second);
    uint32_t count;

    while (status == KEEL_OK && ctx->lane.peers[1].mode != KEEL_PEER_LIVE) {
        status = few_progress(&job->few, keel_rank(ctx));
    }
    if (status == KEEL_OK) {
        status = keel_sections_send(&ctx->sync, 1, ctx->rec.phase, &count);
    }
    if (status == KEEL_OK) {
        status = keel_lock_all(ctx);
        job->is_reading = 1;
        keel_sim_compute(job->few.sim, 2000000);
        job->is_reading = 0;
    }
    return (status == KEEL_OK) ? keel_unlock_all(ctx) : status;
}

static keel_status_t writer(job_t *job)
{
    keel_context_h ctx = job->few.ctx[1];
    keel_win_h second;
    keel_status_t status = keel_lock(ctx, 0);

    status = (status == KEEL_OK) ? keel_unlock(ctx, 0) : status;
    job->has_unlocked = 1;
    if (keel_incarnation(ctx) == 0) {
        keel_sim_compute(job->few.sim, 100000000); /* dies here */
    }
    /* the last section of the first life has just been repeated, so the replacement is complete */
    if (status == KEEL_OK) {
        status = keel_win_alloc(ctx, 64, NULL, &second);
    }
    while (status == KEEL_OK && !job->is_reading) {
        keel_sim_compute(job->few.sim, 1000);
    }
    if (status == KEEL_OK) {
        status = keel_lock(ctx, 1);
    }
    if (status == KEEL_OK && job->is_reading) {
        keel_sim_flaw(job->few.sim, "rank 1 writes where rank 0 reads");
    }
    return (status == KEEL_OK) ? keel_unlock(ctx, 1) : status;
}

static keel_status_t phases(few_t *few, uint32_t rank, keel_win_h first)
{
    return (rank == 0) ? reader((job_t *)few) : writer((job_t *)few);
}

static void strike(few_t *few)
{
    if (few->deaths == 0 && ((const job_t *)few)->has_unlocked) {
        few_kill(few, 1);
    }
}

int main(void)
{
    static const few_play_t play = {.ranks = 2, .deaths = 1, .windows = 1, .phases = phases, .strike = strike};

    return few_main(&play, sizeof(job_t), SEEDS);
}
