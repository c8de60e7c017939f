/*
 * A program that is not deterministic. Rank 0 alone has begun, has put something to rank 2, and dies. Its replacement puts to another
 * place: what it put first must not be there.
 */
#include "three_ranks.h"

#include <stdlib.h>

#define SEEDS 20

typedef struct job {
    trio_t trio;
    int has_put;
} job_t;

static void ready(trio_t *trio, uint32_t rank)
{
    const keel_context_h ctx = trio->ctx[rank];

    while (rank > 0 && (trio->deaths == 0 || ctx->lane.peers[0].incarnation == 0 || ctx->rec.is_frozen)) {
        trio_progress(trio, rank);
    }
}

static keel_status_t phases(trio_t *trio, uint32_t rank, keel_win_h last)
{
    const uint64_t word = 1, place = keel_incarnation(trio->ctx[rank]);
    const uint64_t *own = keel_win_base(last);
    keel_status_t status = KEEL_OK;

    if (rank == 0) {
        status = keel_put(last, 2, 8 * place, &word, sizeof(word));
        status = (status == KEEL_OK) ? keel_flush(trio->ctx[0], 2) : status;
        ((job_t *)trio)->has_put = 1;
        keel_sim_compute(trio->sim, 1000);
    }
    status = (status == KEEL_OK) ? keel_gsync(trio->ctx[rank], 0) : status;
    return (status == KEEL_OK && rank == 2 && own[0] + own[1] != 1) ? KEEL_ERR_CORRUPT : status;
}

static void strike(trio_t *trio)
{
    if (trio->deaths == 0 && ((const job_t *)trio)->has_put) {
        trio_kill(trio, 0);
    }
}

int main(void)
{
    static const trio_play_t play = {.deaths = 1,
                                     .windows = 1,
                                     .flags = KEEL_PARAM_FLAG_NONDETERMINISTIC,
                                     .ready = ready,
                                     .phases = phases,
                                     .strike = strike};
    int is_right = 1;

    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        job_t job = {0};

        is_right &= trio_run(&job.trio, &play, seed);
    }
    return is_right ? EXIT_SUCCESS : EXIT_FAILURE;
}
