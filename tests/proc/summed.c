/*
 * Ranks sum long arrays at each other and at themselves, together with single atomics on some of
 * the same elements. A rank dies some time after the first accumulate of a step began.
 *
 *   summed STEPS RANK STEP US gsyncs|waits
 *       RANK dies US microseconds after the begin of STEP, in its first incarnation
 */
#include "try.h"

#include <keel/keel.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

enum { BINS = 40000, APART = 1021, EXIT_WRONG = 1, EXIT_USAGE = 2, EXIT_KEEL = 3 };

typedef struct {
    uint64_t bin[BINS];
    uint64_t turn; /* written by the left neighbour */
} memory_t;

typedef struct {
    unsigned long steps, victim, death, delay_us, step; /* step is protected */
    int waits;
    keel_context_h ctx;
    keel_win_h win;
    uint32_t rank, size;
    uint64_t values[BINS];
} job_t;

static void die(int signal)
{
    (void)signal;
    (void)kill(getpid(), SIGKILL);
}

static int is_fatal(const job_t *job)
{
    return job->rank == job->victim && job->step == job->death && keel_incarnation(job->ctx) == 0;
}

static keel_status_t sum_all(job_t *job)
{
    const struct itimerval soon = {.it_value = {.tv_usec = (suseconds_t)job->delay_us}};

    for (unsigned i = 0; i < BINS; i++) {
        job->values[i] = (job->rank + 1) * (i + 1);
    }
    if (is_fatal(job)) {
        signal(SIGALRM, die);
        setitimer(ITIMER_REAL, &soon, NULL);
    }
    for (uint32_t i = 1; i <= job->size; i++) {
        const uint32_t target = (job->rank + i) % job->size;

        TRY(keel_accumulate(job->win, KEEL_OP_SUM, KEEL_TYPE_UINT64, target, 0, job->values, BINS, NULL));
        TRY(keel_atomic(job->win, KEEL_ATOMIC_ADD, target, job->step * APART % BINS * sizeof(uint64_t), 8, 1, 0, NULL));
    }
    while (is_fatal(job)) {
        pause();
    }
    return KEEL_OK;
}

static keel_status_t step(job_t *job)
{
    const uint64_t turn = job->step + 1;

    TRY(sum_all(job));
    if (job->waits) {
        TRY(keel_put(job->win, (job->rank + 1) % job->size, offsetof(memory_t, turn), &turn, sizeof(turn)));
        TRY(keel_wait_until(job->win, offsetof(memory_t, turn), sizeof(turn), KEEL_COMPARE_EQ, turn));
    }
    job->step++;
    return keel_gsync(job->ctx, KEEL_GSYNC_SAFE);
}

static unsigned wrong_bins(const job_t *job)
{
    const memory_t *own = keel_win_base(job->win);
    const uint64_t ranks = job->size * (job->size + 1) / 2;
    static uint64_t singles[BINS];
    unsigned wrong = 0;

    for (unsigned long s = 0; s < job->steps; s++) {
        singles[s * APART % BINS] += job->size;
    }
    for (unsigned i = 0; i < BINS; i++) {
        wrong += own->bin[i] != job->steps * ranks * (i + 1) + singles[i];
    }
    return wrong;
}

static keel_status_t run(job_t *job)
{
    keel_status_t status = KEEL_OK;

    do {
        status = keel_restarted(job->ctx) ? keel_restore(job->ctx) : keel_checkpoint(job->ctx);
        while (status == KEEL_OK && job->step < job->steps) {
            status = step(job);
        }
    } while (status == KEEL_ERR_ROLLED_BACK);
    return status;
}

int main(int argc, char **argv)
{
    static job_t job;
    unsigned wrong;

    if (argc != 6 || (job.steps = strtoul(argv[1], NULL, 10)) == 0) {
        fputs("usage: summed STEPS RANK STEP US gsyncs|waits\n", stderr);
        return EXIT_USAGE;
    }
    job.victim = strtoul(argv[2], NULL, 10);
    job.death = strtoul(argv[3], NULL, 10);
    job.delay_us = strtoul(argv[4], NULL, 10);
    job.waits = strcmp(argv[5], "waits") == 0;
    if (keel_init(NULL, &job.ctx) != KEEL_OK) {
        return EXIT_KEEL;
    }
    job.rank = keel_rank(job.ctx);
    job.size = keel_size(job.ctx);
    if (keel_win_alloc(job.ctx, sizeof(memory_t), NULL, &job.win) != KEEL_OK ||
        keel_protect(job.ctx, 1, &job.step, sizeof(job.step)) != KEEL_OK || run(&job) != KEEL_OK) {
        return EXIT_KEEL;
    }
    wrong = wrong_bins(&job);
    if (wrong > 0 || (job.rank == job.victim && keel_incarnation(job.ctx) == 0)) {
        fprintf(stderr, "summed: rank %u: %u wrong sums, incarnation %u\n", job.rank, wrong, keel_incarnation(job.ctx));
        return EXIT_WRONG;
    }
    return (keel_finalize(job.ctx) == KEEL_OK) ? 0 : EXIT_WRONG;
}
