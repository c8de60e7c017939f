/*
 * Rank 1 is the first rank to leave the gsync that makes the window. Rank 1 tests words of its own
 * memory, so rank 2 holds a record of the results. Rank 1 dies, and no rank has accessed anything
 * yet. Another rank puts the word. The replacement of rank 1 must get the recorded results, or the
 * next replacement would get a record that the previous replacement did not get.
 */
#include "few_ranks.h"

#include "oplog/get_log_chunks.h"

#include <stdio.h>

#define SEEDS   20
#define SLOW_NS 12000000 /* longer than rank 1 takes until its tests */
/* progress calls before the first replacement tests: the put of rank 0 would arrive meanwhile */
#define ROUNDS 1000

/* offsets in each rank's window */
enum { WORD = 0, NEVER = 8, REPORT = 16 };

typedef struct job {
    few_t few;
    int is_slow[3];
    int is_over;     /* rank 1 has reported to rank 0 */
    uint64_t result; /* result in the first life that reported to rank 0; 0: no life did */
} job_t;

/* Rank 1 arrives last at the first gsync, so that the other ranks wait inside. */
static void begin(few_t *few, uint32_t rank)
{
    if (rank == 1 && few->deaths == 0) {
        keel_sim_compute(few->sim, SLOW_NS / 4);
    }
}

static keel_status_t put(few_t *few, uint32_t rank, keel_win_h win, uint32_t target, uint64_t offset, uint64_t word)
{
    keel_status_t status = keel_put(win, target, offset, &word, sizeof(word));

    return (status == KEEL_OK) ? keel_flush(few->ctx[rank], target) : status;
}

/* Tests the word. Result 1: the word is not there yet; 2: the word is there. */
static keel_status_t test_word(few_t *few, keel_win_h win, uint64_t *result_p)
{
    keel_word_t words[] = {{.win = win, .offset = WORD, .size = 8, .compare = KEEL_COMPARE_EQ, .value = 1},
                           {.win = win, .offset = NEVER, .size = 8, .compare = KEEL_COMPARE_EQ, .value = 1}};
    keel_status_t status = keel_test(few->ctx[1], KEEL_WAIT_ANY, words, 1, NULL);

    *result_p = (status == KEEL_OK) ? 2 : 1;
    /* a test of other words completes the first record */
    if (status == KEEL_OK || status == KEEL_INPROGRESS) {
        status = keel_test(few->ctx[1], KEEL_WAIT_ALL, words, 2, NULL);
    }
    return (status == KEEL_INPROGRESS) ? KEEL_OK : status;
}

static keel_status_t one(job_t *job, keel_win_h win)
{
    few_t *few = &job->few;
    keel_status_t status = KEEL_OK;
    uint64_t result = 0;

    for (unsigned i = 0; i < ROUNDS && status == KEEL_OK && keel_incarnation(few->ctx[1]) == 1; i++) {
        status = few_progress(few, 1);
    }
    status = (status == KEEL_OK) ? test_word(few, win, &result) : status;
    while (status == KEEL_OK && few->deaths == 0) {
        status = few_progress(few, 1);
    }
    if (status == KEEL_OK && job->result != 0 && job->result != result) {
        keel_sim_flaw(few->sim, "rank 1.%u gets another result", keel_incarnation(few->ctx[1]));
    }
    job->result = result;
    status = (status == KEEL_OK) ? put(few, 1, win, 0, REPORT, result) : status;
    job->is_over |= status == KEEL_OK;
    return (status == KEEL_OK) ? few_await_deaths(few, 1, 2) : status;
}

static keel_status_t phases(few_t *few, uint32_t rank, keel_win_h win)
{
    job_t *job = (job_t *)few;
    keel_status_t status = KEEL_OK;

    if (rank == 1) {
        status = one(job, win);
    } else if (rank == 0) {
        status = few_await_deaths(few, 0, 1);
        while (status == KEEL_OK && few->ctx[0]->lane.peers[1].incarnation == 0) {
            status = few_progress(few, 0);
        }
        status = (status == KEEL_OK) ? put(few, 0, win, 1, WORD, 1) : status;
    }
    status = (status == KEEL_OK) ? keel_gsync(few->ctx[rank], 0) : status;
    if (status == KEEL_ERR_ROLLED_BACK) {
        keel_sim_flaw(few->sim, "rank %u.%u rolls back", rank, keel_incarnation(few->ctx[rank]));
    }
    return status;
}

static void strike(few_t *few)
{
    const keel_context_h ctx = few->ctx[1], holder = few->ctx[2];
    job_t *job = (job_t *)few;

    /* rank 1 alone leaves the first gsync */
    for (uint32_t r = 0; r < 3 && few->deaths == 0; r += 2) {
        if (!job->is_slow[r] && ctx != NULL && ctx->rec.phase == 1 && few->ctx[r]->rec.phase == 0) {
            job->is_slow[r] = keel_sim_hang(few->sim, r, SLOW_NS);
        }
    }
    if (few->deaths == 0 && ctx != NULL && holder != NULL && ctx->rec.phase == 1 &&
        keel_get_log_has_phase(&holder->gets, 1)) {
        few_kill(few, 1);
    } else if (few->deaths == 1 && job->is_over) {
        few_kill(few, 1);
    }
}

int main(void)
{
    static const few_play_t play = {.ranks = 3,
                                    .deaths = 2,
                                    .windows = 1,
                                    .flags = KEEL_PARAM_FLAG_WAITS,
                                    .lanes = "KEEL_LANES=direct",
                                    .begin = begin,
                                    .phases = phases,
                                    .strike = strike};

    return few_main(&play, sizeof(job_t), SEEDS);
}
