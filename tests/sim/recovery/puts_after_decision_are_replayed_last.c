/*
 * Rank 2 dies while waiting. After the decision, rank 0 puts a word to rank 2. Rank 1, which waited
 * for rank 0, then puts to the same place, and puts the word that rank 2 waits for. The replacement
 * requests records from rank 0 before rank 0 puts, and from rank 1 after rank 1 puts. The word of
 * rank 1 must come last.
 */
#include "few_ranks.h"

#include <stdlib.h>

#define RANKS 3
#define SEEDS 20
#define FRONT 2u /* phase of the puts */
#define FLAG  8  /* offset of the awaited word */

static const char *const lanes[] = {"KEEL_LANES=served", "KEEL_LANES=direct"};

typedef struct job {
    few_t few;
    int is_flagged; /* rank 0 has put, and has signalled rank 1 */
} job_t;

static keel_status_t put_and_signal(few_t *few, uint32_t rank, keel_win_h win, uint32_t waiter)
{
    const uint64_t word = rank + 1, flag = 1;
    keel_status_t status = keel_put(win, 2, 0, &word, sizeof(word));

    status = (status == KEEL_OK) ? keel_fence(few->ctx[rank]) : status;
    return (status == KEEL_OK) ? keel_put(win, waiter, FLAG, &flag, sizeof(flag)) : status;
}

/* Waits until the phases before @a phase have been sent to the replacement. */
static keel_status_t await_sent(few_t *few, uint32_t rank, uint32_t phase)
{
    const keel_recovery_t *rec = &few->ctx[rank]->rec;
    keel_status_t status = KEEL_OK;

    while (status == KEEL_OK &&
           (few->deaths == 0 || keel_recovery_is_frozen(rec) || rec->peer_states[2].handed_over_end < phase)) {
        status = few_progress(few, rank);
    }
    return status;
}

static keel_status_t first(few_t *few, keel_win_h win)
{
    keel_status_t status = await_sent(few, 0, FRONT + 1);

    status = (status == KEEL_OK) ? put_and_signal(few, 0, win, 1) : status;
    status = (status == KEEL_OK) ? keel_flush(few->ctx[0], 1) : status;
    ((job_t *)few)->is_flagged = 1;
    return status;
}

static keel_status_t second(few_t *few, keel_win_h win)
{
    keel_status_t status = await_sent(few, 1, FRONT);

    /* makes no progress, so rank 1 does not see the request for this phase */
    while (!((const job_t *)few)->is_flagged) {
        keel_sim_compute(few->sim, 1000);
    }
    status = (status == KEEL_OK) ? keel_wait_until(win, FLAG, sizeof(uint64_t), KEEL_COMPARE_EQ, 1) : status;
    return (status == KEEL_OK) ? put_and_signal(few, 1, win, 2) : status;
}

static keel_status_t phases(few_t *few, uint32_t rank, keel_win_h last)
{
    const uint64_t *own = keel_win_base(last);
    keel_status_t status = keel_gsync(few->ctx[rank], 0);

    if (status == KEEL_OK) {
        status = (rank == 0)   ? first(few, last)
                 : (rank == 1) ? second(few, last)
                               : keel_wait_until(last, FLAG, sizeof(*own), KEEL_COMPARE_EQ, 1);
    }
    if (status == KEEL_OK && rank == 2 && *own != 2) {
        status = KEEL_ERR_CORRUPT;
    }
    status = (status == KEEL_OK) ? keel_gsync(few->ctx[rank], 0) : status;
    return (status == KEEL_OK && rank == 2 && *own != 2) ? KEEL_ERR_CORRUPT : status;
}

static void strike(few_t *few)
{
    int are_there = few->deaths == 0;

    for (uint32_t r = 0; r < RANKS; r++) {
        are_there &= few->ctx[r] != NULL && few->ctx[r]->rec.phase == FRONT;
    }
    if (are_there) {
        few_kill(few, 2);
    }
}

int main(void)
{
    int status = EXIT_SUCCESS;

    for (unsigned i = 0; i < sizeof(lanes) / sizeof(lanes[0]); i++) {
        const few_play_t play = {.ranks = RANKS,
                                 .deaths = 1,
                                 .windows = 1,
                                 .flags = KEEL_PARAM_FLAG_WAITS,
                                 .lanes = lanes[i],
                                 .phases = phases,
                                 .strike = strike};

        status |= few_main(&play, sizeof(job_t), SEEDS);
    }
    return status;
}
