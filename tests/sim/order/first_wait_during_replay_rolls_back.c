/*
 * Rank 1 puts a word to rank 0, puts a word to rank 2 as a signal for the first word, and dies. The
 * puts have no numbers, so the replacement puts both words again, late. Meanwhile rank 2 acts on
 * its word and puts over the word at rank 0. The job must roll back when rank 2 begins to do so.
 *
 *   waits    rank 2 waits for its word; no rank has waited before
 *   mixes    rank 2 declares that it does something that no log orders, and loads its word
 *
 *   sim_order_first_wait_during_replay_rolls_back [CASE]
 */
#include "few_ranks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEEDS 20
#define OLD   7777u
#define NEW   5555u

/* offsets in each rank's window */
enum { A = 0, SIGNAL = 8 };

typedef struct job {
    few_t few;
    int mixes;
    int is_signalled; /* the first life of rank 1 has put the word to rank 2 */
    int is_over;      /* rank 2 has put over the word */
} job_t;

static keel_status_t put(few_t *few, uint32_t rank, keel_win_h win, uint32_t target, uint64_t offset, uint64_t word)
{
    keel_status_t status = keel_put(win, target, offset, &word, sizeof(word));

    return (status == KEEL_OK) ? keel_flush(few->ctx[rank], target) : status;
}

/* Rank 1. Its replacement is slow until rank 2 has gone on, or until the job rolls back. */
static keel_status_t put_both(job_t *job, keel_win_h win)
{
    few_t *few = &job->few;
    const keel_context_h ctx = few->ctx[1];
    keel_status_t status = KEEL_OK;

    while (status == KEEL_OK && keel_incarnation(ctx) > 0 && ctx->rec.rollbacks == 0 && !job->is_over) {
        status = few_progress(few, 1);
    }
    status = (status == KEEL_OK) ? put(few, 1, win, 0, A, OLD) : status;
    status = (status == KEEL_OK) ? put(few, 1, win, 2, SIGNAL, 1) : status;
    job->is_signalled = 1;
    while (status == KEEL_OK && few->deaths == 0) {
        status = few_progress(few, 1);
    }
    return status;
}

/* Rank 2, once rank 1 has a replacement. */
static keel_status_t go_on(job_t *job, keel_win_h win)
{
    few_t *few = &job->few;
    const keel_context_h ctx = few->ctx[2];
    const uint64_t *own = keel_win_base(win);
    keel_status_t status = KEEL_OK;

    while (status == KEEL_OK && ctx->lane.peers[1].incarnation == 0) {
        status = few_progress(few, 2);
    }
    if (status == KEEL_OK && job->mixes) {
        status = keel_set_nondeterministic(ctx);
        while (status == KEEL_OK && __atomic_load_n(&own[SIGNAL / 8], __ATOMIC_ACQUIRE) == 0) {
            status = few_progress(few, 2);
        }
    } else if (status == KEEL_OK) {
        status = keel_wait_until(win, SIGNAL, 8, KEEL_COMPARE_EQ, 1);
    }
    status = (status == KEEL_OK) ? put(few, 2, win, 0, A, NEW) : status;
    job->is_over |= status == KEEL_OK;
    return status;
}

static keel_status_t phases(few_t *few, uint32_t rank, keel_win_h win)
{
    job_t *job = (job_t *)few;
    const keel_context_h ctx = few->ctx[rank];
    const uint64_t *own = keel_win_base(win);
    keel_status_t status = (rank == 1) ? put_both(job, win) : (rank == 2) ? go_on(job, win) : KEEL_OK;

    status = (status == KEEL_OK) ? keel_gsync(ctx, 0) : status;
    if (status == KEEL_OK && rank == 0 && own[0] != NEW) {
        keel_sim_flaw(few->sim, "what was put last is %u, and there is %lu", NEW, (unsigned long)own[0]);
    }
    if (status == KEEL_OK && rank == 0 && ctx->rec.rollbacks != 1) {
        keel_sim_flaw(few->sim, "rolled back %lu times", (unsigned long)ctx->rec.rollbacks);
    }
    return status;
}

static void strike(few_t *few)
{
    if (few->deaths == 0 && ((const job_t *)few)->is_signalled) {
        few_kill(few, 1);
    }
}

int main(int argc, char **argv)
{
    static const char *const cases[] = {"waits", "mixes"};
    static const few_play_t play = {
        .ranks = 3, .deaths = 1, .windows = 1, .lanes = "KEEL_LANES=direct", .phases = phases, .strike = strike};
    int is_right = 1;

    for (int i = 0; i < 2; i++) {
        for (uint64_t seed = 1; seed <= SEEDS && (argc < 2 || strcmp(argv[1], cases[i]) == 0); seed++) {
            job_t job = {.mixes = i};

            if (!few_run(&job.few, &play, seed)) {
                fprintf(stderr, "  case %s\n", cases[i]);
                is_right = 0;
            }
        }
    }
    return is_right ? EXIT_SUCCESS : EXIT_FAILURE;
}
