/*
 * Rank 0 unlocks rank 1, which has died, so a release for the replacement of rank 1 is pending.
 * Rank 2 dies too, and the job rolls back. In the new computation rank 0 holds the lock of rank 1
 * again when rank 1 dies. The old release must not give the lock up: rank 2 waits for the lock, and
 * both ranks increment a word at rank 1 inside their critical sections.
 */
#include "few_ranks.h"

#define SEEDS 20
/*
 * Progress calls inside the critical section when rank 1 is back: enough for rank 2 to take a free
 * lock.
 */
#define ROUNDS 2000

typedef struct job {
    few_t few;
    int is_inside; /* rank 0 is inside the critical section, in the new computation */
    int is_asking; /* rank 2 asks for the lock */
} job_t;

static keel_status_t count_up(few_t *few, uint32_t rank, keel_win_h win, unsigned rounds)
{
    keel_status_t status;
    uint64_t word = 0;

    status = keel_get(win, 1, 0, &word, sizeof(word));
    for (unsigned i = 0; i < rounds && status == KEEL_OK; i++) {
        status = few_progress(few, rank);
    }
    word++;
    status = (status == KEEL_OK) ? keel_put(win, 1, 0, &word, sizeof(word)) : status;
    return (status == KEEL_OK) ? keel_unlock(few->ctx[rank], 1) : status;
}

/* Gives the lock up while rank 1 is away. */
static keel_status_t leave_release_pending(few_t *few)
{
    const keel_context_h ctx = few->ctx[0];
    keel_status_t status = few_await_deaths(few, 0, 1);

    while (status == KEEL_OK && ctx->lane.peers[1].mode != KEEL_PEER_BEHIND) {
        status = few_progress(few, 0);
    }
    status = (status == KEEL_OK) ? keel_unlock(ctx, 1) : status;
    while (status == KEEL_OK) { /* ends when the job rolls back */
        status = few_progress(few, 0);
    }
    return status;
}

static keel_status_t locker(job_t *job, keel_win_h win)
{
    few_t *few = &job->few;
    const keel_context_h ctx = few->ctx[0];
    keel_status_t status = keel_lock(ctx, 1);

    if (status != KEEL_OK || ctx->rec.rollbacks == 0) {
        return (status == KEEL_OK) ? leave_release_pending(few) : status;
    }
    job->is_inside = 1;
    while (status == KEEL_OK && !(few->deaths == 3 && few_is_back(few, 1))) {
        status = few_progress(few, 0);
    }
    return (status == KEEL_OK) ? count_up(few, 0, win, ROUNDS) : status;
}

static keel_status_t rival(job_t *job, keel_win_h win)
{
    few_t *few = &job->few;
    const keel_context_h ctx = few->ctx[2];
    keel_status_t status = KEEL_OK;

    while (status == KEEL_OK && !job->is_inside) {
        status = few_progress(few, 2);
    }
    job->is_asking = 1;
    status = (status == KEEL_OK) ? keel_lock(ctx, 1) : status;
    return (status == KEEL_OK) ? count_up(few, 2, win, 0) : status;
}

static keel_status_t phases(few_t *few, uint32_t rank, keel_win_h last)
{
    job_t *job = (job_t *)few;
    keel_status_t status = (rank == 0) ? locker(job, last) : (rank == 2) ? rival(job, last) : KEEL_OK;

    status = (status == KEEL_OK) ? keel_gsync(few->ctx[rank], 0) : status;
    return (status == KEEL_OK && rank == 1 && *(const uint64_t *)keel_win_base(last) != 2) ? KEEL_ERR_CORRUPT : status;
}

static void strike(few_t *few)
{
    const job_t *job = (const job_t *)few;
    const keel_context_h ctx = few->ctx[0];

    if (ctx == NULL) {
        return;
    }
    if (few->deaths == 0 && ctx->sync.sections.held[1] == KEEL_HELD_WRITING) {
        few_kill(few, 1);
    } else if (few->deaths == 1 && ctx->sync.sections.is_release_due[1] != 0) {
        few_kill(few, 2);
    } else if (few->deaths == 2 && job->is_inside && job->is_asking) {
        few_kill(few, 1);
    }
}

int main(void)
{
    static const few_play_t play = {.ranks = 3, .deaths = 3, .windows = 1, .phases = phases, .strike = strike};

    return few_main(&play, sizeof(job_t), SEEDS);
}
