/*
 * Rank 0 puts a word to rank 1. Rank 2, which waited for rank 0, then puts to the same place. Rank
 * 1 dies, and its replacement replays both puts. Then rank 0 dies. The replacement of rank 0
 * repeats the put of rank 0. The repeated put must not overwrite the put of rank 2.
 */
#include "few_ranks.h"

#define SEEDS 20
#define FLAG  8 /* offset of the awaited word */

typedef struct job {
    few_t few;
    int is_put;   /* the word of rank 2 is at rank 1 */
    int is_taken; /* rank 1 has come back to its wait for the word */
} job_t;

static keel_status_t put(few_t *few, uint32_t rank, keel_win_h win, uint32_t target, uint64_t offset)
{
    const uint64_t word = rank + 1;
    keel_status_t status = keel_put(win, target, offset, &word, sizeof(word));

    return (status == KEEL_OK) ? keel_flush(few->ctx[rank], target) : status;
}

static keel_status_t await_flag(keel_win_h win)
{
    return keel_wait_until(win, FLAG, sizeof(uint64_t), KEEL_COMPARE_NE, 0);
}

static keel_status_t phase_of(few_t *few, uint32_t rank, keel_win_h win)
{
    job_t *job = (job_t *)few;
    keel_status_t status = (rank == 0) ? put(few, 0, win, 1, 0) : await_flag(win);

    if (status == KEEL_OK && rank == 0) {
        status = put(few, 0, win, 2, FLAG);
    } else if (status == KEEL_OK && rank == 2) {
        status = put(few, 2, win, 1, 0);
        job->is_put = 1;
        status = (status == KEEL_OK) ? few_await_deaths(few, 2, 1) : status;
        status = (status == KEEL_OK) ? put(few, 2, win, 1, FLAG) : status;
    } else if (rank == 1) {
        job->is_taken = 1;
    }
    return (status == KEEL_OK) ? few_await_deaths(few, rank, 2) : status;
}

static keel_status_t phases(few_t *few, uint32_t rank, keel_win_h last)
{
    keel_status_t status = keel_gsync(few->ctx[rank], 0);

    status = (status == KEEL_OK) ? phase_of(few, rank, last) : status;
    status = (status == KEEL_OK) ? keel_gsync(few->ctx[rank], 0) : status;
    return (status == KEEL_OK && rank == 1 && *(const uint64_t *)keel_win_base(last) != 3) ? KEEL_ERR_CORRUPT : status;
}

static void strike(few_t *few)
{
    const job_t *job = (const job_t *)few;

    if (few->deaths == 0 && job->is_put) {
        few_kill(few, 1);
    } else if (few->deaths == 1 && job->is_taken) {
        few_kill(few, 0);
    }
}

int main(void)
{
    static const few_play_t play = {.ranks = 3,
                                    .deaths = 2,
                                    .windows = 1,
                                    .flags = KEEL_PARAM_FLAG_WAITS,
                                    .lanes = "KEEL_LANES=direct",
                                    .phases = phases,
                                    .strike = strike};

    return few_main(&play, sizeof(job_t), SEEDS);
}
