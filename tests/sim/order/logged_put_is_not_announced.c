/*
 * A program that waits. Rank 2 dies before any rank has begun. Its replacement is on its way back
 * when rank 1 dies too. The replacement of rank 1 reaches the front first. The put of rank 1 to
 * rank 2 can only be logged, so rank 1 must not announce the put to rank 0: for rank 0, rank 2 may
 * be at the front before the hand-over of the put.
 */
#include "few_ranks.h"

#define RANKS   3
#define SEEDS   130
#define WORD    7u
#define SLOW_NS 3000000

typedef struct job {
    few_t few;
    int stage;
} job_t;

static void ready(few_t *few, uint32_t rank)
{
    const keel_context_h ctx = few->ctx[rank];

    if (keel_incarnation(ctx) > 0) {
        return;
    }
    if (rank == 1) { /* dies here */
        while (few->deaths == 0 || ctx->lane.peers[2].incarnation == 0 || keel_recovery_is_frozen(&ctx->rec)) {
            (void)few_progress(few, rank);
        }
        keel_sim_compute(few->sim, 100000000);
    }
    while (few->deaths < 2 || ctx->lane.peers[1].incarnation == 0 || keel_recovery_is_frozen(&ctx->rec)) {
        (void)few_progress(few, rank);
    }
}

static keel_status_t phases(few_t *few, uint32_t rank, keel_win_h last)
{
    const uint64_t word = WORD;
    uint64_t seen = 0;
    keel_status_t status = KEEL_OK;

    if (rank == 1) {
        status = keel_put(last, 2, 0, &word, sizeof(word));
        status = (status == KEEL_OK) ? keel_flush(few->ctx[1], 2) : status;
        status = (status == KEEL_OK) ? keel_put(last, 0, 8, &word, sizeof(word)) : status;
        status = (status == KEEL_OK) ? keel_flush(few->ctx[1], 0) : status;
    } else if (rank == 0) {
        status = keel_wait_until(last, 8, sizeof(word), KEEL_COMPARE_EQ, WORD);
        status = (status == KEEL_OK) ? keel_get(last, 2, 0, &seen, sizeof(seen)) : status;
        status = (status == KEEL_OK && seen != WORD) ? KEEL_ERR_CORRUPT : status;
    }
    return (status == KEEL_OK) ? keel_gsync(few->ctx[rank], 0) : status;
}

static void strike(few_t *few)
{
    job_t *job = (job_t *)few;
    const keel_context_h one = few->ctx[1], two = few->ctx[2];

    if (one == NULL || two == NULL || few->ctx[0] == NULL) {
        return;
    }
    if (few->deaths == 0 && one->rec.phase == 1 && few->ctx[0]->rec.phase == 1) {
        few_kill(few, 2);
    } else if (few->deaths == 1 && keel_incarnation(two) == 1 &&
               keel_recovery_state(&two->rec) == KEEL_RANK_RECOVERING) {
        few_kill(few, 1);
    } else if (job->stage == 0 && few->deaths == 2 && keel_incarnation(one) == 1 && one->rec.phase == 1 &&
               two->rec.phase == 0) {
        job->stage += keel_sim_hang(few->sim, 2, SLOW_NS);
    } else if (job->stage == 1 && two->rec.phase == 1) {
        job->stage += keel_sim_hang(few->sim, 1, SLOW_NS);
    }
}

int main(void)
{
    static const few_play_t play = {.ranks = RANKS,
                                    .deaths = 2,
                                    .windows = 1,
                                    .flags = KEEL_PARAM_FLAG_WAITS,
                                    .ready = ready,
                                    .phases = phases,
                                    .strike = strike};

    return few_main(&play, sizeof(job_t), SEEDS);
}
