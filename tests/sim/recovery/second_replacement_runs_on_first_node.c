/*
 * Rank 1 sends a word to rank 0 and dies. Its replacement runs on rank 0's node, stores all words,
 * arrives at the gsync and dies behind it. The next replacement runs where the first life ran and
 * repeats the acts of both predecessors. The repetition must count as the same, because the words
 * that the first life sent are not the whole phase. The program gsyncs, or waits.
 */
#include "few_ranks.h"

#include <stdio.h>
#include <stdlib.h>

#define SEEDS 10
#define WORDS 6u

typedef struct job {
    few_t few;
    int is_begun;  /* one word is put */
    unsigned left; /* bit mask of the ranks behind the gsync; rank 1 in its second life */
} job_t;

static keel_status_t put_words(job_t *job, keel_win_h win)
{
    keel_status_t status = KEEL_OK;

    for (uint64_t i = 0; i < WORDS && status == KEEL_OK; i++) {
        const uint64_t word = 100 + i;

        status = keel_put(win, 0, i * sizeof(word), &word, sizeof(word));
        status = (status == KEEL_OK) ? keel_flush(job->few.ctx[1], 0) : status;
        job->is_begun = 1;
        status = (status == KEEL_OK) ? few_await_deaths(&job->few, 1, 1) : status;
    }
    return status;
}

static keel_status_t phases(few_t *few, uint32_t rank, keel_win_h win)
{
    job_t *job = (job_t *)few;
    const keel_context_h ctx = few->ctx[rank];
    const uint64_t *own = keel_win_base(win);
    keel_status_t status = (rank == 1) ? put_words(job, win) : KEEL_OK;

    status = (status == KEEL_OK) ? keel_gsync(ctx, 0) : status;
    job->left |= (status == KEEL_OK) << rank;
    status = (status == KEEL_OK) ? few_await_deaths(&job->few, rank, 2) : status;
    status = (status == KEEL_OK) ? keel_gsync(ctx, 0) : status;
    if (status == KEEL_ERR_ROLLED_BACK || (status == KEEL_OK && ctx->rec.rollbacks > 0)) {
        keel_sim_flaw(few->sim, "rank %u.%u rolls back", rank, keel_incarnation(ctx));
    }
    for (uint64_t i = 0; i < WORDS && status == KEEL_OK && rank == 0; i++) {
        if (own[i] != 100 + i) {
            keel_sim_flaw(few->sim, "what was put, %lu, is lost", (unsigned long)i);
        }
    }
    return status;
}

static void strike(few_t *few)
{
    const job_t *job = (const job_t *)few;

    if (few->deaths == 0 && job->is_begun) {
        few_kill(few, 1);
        keel_sim_move(few->sim, 1, 0);
    } else if (few->deaths == 1 && job->left == 7) {
        few_kill(few, 1);
        keel_sim_move(few->sim, 1, 1);
    }
}

int main(void)
{
    static const uint32_t nodes[] = {0, 1, 2};
    int is_right = 1;

    for (unsigned waits = 0; waits < 2; waits++) {
        const few_play_t play = {.ranks = 3,
                                 .deaths = 2,
                                 .windows = 1,
                                 .flags = (waits > 0) ? (uint64_t)KEEL_PARAM_FLAG_WAITS : 0,
                                 .node = nodes,
                                 .phases = phases,
                                 .strike = strike};

        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
            job_t job = {0};

            is_right &= few_run(&job.few, &play, seed);
        }
        if (!is_right) {
            fprintf(stderr, "  %s\n", (waits > 0) ? "waits" : "gsyncs");
        }
    }
    return is_right ? EXIT_SUCCESS : EXIT_FAILURE;
}
