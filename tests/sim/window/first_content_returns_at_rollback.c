/*
 * Windows over the program's own memory, filled before: pages at rank 0, bytes aligned to 8 at rank
 * 1, and at rank 2 Keel's memory with given content. Rank 1 dies before any checkpoint, after its
 * neighbour has put there by a message, so the job rolls back to its start. Each window must then
 * have its first content, and only repeated puts may change it by the end.
 */
#include "few_ranks.h"
#include "sim_given.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEEDS 60
#define PAGE  4096u
#define WORDS 32u
#define FIRST 1000u
#define STEPS 4u

typedef struct job {
    few_t few;
    keel_win_h win[3];
    int is_ready; /* rank 0 has put to rank 1, and both have passed a gsync */
} job_t;

static void fill(uint64_t *words)
{
    for (unsigned i = 0; i < WORDS; i++) {
        words[i] = FIRST + i;
    }
}

static void make(few_t *few, uint32_t rank)
{
    job_t *job = (job_t *)few;
    uint64_t *words = sim_given(2 * PAGE);
    const keel_win_params_t params = {.field_mask = KEEL_WIN_PARAM_FIELD_INITIAL, .initial = words};
    keel_status_t status;

    words += (rank == 1);
    fill(words);
    status = (rank == 2) ? keel_win_alloc(few->ctx[rank], PAGE, &params, &job->win[rank])
                         : keel_win_create(few->ctx[rank], words, PAGE, NULL, &job->win[rank]);
    if (status != KEEL_OK) {
        keel_sim_flaw(few->sim, "rank %u: a window: %s", rank, keel_status_string(status));
    }
}

static keel_status_t check(const few_t *few, uint32_t rank)
{
    const uint64_t *own = keel_win_base(((const job_t *)few)->win[rank]);

    for (unsigned i = STEPS + 1; i < WORDS; i++) {
        if (own[i] != FIRST + i) {
            keel_sim_flaw(few->sim, "rank %u: word %u is %lu", rank, i, (unsigned long)own[i]);
            return KEEL_ERR_CORRUPT;
        }
    }
    return (own[0] == FIRST + STEPS) ? KEEL_OK : KEEL_ERR_CORRUPT;
}

static keel_status_t phases(few_t *few, uint32_t rank, keel_win_h last)
{
    job_t *job = (job_t *)few;
    const keel_win_h win = job->win[rank];
    const uint32_t right = (rank + 1) % 3;
    keel_status_t status = KEEL_OK;

    for (uint64_t step = 1; step <= STEPS && status == KEEL_OK; step++) {
        uint64_t count = 0, found = 0;

        status = keel_get(win, right, 0, &count, sizeof(count));
        count++;
        status = (status == KEEL_OK) ? keel_put(win, right, 0, &count, sizeof(count)) : status;
        status = (status == KEEL_OK) ? keel_put(win, right, step * sizeof(step), &step, sizeof(step)) : status;
        status = (status == KEEL_OK) ? keel_get(win, right, step * sizeof(step), &found, sizeof(found)) : status;
        if (status == KEEL_OK && found != step) {
            status = KEEL_ERR_CORRUPT;
        }
        job->is_ready |= (rank == 0 && step == 3);
        status = (status == KEEL_OK) ? keel_gsync(few->ctx[rank], 0) : status;
    }
    return (status == KEEL_OK) ? check(few, rank) : status;
}

static void strike(few_t *few)
{
    const job_t *job = (const job_t *)few;

    if (few->deaths == 0 && job->is_ready && few->ctx[1] != NULL) {
        few_kill(few, 1);
    }
}

int main(void)
{
    static const few_play_t play = {
        .ranks = 3, .deaths = 1, .lanes = "KEEL_LANES=direct", .begin = make, .phases = phases, .strike = strike};
    static job_t job;
    int is_right = 1;

    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        memset(&job, 0, sizeof(job));
        is_right &= few_run(&job.few, &play, seed);
        sim_given_release();
    }
    return is_right ? EXIT_SUCCESS : EXIT_FAILURE;
}
