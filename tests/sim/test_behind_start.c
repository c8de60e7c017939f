/*
 * Two windows come ahead of keel_restarted(). Rank 2 dies before anybody has asked that, and begins at the first of them; rank 1
 * asks, and rank 0 dies, whose replacement is to begin behind the second. So the job rolls back to there, and rank 2 has
 * windows to make still.
 */
#include "three_ranks.h"

#include <stdlib.h>

#define SEEDS 20
#define WORD  7u

typedef struct job {
    trio_t trio;
    int has_asked; /* rank 1 */
} job_t;

static void ready(trio_t *trio, uint32_t rank)
{
    const keel_context_h ctx = trio->ctx[rank];

    if (rank == 2 || keel_incarnation(ctx) > 0) {
        return;
    }
    while (trio->deaths == 0 || ctx->lane.peers[2].incarnation == 0 || ctx->rec.is_frozen ||
           (rank == 0 && trio->deaths == 1)) {
        trio_progress(trio, rank);
    }
}

static keel_status_t phases(trio_t *trio, uint32_t rank, keel_win_h last)
{
    const uint64_t word = WORD + rank;
    keel_status_t status;

    ((job_t *)trio)->has_asked |= rank == 1;
    status = keel_put(last, (rank + 1) % TRIO, 0, &word, sizeof(word));
    if (status == KEEL_OK) {
        status = keel_gsync(trio->ctx[rank], 0);
    }
    if (status == KEEL_OK && *(uint64_t *)keel_win_base(last) != WORD + (rank + TRIO - 1) % TRIO) {
        status = KEEL_ERR_CORRUPT;
    }
    return status;
}

static void strike(trio_t *trio)
{
    if (trio->deaths == 0 && trio->ctx[0] != NULL && trio->ctx[1] != NULL && trio->ctx[0]->rec.phase == 2 &&
        trio->ctx[1]->rec.phase == 2) {
        trio_kill(trio, 2);
    } else if (trio->deaths == 1 && ((const job_t *)trio)->has_asked) {
        trio_kill(trio, 0);
    }
}

int main(void)
{
    static const trio_play_t play = {.deaths = 2, .windows = 2, .ready = ready, .phases = phases, .strike = strike};
    int is_right = 1;

    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        job_t job = {0};

        is_right &= trio_run(&job.trio, &play, seed);
    }
    return is_right ? EXIT_SUCCESS : EXIT_FAILURE;
}
