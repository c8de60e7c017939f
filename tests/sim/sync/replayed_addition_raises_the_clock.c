/*
 * Rank 1 puts to rank 0, and adds to a word of rank 3, under a high clock. Rank 3 dies. Its
 * replacement replays the addition in its gsync, where it takes all remaining puts of other ranks.
 * Rank 2 fetches the word from the replacement, and puts over the word that rank 1 put to rank 0.
 * Rank 0 dies as well. The put of rank 2 must have a higher clock, or the replacement of rank 0
 * replays the two puts in the wrong order.
 */
#include "few_ranks.h"

#include <stdio.h>

#define SEEDS    10
#define OLD      7777u
#define NEW      5555u
#define TICKS    5 /* waits of rank 1; each wait advances its clock */
#define LATER_NS 2000000

/* offsets in each rank's window */
enum { A = 0, GO = 8, COUNT = 16 };

typedef struct job {
    few_t few;
    int is_added, is_put; /* rank 1 has added; rank 2 has put */
    uint64_t back_ns;     /* time at which rank 3 is back */
} job_t;

static keel_status_t put(few_t *few, uint32_t rank, keel_win_h win, uint32_t target, uint64_t offset, uint64_t word)
{
    keel_status_t status = keel_put(win, target, offset, &word, sizeof(word));

    return (status == KEEL_OK) ? keel_flush(few->ctx[rank], target) : status;
}

static keel_status_t first(job_t *job, keel_win_h win)
{
    keel_status_t status = KEEL_OK;

    for (unsigned i = 0; i < TICKS && status == KEEL_OK; i++) {
        status = keel_wait_until(win, GO, 8, KEEL_COMPARE_EQ, 1);
    }
    status = (status == KEEL_OK) ? put(&job->few, 1, win, 0, A, OLD) : status;
    status = (status == KEEL_OK) ? keel_atomic(win, KEEL_ATOMIC_ADD, 3, COUNT, 8, 1, 0, NULL) : status;
    status = (status == KEEL_OK) ? keel_flush(job->few.ctx[1], 3) : status;
    job->is_added |= status == KEEL_OK;
    return status;
}

static keel_status_t second(job_t *job, keel_win_h win)
{
    keel_status_t status = KEEL_OK;
    uint64_t found = 0;

    while (status == KEEL_OK && (job->back_ns == 0 || keel_sim_now_ns(job->few.sim) < job->back_ns + LATER_NS)) {
        status = few_progress(&job->few, 2);
    }
    status = (status == KEEL_OK) ? keel_atomic(win, KEEL_ATOMIC_ADD, 3, COUNT, 8, 0, 0, &found) : status;
    if (status == KEEL_OK && found != 1) {
        return KEEL_ERR_CORRUPT;
    }
    status = (status == KEEL_OK) ? put(&job->few, 2, win, 0, A, NEW) : status;
    job->is_put |= status == KEEL_OK;
    return status;
}

static keel_status_t phases(few_t *few, uint32_t rank, keel_win_h win)
{
    job_t *job = (job_t *)few;
    const uint64_t *own = keel_win_base(win);
    keel_status_t status = KEEL_OK;

    if (rank == 0) {
        status = put(few, 0, win, 1, GO, 1);
        status = (status == KEEL_OK) ? few_await_deaths(few, 0, 2) : status;
    } else if (rank < 3) {
        status = (rank == 1) ? first(job, win) : second(job, win);
    } else {
        status = few_await_deaths(few, 3, 1);
    }
    status = (status == KEEL_OK) ? keel_gsync(few->ctx[rank], 0) : status;
    if (status == KEEL_ERR_ROLLED_BACK || (status == KEEL_OK && few->ctx[rank]->rec.rollbacks > 0)) {
        keel_sim_flaw(few->sim, "rank %u.%u rolls back", rank, keel_incarnation(few->ctx[rank]));
    }
    if (status == KEEL_OK && rank == 0 && own[A / 8] != NEW) {
        keel_sim_flaw(few->sim, "what was put last is %u, and there is %lu", NEW, (unsigned long)own[A / 8]);
    }
    return status;
}

static void strike(few_t *few)
{
    job_t *job = (job_t *)few;

    if (few->deaths == 1 && job->back_ns == 0 && few_is_back(few, 3)) {
        job->back_ns = keel_sim_now_ns(few->sim);
    }
    if (few->deaths == 0 && job->is_added) {
        few_kill(few, 3);
    } else if (few->deaths == 1 && job->is_put) {
        few_kill(few, 0);
    }
}

int main(void)
{
    static const char *const lanes[] = {"KEEL_LANES=direct", "KEEL_LANES=served"};
    int status = 0;

    for (unsigned i = 0; i < 2; i++) {
        const few_play_t play = {.ranks = 4,
                                 .deaths = 2,
                                 .windows = 1,
                                 .flags = KEEL_PARAM_FLAG_WAITS,
                                 .lanes = lanes[i],
                                 .phases = phases,
                                 .strike = strike};

        status |= few_main(&play, sizeof(job_t), SEEDS);
    }
    return status;
}
