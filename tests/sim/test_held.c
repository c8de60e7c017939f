/*
 * A program that waits. Rank 2 dies before anybody has begun and is on its way back when rank 1 dies, too; rank 1's replacement is
 * at the front first. What it puts to rank 2 can only be logged, so it must not tell rank 0 of it: rank 2 may be at the front
 * for rank 0 before it was handed that.
 */
#include "three_ranks.h"

#include <stdlib.h>

#define SEEDS   130
#define WORD    7u
#define SLOW_NS 3000000

typedef struct job {
    trio_t trio;
    int stage;
} job_t;

static void ready(trio_t *trio, uint32_t rank)
{
    const keel_context_h ctx = trio->ctx[rank];

    if (keel_incarnation(ctx) > 0) {
        return;
    }
    if (rank == 1) { /* dies */
        while (trio->deaths == 0 || ctx->lane.peers[2].incarnation == 0 || ctx->rec.is_frozen) {
            trio_progress(trio, rank);
        }
        keel_sim_compute(trio->sim, 100000000);
    }
    while (trio->deaths < 2 || ctx->lane.peers[1].incarnation == 0 || ctx->rec.is_frozen) {
        trio_progress(trio, rank);
    }
}

static keel_status_t phases(trio_t *trio, uint32_t rank, keel_win_h last)
{
    const uint64_t word = WORD;
    uint64_t seen = 0;
    keel_status_t status = KEEL_OK;

    if (rank == 1) {
        status = keel_put(last, 2, 0, &word, sizeof(word));
        status = (status == KEEL_OK) ? keel_flush(trio->ctx[1], 2) : status;
        status = (status == KEEL_OK) ? keel_put(last, 0, 8, &word, sizeof(word)) : status;
        status = (status == KEEL_OK) ? keel_flush(trio->ctx[1], 0) : status;
    } else if (rank == 0) {
        status = keel_wait_until(last, 8, sizeof(word), KEEL_COMPARE_EQ, WORD);
        status = (status == KEEL_OK) ? keel_get(last, 2, 0, &seen, sizeof(seen)) : status;
        status = (status == KEEL_OK && seen != WORD) ? KEEL_ERR_CORRUPT : status;
    }
    return (status == KEEL_OK) ? keel_gsync(trio->ctx[rank], 0) : status;
}

static void strike(trio_t *trio)
{
    job_t *job = (job_t *)trio;
    const keel_context_h one = trio->ctx[1], two = trio->ctx[2];

    if (one == NULL || two == NULL || trio->ctx[0] == NULL) {
        return;
    }
    if (trio->deaths == 0 && one->rec.phase == 1 && trio->ctx[0]->rec.phase == 1) {
        trio_kill(trio, 2);
    } else if (trio->deaths == 1 && keel_incarnation(two) == 1 && two->rec.state == KEEL_RANK_RECOVERING) {
        trio_kill(trio, 1);
    } else if (job->stage == 0 && trio->deaths == 2 && keel_incarnation(one) == 1 && one->rec.phase == 1 &&
               two->rec.phase == 0) {
        job->stage += keel_sim_hang(trio->sim, 2, SLOW_NS);
    } else if (job->stage == 1 && two->rec.phase == 1) {
        job->stage += keel_sim_hang(trio->sim, 1, SLOW_NS);
    }
}

int main(void)
{
    static const trio_play_t play = {
        .deaths = 2, .windows = 1, .flags = KEEL_PARAM_FLAG_WAITS, .ready = ready, .phases = phases, .strike = strike};
    int is_right = 1;

    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        job_t job = {0};

        is_right &= trio_run(&job.trio, &play, seed);
    }
    return is_right ? EXIT_SUCCESS : EXIT_FAILURE;
}
