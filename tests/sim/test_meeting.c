/*
 * A program that asks keel_restarted() ahead of its first window, and whose deaths always roll back. One has asked already and
 * another dies, while the third is in keel_init() still: it rolls back with the others when that has returned.
 */
#include "three_ranks.h"

#include <stdlib.h>

#define SEEDS   40
#define WORD    7u
#define SLOW_NS 5000000

typedef struct job {
    trio_t trio;
    int is_slow;
} job_t;

static void ready(trio_t *trio, uint32_t rank)
{
}

static keel_status_t phases(trio_t *trio, uint32_t rank, keel_win_h last)
{
    const uint64_t word = WORD + rank;
    keel_status_t status = keel_win_alloc(trio->ctx[rank], 64, NULL, &last);

    if (status == KEEL_OK) {
        status = keel_put(last, (rank + 1) % TRIO, 0, &word, sizeof(word));
    }
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
    job_t *job = (job_t *)trio;
    uint32_t first = 0;

    while (first < TRIO && trio->ctx[first] == NULL) {
        first++;
    }
    if (trio->deaths > 0 || first == TRIO) {
        return;
    }
    if (!job->is_slow) {
        job->is_slow = keel_sim_hang(trio->sim, (first + 1) % TRIO, SLOW_NS);
    } else if (trio->ctx[first]->rec.is_prefix_closed) {
        trio_kill(trio, (first + 2) % TRIO);
    }
}

int main(void)
{
    static const trio_play_t play = {
        .deaths = 1, .flags = KEEL_PARAM_FLAG_NONDETERMINISTIC, .ready = ready, .phases = phases, .strike = strike};
    int is_right = 1;

    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        job_t job = {0};

        is_right &= trio_run(&job.trio, &play, seed);
    }
    return is_right ? EXIT_SUCCESS : EXIT_FAILURE;
}
