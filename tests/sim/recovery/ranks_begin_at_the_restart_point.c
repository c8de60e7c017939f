/*
 * Rank 1 comes back before the program has begun. Rank 0 dies after a further window, which no
 * gsync of the program precedes, so rank 1 alone is left. Both ranks must begin at the point where
 * the windows before keel_restarted() are made.
 */
#include "few_ranks.h"

#define SEEDS 20
#define WORD  7u

typedef struct job {
    few_t few;
    unsigned windows[2];
    int has_put; /* rank 1 has put into the further window */
} job_t;

static void begin(few_t *few, uint32_t rank)
{
    job_t *job = (job_t *)few;

    job->windows[rank] = 0;
    if (keel_sim_incarnation(few->sim, rank) == 0) {
        keel_sim_compute(few->sim, 20000);
    }
}

static keel_status_t phases(few_t *few, uint32_t rank, keel_win_h first)
{
    job_t *job = (job_t *)few;
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
        status = keel_win_alloc(few->ctx[rank], 64, NULL, &further);
        job->windows[rank] = 2;
    }
    if (status == KEEL_OK && rank == 1) {
        status = keel_put(further, 0, 0, &word, sizeof(word));
        job->has_put = 1;
    }
    keel_sim_compute(few->sim, 200000);
    if (status == KEEL_OK) {
        status = keel_gsync(few->ctx[rank], 0);
    }
    if (status == KEEL_OK &&
        (own[1] != 100 + rank || *(uint64_t *)keel_win_base(rank == 0 ? further : first) != WORD)) {
        status = KEEL_ERR_CORRUPT;
    }
    return status;
}

static void strike(few_t *few)
{
    const job_t *job = (const job_t *)few;

    if (few->ctx[0] == NULL || few->ctx[1] == NULL) {
        return;
    }
    if (few->deaths == 0 && job->windows[1] == 0) {
        few_kill(few, 1);
    } else if (few->deaths == 1 && job->has_put && job->windows[0] == 2) {
        few_kill(few, 0);
    }
}

int main(void)
{
    static const few_play_t play = {
        .ranks = 2, .deaths = 2, .windows = 1, .begin = begin, .phases = phases, .strike = strike};

    return few_main(&play, sizeof(job_t), SEEDS);
}
