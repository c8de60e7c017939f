/*
 * Rank 1 acts under a high clock. Rank 2 learns of the act, puts over a word that rank 1 had put to
 * rank 0, and dies. Its replacement learns of the act from a record, and must go beyond the same
 * clock. Rank 0 dies too. The put that the replacement logged again must be replayed behind the put
 * of rank 1.
 *
 *   poll     rank 2 polls a word of rank 0 after a put of rank 1
 *   fetch    rank 2 fetches a word of rank 0 after an addition of rank 1
 *   answer   rank 2 waits for a put of rank 1
 *   own      rank 2 fetches from its own memory after an addition of rank 1
 *
 *   sim_sync_replacement_exceeds_recorded_clocks [CASE]
 */
#include "few_ranks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEEDS    10
#define OLD      7777u
#define NEW      5555u
#define LATER_NS 2000000 /* time after which all ranks have handed over to the replacement */
#define TICKS    5       /* waits of rank 1; each wait advances its clock */

/* offsets in each rank's window */
enum { A = 0, GO = 8, FLAG = 16, COUNT = 24 };

typedef struct job job_t;
struct job {
    few_t few;
    keel_status_t (*learn)(job_t *job, keel_win_h win);
    int is_first_done, is_second_done; /* ranks 1 and 2 have finished their acts */
    uint64_t back_ns;                  /* time at which rank 2 is back */
};

static keel_status_t put(job_t *job, uint32_t rank, keel_win_h win, uint32_t target, uint64_t offset, uint64_t word)
{
    keel_status_t status = keel_put(win, target, offset, &word, sizeof(word));

    return (status == KEEL_OK) ? keel_flush(job->few.ctx[rank], target) : status;
}

/* ---- ways in which rank 2 learns of the acts of rank 1 ---- */

static keel_status_t learn_poll(job_t *job, keel_win_h win)
{
    keel_status_t status = KEEL_OK;
    uint64_t word = 0;

    while (status == KEEL_OK && word != 1) {
        keel_sim_compute(job->few.sim, 1000);
        status = keel_poll(win, 0, FLAG, &word, sizeof(word));
    }
    return status;
}

static keel_status_t learn_count(job_t *job, keel_win_h win, uint32_t rank)
{
    keel_status_t status = KEEL_OK;
    uint64_t word = 0;

    while (status == KEEL_OK && word == 0) {
        keel_sim_compute(job->few.sim, 1000);
        status = keel_atomic(win, KEEL_ATOMIC_ADD, rank, COUNT, sizeof(word), 0, 0, &word);
    }
    return status;
}

static keel_status_t learn_fetch(job_t *job, keel_win_h win)
{
    return learn_count(job, win, 0);
}

static keel_status_t learn_own(job_t *job, keel_win_h win)
{
    return learn_count(job, win, 2);
}

static keel_status_t learn_answer(job_t *job, keel_win_h win)
{
    keel_word_t word = {.win = win, .offset = FLAG, .size = 8, .compare = KEEL_COMPARE_EQ, .value = 1};

    return keel_wait(job->few.ctx[2], KEEL_WAIT_ANY, &word, 1, NULL);
}

/* ---- the program ---- */

static keel_status_t first(job_t *job, keel_win_h win)
{
    keel_status_t status = KEEL_OK;

    for (uint64_t i = 1; i <= TICKS && status == KEEL_OK; i++) {
        status = keel_wait_until(win, GO, 8, KEEL_COMPARE_EQ, 1);
    }
    status = (status == KEEL_OK) ? put(job, 1, win, 0, A, OLD) : status;
    /* rank 2 looks at only one of the two words */
    for (uint32_t r = 0; r < 3 && status == KEEL_OK; r += 2) {
        status = put(job, 1, win, r, FLAG, 1);
        status = (status == KEEL_OK) ? keel_atomic(win, KEEL_ATOMIC_ADD, r, COUNT, 8, 1, 0, NULL) : status;
        status = (status == KEEL_OK) ? keel_flush(job->few.ctx[1], r) : status;
    }
    return status;
}

static keel_status_t phases(few_t *few, uint32_t rank, keel_win_h win)
{
    job_t *job = (job_t *)few;
    const uint64_t *own = keel_win_base(win);
    keel_status_t status;
    uint64_t word;

    if (rank == 0) {
        status = put(job, 0, win, 1, GO, 1);
        status = (status == KEEL_OK) ? few_await_deaths(&job->few, 0, 2) : status;
    } else if (rank == 1) {
        status = first(job, win);
        job->is_first_done |= status == KEEL_OK;
    } else {
        status = job->learn(job, win);
        status = (status == KEEL_OK) ? put(job, 2, win, 0, A, NEW) : status;
        job->is_second_done |= status == KEEL_OK;
        status = (status == KEEL_OK) ? few_await_deaths(&job->few, 2, 1) : status;
        status =
            /* no rank has a record of this get */
            (status == KEEL_OK) ? keel_get(win, 1, A, &word, sizeof(word)) : status;
        status = (status == KEEL_OK) ? few_await_deaths(&job->few, 2, 2) : status;
    }
    status = (status == KEEL_OK) ? keel_gsync(few->ctx[rank], 0) : status;
    if (status == KEEL_ERR_ROLLED_BACK || (status == KEEL_OK && few->ctx[rank]->rec.rollbacks > 0)) {
        keel_sim_flaw(few->sim, "rank %u.%u rolls back", rank, keel_incarnation(few->ctx[rank]));
    }
    if (status == KEEL_OK && rank == 0 && own[0] != NEW) {
        keel_sim_flaw(few->sim, "what was put last is %u, and there is %lu", NEW, (unsigned long)own[0]);
    }
    return status;
}

static void strike(few_t *few)
{
    job_t *job = (job_t *)few;

    if (few->deaths == 1 && job->back_ns == 0 && few_is_back(few, 2)) {
        job->back_ns = keel_sim_now_ns(few->sim);
    }
    if (few->deaths == 0 && job->is_first_done && job->is_second_done) {
        few_kill(few, 2);
    } else if (few->deaths == 1 && job->back_ns != 0 && keel_sim_now_ns(few->sim) > job->back_ns + LATER_NS) {
        few_kill(few, 0);
    }
}

typedef struct learn_case {
    const char *name;
    keel_status_t (*learn)(job_t *job, keel_win_h win);
} learn_case_t;

static int run_case(const learn_case_t *test, const char *lanes)
{
    const few_play_t play = {.ranks = 3,
                             .deaths = 2,
                             .windows = 1,
                             .flags = KEEL_PARAM_FLAG_WAITS,
                             .lanes = lanes,
                             .phases = phases,
                             .strike = strike};
    int is_right = 1;

    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        job_t job = {.learn = test->learn};

        is_right &= few_run(&job.few, &play, seed);
    }
    if (!is_right) {
        fprintf(stderr, "  case %s, %s\n", test->name, lanes);
    }
    return is_right;
}

int main(int argc, char **argv)
{
    static const learn_case_t cases[] = {
        {"poll", learn_poll}, {"fetch", learn_fetch}, {"answer", learn_answer}, {"own", learn_own}};
    int is_right = 1;

    for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        if (argc < 2 || strcmp(argv[1], cases[i].name) == 0) {
            is_right &= run_case(&cases[i], "KEEL_LANES=direct");
            is_right &= run_case(&cases[i], "KEEL_LANES=served");
        }
    }
    return is_right ? EXIT_SUCCESS : EXIT_FAILURE;
}
