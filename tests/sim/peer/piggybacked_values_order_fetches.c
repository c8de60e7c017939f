/*
 * Ranks 1 and 2 fetch from a word of rank 0, which dies. The reply of rank 0 to rank 1 is lost.
 *   - Rank 2 received a later reply, which piggybacked the value of rank 1.
 *   - Rank 2 accessed the word by stores, without piggybacked values. Only here the job rolls back.
 *   - Rank 0 had not applied the fetch of rank 1. Rank 1 fetches again, after the fetch of rank 2,
 *     and rank 2 is slow to hand its fetch over.
 *   - The same, after an addition by rank 2 from before the first fetch of rank 1.
 */
#include "few_ranks.h"

#include <stdlib.h>

#define RANKS   3
#define SEEDS   40
#define SLOW_NS 3000000

enum { WORD, ONE, TWO };
enum { BY_ONE = 1, BY_TWO = 10, BEFORE = 100 }; /* added values */

typedef struct job {
    few_t few;
    /* the rank that must come first has fetched; rank 2 has done its access */
    int has_one, has_two;
    /* rank 0 has applied the fetch of rank 1, which does not receive the reply */
    int is_applied;
    int is_slow;
} job_t;

static keel_status_t add(keel_win_h win, uint32_t target, uint64_t operand, uint64_t *found)
{
    return keel_atomic(win, KEEL_ATOMIC_ADD, target, WORD * sizeof(*found), sizeof(*found), operand, 0, found);
}

static keel_status_t progress_until(few_t *few, uint32_t rank, const int *is_so)
{
    keel_status_t status = KEEL_OK;

    while (status == KEEL_OK && !*is_so && few->deaths == 0) {
        status = few_progress(few, rank);
    }
    return status;
}

/* Checks that the accesses have one order, and that rank 0 sees the values found. */
static keel_status_t end(few_t *few, uint32_t rank, keel_win_h win, uint64_t found, uint64_t sum)
{
    const uint64_t *own = keel_win_base(win);
    keel_status_t status = (rank == 0) ? KEEL_OK : keel_put(win, 0, rank * sizeof(found), &found, sizeof(found));

    status = (status == KEEL_OK) ? keel_gsync(few->ctx[rank], 0) : status;
    if (status == KEEL_OK && rank == 0 && (own[WORD] != sum || (own[ONE] / BY_TWO % 10 == own[TWO] % BY_TWO))) {
        keel_sim_flaw(few->sim, "rank 1 found %lu, rank 2 %lu, and the word is %lu", own[ONE], own[TWO], own[WORD]);
    }
    if (status == KEEL_OK && rank == 0 && few->play->node == NULL && few->ctx[0]->rec.rollbacks > 0) {
        keel_sim_flaw(few->sim, "the job rolled back");
    }
    return status;
}

/* Rank 1 hangs when rank 0 has applied its fetch, unless the reply comes at once. */
static keel_status_t phases_carried(few_t *few, uint32_t rank, keel_win_h win)
{
    job_t *job = (job_t *)few;
    keel_status_t status = KEEL_OK;
    uint64_t found = 0;

    if (rank == 1) {
        status = progress_until(few, rank, &job->has_one);
        status = (status == KEEL_OK) ? add(win, 0, BY_ONE, &found) : status;
        job->is_applied = 1;
    } else if (rank == 2) {
        job->has_one = 1;
        status = progress_until(few, rank, &job->is_applied);
        status = (status == KEEL_OK) ? add(win, 0, BY_TWO, &found) : status;
        job->has_two |= status == KEEL_OK;
    }
    return (status == KEEL_OK) ? end(few, rank, win, found, BY_ONE + BY_TWO) : status;
}

static void strike_carried(few_t *few)
{
    const keel_context_h zero = few->ctx[0], one = few->ctx[1];
    job_t *job = (job_t *)few;

    if (few->deaths > 0 || zero == NULL || one == NULL) {
        return;
    }
    if (!job->is_applied && one->lane.fetches.open > 0 &&
        zero->lane.peers[1].done == keel_phase_word(one->rec.phase, 1)) {
        job->is_applied = keel_sim_hang(few->sim, 1, SLOW_NS);
    } else if (job->has_two) {
        few_kill(few, 0);
    }
}

/*
 * Rank 0 hangs before rank 1 fetches, and dies. Rank 2 hangs until rank 1 has had time to hand its
 * fetch over.
 */
static keel_status_t phases_again(few_t *few, uint32_t rank, keel_win_h win)
{
    job_t *job = (job_t *)few;
    keel_status_t status = KEEL_OK;
    uint64_t found = 0;

    if (rank == 1) {
        status = progress_until(few, rank, &job->has_two);
        job->has_one = 1;
        status = (status == KEEL_OK) ? add(win, 0, BY_ONE, &found) : status;
    } else if (rank == 2) {
        status = add(win, 0, BY_TWO, &found);
        job->has_two |= status == KEEL_OK;
        status = (status == KEEL_OK) ? progress_until(few, rank, &job->is_applied) : status;
    }
    return (status == KEEL_OK) ? end(few, rank, win, found, BY_ONE + BY_TWO) : status;
}

static keel_status_t phases_twice(few_t *few, uint32_t rank, keel_win_h win)
{
    job_t *job = (job_t *)few;
    keel_status_t status = KEEL_OK;
    uint64_t found = 0;

    if (rank == 1) {
        status = progress_until(few, rank, &job->has_two);
        status = (status == KEEL_OK) ? add(win, 0, BEFORE, &found) : status;
        job->has_one |= status == KEEL_OK;
        status = (status == KEEL_OK) ? add(win, 0, BY_ONE, &found) : status;
    } else if (rank == 2) {
        status = add(win, 0, BY_TWO, NULL);
        status = (status == KEEL_OK) ? keel_flush(few->ctx[2], 0) : status;
        job->has_two |= status == KEEL_OK;
        status = (status == KEEL_OK) ? progress_until(few, rank, &job->is_applied) : status;
    }
    return (status == KEEL_OK) ? end(few, rank, win, found, BEFORE + BY_ONE + BY_TWO) : status;
}

static void strike_again(few_t *few)
{
    const keel_context_h zero = few->ctx[0], one = few->ctx[1], two = few->ctx[2];
    job_t *job = (job_t *)few;

    if (one == NULL || two == NULL) {
        return;
    }
    if (few->deaths == 0 && zero != NULL && job->has_one) {
        if (one->lane.fetches.open > 0) {
            few_kill(few, 0);
        } else {
            (void)keel_sim_hang(few->sim, 0, SLOW_NS);
        }
    } else if (few->deaths > 0 && !job->is_slow && two->rec.decisions > 0) {
        job->is_slow = keel_sim_hang(few->sim, 2, SLOW_NS);
    }
}

int main(void)
{
    static const uint32_t apart[RANKS] = {0, 1, 0};
    static const few_play_t plays[] = {
        {.lanes = "KEEL_LANES=served", .phases = phases_carried, .strike = strike_carried},
        {.lanes = "KEEL_LANES=served",
         .flags = KEEL_PARAM_FLAG_WAITS,
         .phases = phases_carried,
         .strike = strike_carried},
        {.node = apart, .phases = phases_carried, .strike = strike_carried},
        {.lanes = "KEEL_LANES=served", .phases = phases_again, .strike = strike_again},
        {.lanes = "KEEL_LANES=served", .phases = phases_twice, .strike = strike_again}};
    int status = EXIT_SUCCESS;

    for (unsigned i = 0; i < sizeof(plays) / sizeof(plays[0]); i++) {
        few_play_t play = plays[i];

        play.ranks = RANKS;
        play.windows = 1;
        play.deaths = 1;
        status |= few_main(&play, sizeof(job_t), SEEDS);
    }
    return status;
}
