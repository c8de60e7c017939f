/*
 * A program calls keel_restarted() before its first window, and each of its deaths is a rollback.
 * One rank has called keel_restarted() and another rank dies, while the third is still in
 * keel_init(). The third must roll back with the others when keel_init() has returned.
 */
#include "few_ranks.h"

#define RANKS   3
#define SEEDS   40
#define WORD    7u
#define SLOW_NS 5000000

typedef struct job {
    few_t few;
    int is_slow;
} job_t;

static void ready(few_t *few, uint32_t rank)
{
}

static keel_status_t phases(few_t *few, uint32_t rank, keel_win_h last)
{
    keel_status_t status = keel_win_alloc(few->ctx[rank], 64, NULL, &last);

    if (status == KEEL_OK) {
        status = few_put_ring(few, rank, last, WORD);
    }
    return (status == KEEL_OK) ? few_gsync_ring(few, rank, last, WORD) : status;
}

static void strike(few_t *few)
{
    job_t *job = (job_t *)few;
    uint32_t first = 0;

    while (first < RANKS && few->ctx[first] == NULL) {
        first++;
    }
    if (few->deaths > 0 || first == RANKS) {
        return;
    }
    if (!job->is_slow) {
        job->is_slow = keel_sim_hang(few->sim, (first + 1) % RANKS, SLOW_NS);
    } else if (few->ctx[first]->rec.is_prefix_closed) {
        few_kill(few, (first + 2) % RANKS);
    }
}

int main(void)
{
    static const few_play_t play = {.ranks = RANKS,
                                    .deaths = 1,
                                    .flags = KEEL_PARAM_FLAG_NONDETERMINISTIC,
                                    .ready = ready,
                                    .phases = phases,
                                    .strike = strike};

    return few_main(&play, sizeof(job_t), SEEDS);
}
