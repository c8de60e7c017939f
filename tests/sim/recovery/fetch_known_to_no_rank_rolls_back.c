/*
 * Rank 1 fetches from a word of rank 0 to which rank 0 adds, and rank 2 learns the value. Rank 2
 * dies. The replacement has its get records back when ranks 0 and 1 die, and no other rank knows of
 * the fetch. A repeated fetch may find another value: the job must roll back.
 */
#include "few_ranks.h"

#define RANKS   3
#define SEEDS   20
#define SLOW_NS 20000000

typedef struct job {
    few_t few;
    unsigned slow;
} job_t;

static void ready(few_t *few, uint32_t rank)
{
}

static keel_status_t add(few_t *few, uint32_t rank, keel_win_h win)
{
    uint64_t *own = keel_win_base(win), old = 0;
    keel_status_t status = KEEL_OK;

    /* the order of the two ranks is reversed in the next life */
    if (rank == (keel_incarnation(few->ctx[rank]) > 0 ? 1 : 0)) {
        keel_sim_compute(few->sim, 1000000);
    }
    if (rank == 0) {
        status = keel_atomic(win, KEEL_ATOMIC_ADD, 0, 0, sizeof(old), 5, 0, NULL);
    } else if (rank == 1) {
        status = keel_atomic(win, KEEL_ATOMIC_ADD, 0, 0, sizeof(old), 1, 0, &old);
        own[1] = 100 + old;
    }
    return (status == KEEL_OK) ? keel_gsync(few->ctx[rank], 0) : status;
}

static keel_status_t phases(few_t *few, uint32_t rank, keel_win_h last)
{
    const uint64_t *own = keel_win_base(last);
    uint64_t seen = 0;
    keel_status_t status = add(few, rank, last);

    if (status == KEEL_OK && rank == 2) {
        status = keel_get(last, 1, 8, &seen, sizeof(seen));
    }
    status = (status == KEEL_OK) ? keel_gsync(few->ctx[rank], 0) : status;
    if (status == KEEL_OK && rank == 2) {
        status = keel_put(last, 1, 16, &seen, sizeof(seen));
    }
    if (few->deaths < 3) {
        keel_sim_compute(few->sim, 10000);
    }
    status = (status == KEEL_OK) ? keel_gsync(few->ctx[rank], 0) : status;
    return (status == KEEL_OK && rank == 1 && own[1] != own[2]) ? KEEL_ERR_CORRUPT : status;
}

static void strike(few_t *few)
{
    job_t *job = (job_t *)few;
    const keel_context_h two = few->ctx[2];

    if (few->deaths > 1 || few->ctx[0] == NULL || few->ctx[1] == NULL || two == NULL) {
        return;
    }
    if (few->deaths == 0) {
        if (two->rec.phase == 3 && few->ctx[0]->rec.phase == 3 && few->ctx[1]->rec.phase == 3) {
            few_kill(few, 2);
        }
        return;
    }
    for (uint32_t r = 0; r < 2; r++) { /* each rank hangs as soon as it has adopted the decision */
        if (!(job->slow & 1u << r) && few->ctx[r]->rec.decisions > 0) {
            job->slow |= (unsigned)keel_sim_hang(few->sim, r, SLOW_NS) << r;
        }
    }
    if (keel_recovery_state(&two->rec) == KEEL_RANK_RECOVERING) {
        few_kill(few, 1);
        few_kill(few, 0);
    }
}

int main(void)
{
    static const few_play_t play = {
        .ranks = RANKS, .deaths = 3, .windows = 1, .ready = ready, .phases = phases, .strike = strike};

    return few_main(&play, sizeof(job_t), SEEDS);
}
