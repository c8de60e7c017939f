/*
 * The other ranks map the pages that the program gives to a window. The replacement of rank 1 gives
 * memory that is no page: other ranks access the window by messages, without a log. The job rolls
 * back, whether a record has to be handed over, or a put of rank 0 waits for the replacement
 * because the log of rank 0 is full.
 */
#include "few_ranks.h"
#include "sim_given.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEEDS 100
#define PAGE  4096u
#define STEPS 6u
#define FIRST 3u  /* step of rank 0's first put to rank 1, with a full log */
#define FILL  40u /* puts of half a page: more than a log of 64k holds */

typedef struct job {
    few_t few;
    keel_win_h win[3];
    unsigned begun; /* ranks in phases() of the first life */
    uint64_t calls; /* of strike() since all ranks have begun */
    uint64_t when;  /* call at which rank 1 dies */
    int is_late;    /* rank 1 is in its last phase but one */
    int is_filled;  /* rank 0 fills its log before its first put to rank 1 */
} job_t;

static void make(few_t *few, uint32_t rank)
{
    job_t *job = (job_t *)few;
    char *bytes = sim_given(2 * PAGE);

    bytes += (rank == 1 && keel_incarnation(few->ctx[rank]) > 0) ? sizeof(uint64_t) : 0;
    if (keel_win_create(few->ctx[rank], bytes, PAGE, NULL, &job->win[rank]) != KEEL_OK) {
        keel_sim_flaw(few->sim, "rank %u has no window", rank);
    }
}

/* whether @a rank puts to the next one in this step */
static int does_put(const job_t *job, uint32_t rank, uint64_t step)
{
    return rank != 0 || !job->is_filled || step >= FIRST;
}

static keel_status_t put(const job_t *job, keel_win_h win, uint32_t rank, uint64_t step)
{
    static const char zeros[PAGE / 2];
    const uint64_t word = 10 * step + rank;
    keel_status_t status = KEEL_OK;

    if (!does_put(job, rank, step)) {
        return KEEL_OK;
    }
    for (unsigned i = 0; rank == 0 && job->is_filled && i < job->when % FILL && status == KEEL_OK; i++) {
        status = keel_put(win, 2, PAGE / 2, zeros, sizeof(zeros));
    }
    return (status == KEEL_OK) ? keel_put(win, (rank + 1) % 3, (step % 2) * sizeof(word), &word, sizeof(word)) : status;
}

static keel_status_t phases(few_t *few, uint32_t rank, keel_win_h last)
{
    job_t *job = (job_t *)few;
    const keel_win_h win = job->win[rank];
    uint64_t *own = keel_win_base(win);
    keel_status_t status = KEEL_OK;

    job->begun += few->deaths == 0;
    for (uint64_t step = own[8]; step < STEPS && status == KEEL_OK; step++) {
        own[8] = step + 1;
        job->is_late |= rank == 1 && step == (job->is_filled ? FIRST : STEPS - 2);
        status = put(job, win, rank, step);
        status = (status == KEEL_OK) ? keel_gsync(few->ctx[rank], 0) : status;
        if (status == KEEL_OK && does_put(job, (rank + 2) % 3, step) && own[step % 2] != 10 * step + (rank + 2) % 3) {
            keel_sim_flaw(few->sim, "rank %u has %lu in step %lu", rank, (unsigned long)own[step % 2],
                          (unsigned long)step);
            status = KEEL_ERR_CORRUPT;
        }
    }
    return status;
}

static void strike(few_t *few)
{
    job_t *job = (job_t *)few;

    job->calls += job->begun == 3;
    if (few->deaths == 0 && few->ctx[1] != NULL && (job->calls >= job->when || job->is_late)) {
        few_kill(few, 1);
    }
}

int main(void)
{
    static const few_play_t plays[2] = {
        {.ranks = 3, .deaths = 1, .lanes = "KEEL_LANES=direct", .begin = make, .phases = phases, .strike = strike},
        {.ranks = 3, .deaths = 1, .lanes = "KEEL_OPLOG_SIZE=64k", .begin = make, .phases = phases, .strike = strike}};
    static job_t job;
    int is_right = 1;

    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        for (int is_filled = 0; is_filled < 2; is_filled++) {
            job = (job_t){.when = 1 + seed, .is_filled = is_filled};
            is_right &= few_run(&job.few, &plays[is_filled], seed);
            sim_given_release();
        }
    }
    return is_right ? EXIT_SUCCESS : EXIT_FAILURE;
}
