/*
 * A replacement announces its position and dies. A rank that reads the position before the news of
 * the death can no longer map the replacement's windows, so no memory is left for a hand-over. The
 * rank must wait for the news.
 */
#include "few_ranks.h"

#define SEEDS 40
#define WORD  7u

typedef struct job {
    few_t few;
    int has_put; /* rank 0 has put */
} job_t;

static keel_status_t source(job_t *job, keel_win_h win)
{
    const keel_context_h ctx = job->few.ctx[0];
    const uint64_t word = WORD;
    keel_status_t status = keel_put(win, 1, 0, &word, sizeof(word));

    job->has_put = 1;
    while (status == KEEL_OK &&
           /* until the death is decided */
           (ctx->rec.deaths == 0 || keel_recovery_is_frozen(&ctx->rec))) {
        status = few_progress(&job->few, keel_rank(ctx));
    }
    while (job->few.deaths < 2) {
        keel_sim_compute(job->few.sim, 1000);
    }
    return status;
}

static keel_status_t target(job_t *job)
{
    if (keel_incarnation(job->few.ctx[1]) < 2) {
        keel_sim_compute(job->few.sim, 100000000); /* dies here */
    }
    return KEEL_OK;
}

static keel_status_t phases(few_t *few, uint32_t rank, keel_win_h first)
{
    job_t *job = (job_t *)few;
    keel_status_t status = (rank == 0) ? source(job, first) : target(job);

    status = (status == KEEL_OK) ? keel_gsync(few->ctx[rank], 0) : status;
    if (status == KEEL_OK && rank == 1 && *(uint64_t *)keel_win_base(first) != WORD) {
        status = KEEL_ERR_CORRUPT;
    }
    return status;
}

static void strike(few_t *few)
{
    const job_t *job = (const job_t *)few;
    const keel_context_h ctx = few->ctx[1];

    if ((few->deaths == 0 && job->has_put) ||
        (few->deaths == 1 && ctx != NULL && keel_incarnation(ctx) == 1 &&
         keel_recovery_state(&ctx->rec) != KEEL_RANK_FRESH && keel_lane_is_flushed(&ctx->lane, 0))) {
        few_kill(few, 1);
    }
}

int main(void)
{
    static const few_play_t play = {.ranks = 2, .deaths = 2, .windows = 1, .phases = phases, .strike = strike};

    return few_main(&play, sizeof(job_t), SEEDS);
}
