/*
 * A rank that came back before the program had begun is the only one left when the other dies behind a further window, which no
 * gsync of the program's own precedes: both begin where the windows were made that come ahead of keel_restarted().
 */
#include "two_ranks.h"

#include <stdlib.h>

#define SEEDS 20
#define WORD  7u

typedef struct job {
    pair_t pair;
    unsigned windows[2];
    int has_put; /* rank 1, into the further window */
} job_t;

static void begin(pair_t *pair, uint32_t rank)
{
    job_t *job = (job_t *)pair;

    job->windows[rank] = 0;
    if (keel_sim_incarnation(pair->sim, rank) == 0) {
        keel_sim_compute(pair->sim, 20000);
    }
}

static keel_status_t phases(pair_t *pair, uint32_t rank, keel_win_h first)
{
    job_t *job = (job_t *)pair;
    const uint64_t word = WORD;
    uint64_t *own = keel_win_base(first);
    keel_win_h further;
    keel_status_t status = KEEL_OK;

    job->windows[rank] = 1;
    own[1] = 100 + rank;
    if (rank == 0) {
        status = keel_put(first, 1, 0, &word, sizeof(word));
    }
    if (status == KEEL_OK) {
        status = keel_win_alloc(pair->ctx[rank], 64, NULL, &further);
        job->windows[rank] = 2;
    }
    if (status == KEEL_OK && rank == 1) {
        status = keel_put(further, 0, 0, &word, sizeof(word));
        job->has_put = 1;
    }
    keel_sim_compute(pair->sim, 200000);
    if (status == KEEL_OK) {
        status = keel_gsync(pair->ctx[rank], 0);
    }
    if (status == KEEL_OK &&
        (own[1] != 100 + rank || *(uint64_t *)keel_win_base(rank == 0 ? further : first) != WORD)) {
        status = KEEL_ERR_CORRUPT;
    }
    return status;
}

static void strike(pair_t *pair)
{
    const job_t *job = (const job_t *)pair;

    if (pair->ctx[0] == NULL || pair->ctx[1] == NULL) {
        return;
    }
    if (pair->deaths == 0 && job->windows[1] == 0) {
        pair_kill(pair, 1);
    } else if (pair->deaths == 1 && job->has_put && job->windows[0] == 2) {
        pair_kill(pair, 0);
    }
}

int main(void)
{
    static const pair_play_t play = {.deaths = 2, .begin = begin, .phases = phases, .strike = strike};
    int is_right = 1;

    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        job_t job = {0};

        is_right &= pair_run(&job.pair, &play, seed);
    }
    return is_right ? EXIT_SUCCESS : EXIT_FAILURE;
}
