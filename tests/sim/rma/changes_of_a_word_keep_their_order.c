/*
 * Rank 0 dies. The logs of other ranks have their accesses to a word of rank 0 as changes of the
 * word.
 *   - Rank 0 had waited for the word. By clock, the change that was made last comes first.
 *   - Rank 0 had added to the word itself before rank 1 set it. The replacement is about to add
 *     again.
 *   - Rank 1 had added to the word before rank 2 fetched. Rank 1 dies before it has handed the
 *     addition over to the replacement.
 *   - Rank 2 had added to the word after rank 1. Rank 1 has died before rank 0, and its replacement
 *     is about to add again.
 */
#include "few_ranks.h"

#include <stdlib.h>

#define RANKS 3
#define SEEDS 20

enum { SUM, WORD, FLAG, WORDS };

typedef struct job {
    few_t few;
    /* ranks 1 and 2 have accessed rank 0; rank 0 has acted on the accesses */
    int has_one, has_two, is_forwarded;
} job_t;

static keel_status_t progress_until(few_t *few, uint32_t rank, const int *is_so)
{
    keel_status_t status = KEEL_OK;

    while (status == KEEL_OK && !*is_so) {
        status = few_progress(few, rank);
    }
    return status;
}

static keel_status_t progress_until_death(few_t *few, uint32_t rank)
{
    keel_status_t status = KEEL_OK;

    while (status == KEEL_OK && few->deaths == 0) {
        status = few_progress(few, rank);
    }
    return status;
}

static keel_status_t flag_put(few_t *few, uint32_t rank, uint32_t to, keel_win_h win)
{
    const uint64_t flag = 1;
    keel_status_t status = keel_put(win, to, FLAG * sizeof(flag), &flag, sizeof(flag));

    return (status == KEEL_OK) ? keel_flush(few->ctx[rank], to) : status;
}

static keel_status_t add(few_t *few, uint32_t rank, keel_win_h win, double value, int *has)
{
    keel_status_t status =
        keel_accumulate(win, KEEL_OP_SUM, KEEL_TYPE_DOUBLE, 0, SUM * sizeof(uint64_t), &value, 1, NULL);

    status = (status == KEEL_OK) ? keel_flush(few->ctx[rank], 0) : status;
    *has |= status == KEEL_OK;
    return status;
}

static keel_status_t end(few_t *few, uint32_t rank, keel_win_h win, keel_status_t status)
{
    const double *sum = (const double *)keel_win_base(win) + SUM;

    status = (status == KEEL_OK) ? keel_gsync(few->ctx[rank], 0) : status;
    return (status == KEEL_OK && rank == 0 && *sum != 3) ? KEEL_ERR_CORRUPT : status;
}

static keel_status_t set(few_t *few, uint32_t rank, keel_win_h win, uint64_t value, int *has)
{
    keel_status_t status = keel_atomic(win, KEEL_ATOMIC_SET, 0, WORD * sizeof(value), sizeof(value), value, 0, NULL);

    status = (status == KEEL_OK) ? keel_flush(few->ctx[rank], 0) : status;
    *has |= status == KEEL_OK;
    return status;
}

static keel_status_t phases_waited(few_t *few, uint32_t rank, keel_win_h win)
{
    job_t *job = (job_t *)few;
    const uint64_t *word = (const uint64_t *)keel_win_base(win) + WORD;
    keel_status_t status = KEEL_OK;
    uint64_t seen = 7;

    if (rank == 1) {
        status = keel_wait_until(win, FLAG * sizeof(uint64_t), sizeof(uint64_t), KEEL_COMPARE_NE, 0);
        status = (status == KEEL_OK) ? set(few, rank, win, 5, &job->has_one) : status;
    } else if (rank == 2) {
        status = flag_put(few, rank, 1, win);
        status = (status == KEEL_OK) ? progress_until(few, rank, &job->has_one) : status;
        status = (status == KEEL_OK) ? set(few, rank, win, 7, &job->has_two) : status;
    } else {
        status = progress_until(few, rank, &job->has_two);
        status = (status == KEEL_OK)
                     ? keel_wait_until(win, WORD * sizeof(uint64_t), sizeof(uint64_t), KEEL_COMPARE_NE, 0)
                     : status;
        seen = *word;
        status = (status == KEEL_OK) ? keel_put(win, 1, WORD * sizeof(seen), &seen, sizeof(seen)) : status;
        status = (status == KEEL_OK) ? keel_flush(few->ctx[0], 1) : status;
        job->is_forwarded |= status == KEEL_OK;
        status = (status == KEEL_OK) ? progress_until_death(few, rank) : status;
    }
    status = (status == KEEL_OK && seen != 5 && seen != 7) ? KEEL_ERR_CORRUPT : status;
    return (status == KEEL_OK) ? keel_gsync(few->ctx[rank], 0) : status;
}

static void strike_waited(few_t *few)
{
    if (few->deaths == 0 && ((const job_t *)few)->is_forwarded) {
        few_kill(few, 0);
    }
}

static keel_status_t phases_own(few_t *few, uint32_t rank, keel_win_h win)
{
    job_t *job = (job_t *)few;
    keel_status_t status = KEEL_OK;
    uint64_t found = 10;

    if (rank == 0) {
        while (few->deaths > 0 && !job->is_forwarded && status == KEEL_OK) { /* late */
            status = few_progress(few, rank);
        }
        status = (status == KEEL_OK)
                     ? keel_atomic(win, KEEL_ATOMIC_ADD, 0, WORD * sizeof(found), sizeof(found), 1, 0, NULL)
                     : status;
        job->has_one |= status == KEEL_OK;
    } else if (rank == 1) {
        status = progress_until(few, rank, &job->has_one);
        status = (status == KEEL_OK) ? set(few, rank, win, 10, &job->has_two) : status;
        status = (status == KEEL_OK) ? progress_until_death(few, rank) : status;
        status = (status == KEEL_OK)
                     ? keel_atomic(win, KEEL_ATOMIC_CSWAP, 0, WORD * sizeof(found), sizeof(found), 20, 10, &found)
                     : status;
        job->is_forwarded |= status == KEEL_OK;
    }
    status = (status == KEEL_OK && found != 10 && found != 11) ? KEEL_ERR_CORRUPT : status;
    return (status == KEEL_OK) ? keel_gsync(few->ctx[rank], 0) : status;
}

static void strike_own(few_t *few)
{
    if (few->deaths == 0 && ((const job_t *)few)->has_two) {
        few_kill(few, 0);
    }
}

static keel_status_t fetch(keel_win_h win, uint64_t *found)
{
    return keel_atomic(win, KEEL_ATOMIC_ADD, 0, WORD * sizeof(*found), sizeof(*found), 1, 0, found);
}

static keel_status_t phases_unhanded(few_t *few, uint32_t rank, keel_win_h win)
{
    job_t *job = (job_t *)few;
    keel_status_t status = KEEL_OK;
    uint64_t first = 0, second = 1;

    while (rank == 1 && few->deaths == 2 && !job->is_forwarded && status == KEEL_OK) { /* late */
        status = few_progress(few, rank);
    }
    if (rank == 1) {
        status = (status == KEEL_OK)
                     ? keel_atomic(win, KEEL_ATOMIC_ADD, 0, WORD * sizeof(first), sizeof(first), 5, 0, NULL)
                     : status;
        status = (status == KEEL_OK) ? keel_flush(few->ctx[1], 0) : status;
        job->has_one |= status == KEEL_OK;
    } else if (rank == 2) {
        status = progress_until(few, rank, &job->has_one);
        status = (status == KEEL_OK) ? fetch(win, &first) : status;
        job->has_two |= status == KEEL_OK;
    }
    while (rank > 0 && few->deaths < 2 && status == KEEL_OK) {
        status = few_progress(few, rank);
    }
    if (rank == 2) {
        status = (status == KEEL_OK) ? fetch(win, &second) : status;
        job->is_forwarded |= status == KEEL_OK;
    }
    status = (status == KEEL_OK && second <= first) ? KEEL_ERR_CORRUPT : status;
    return (status == KEEL_OK) ? keel_gsync(few->ctx[rank], 0) : status;
}

static void strike_unhanded(few_t *few)
{
    const keel_context_h zero = few->ctx[0];

    if (few->deaths == 0 && ((const job_t *)few)->has_two) {
        few_kill(few, 0);
    } else if (few->deaths == 1 && zero != NULL && zero->rec.life == KEEL_LIFE_AWAITING &&
               zero->rec.peer_states[1].received_end == 0) {
        few_kill(few, 1);
    }
}

static keel_status_t phases_again(few_t *few, uint32_t rank, keel_win_h win)
{
    job_t *job = (job_t *)few;
    keel_status_t status = KEEL_OK;

    while (rank == 1 && few->deaths == 1 && status == KEEL_OK) { /* comes late */
        status = few_progress(few, rank);
    }
    if (rank == 1) {
        status = (status == KEEL_OK) ? add(few, rank, win, 1, &job->has_one) : status;
        status = (status == KEEL_OK) ? progress_until_death(few, rank) : status;
    } else if (rank == 2) {
        status = progress_until(few, rank, &job->has_one);
        status = (status == KEEL_OK) ? add(few, rank, win, 2, &job->has_two) : status;
    }
    return end(few, rank, win, status);
}

static void strike_again(few_t *few)
{
    const job_t *job = (const job_t *)few;

    if (few->deaths == 0 && job->has_two) {
        few_kill(few, 1);
    } else if (few->deaths == 1 && few->ctx[1] != NULL && few->ctx[1]->lane.incarnation > 0 &&
               keel_recovery_state(&few->ctx[1]->rec) == KEEL_RANK_FRONT) {
        few_kill(few, 0);
    }
}

int main(void)
{
    static const few_play_t plays[] = {
        {.deaths = 1, .flags = KEEL_PARAM_FLAG_WAITS, .phases = phases_waited, .strike = strike_waited},
        {.deaths = 1, .phases = phases_own, .strike = strike_own},
        {.deaths = 2, .phases = phases_unhanded, .strike = strike_unhanded},
        {.deaths = 2, .phases = phases_again, .strike = strike_again}};
    int status = EXIT_SUCCESS;

    for (unsigned i = 0; i < sizeof(plays) / sizeof(plays[0]); i++) {
        few_play_t play = plays[i];

        play.ranks = RANKS;
        play.windows = 1;
        play.lanes = "KEEL_LANES=direct";
        status |= few_main(&play, sizeof(job_t), SEEDS);
    }
    return status;
}
