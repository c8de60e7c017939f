/*
 * A program that locks windows as MPI programs do: counters incremented under exclusive locks, by
 * waits and by tries; all windows locked shared from one gsync to another, with an image in
 * between; and a writer among readers that leave no gap.
 *
 *   window_locks STEPS -|RANK@STEP.PLACE,... [declared]
 *       the named ranks die there in their first incarnation: 0 with two windows of a rank
 *       locked, 1 with all windows shared, 2 after the gsync in that epoch
 */
#include "deaths.h"
#include "try.h"

#include <keel/keel.h>

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXIT_WRONG = 1, EXIT_USAGE = 2, EXIT_KEEL = 3, READS = 20 };

typedef struct {
    uint64_t pair[2]; /* equal, except during a write */
    uint64_t sum;
} memory_t;

typedef struct {
    const char *deaths;
    uint64_t steps;
    struct {
        uint64_t step, is_half;
    } at; /* protected */
    keel_context_h ctx;
    keel_win_h win[2];
    uint32_t rank, size;
} job_t;

static void die_here(const job_t *job, unsigned place)
{
    die_when_said(keel_incarnation(job->ctx) == 0 ? job->deaths : NULL, job->rank, job->at.step, place);
}

static void wrong(const job_t *job, const char *what, uint64_t is)
{
    fprintf(stderr, "window_locks: rank %u, step %lu: %s is %lu\n", job->rank, (unsigned long)job->at.step, what,
            (unsigned long)is);
    exit(EXIT_WRONG);
}

static keel_status_t try_until(keel_win_h win, uint32_t rank, keel_lock_how_t how)
{
    keel_status_t status;

    do {
        status = keel_win_trylock(win, rank, how);
    } while (status == KEEL_INPROGRESS);
    return status;
}

/* Increments a pair word by word, so a reader without the lock may see different words. */
static keel_status_t write_pair(job_t *job, keel_win_h win, uint32_t rank)
{
    uint64_t pair[2];

    TRY(keel_get(win, rank, 0, pair, sizeof(pair)));
    if (pair[0] != pair[1]) {
        wrong(job, "half a pair", pair[0]);
    }
    pair[0]++;
    TRY(keel_put(win, rank, 0, &pair[0], sizeof(pair[0])));
    TRY(keel_flush(job->ctx, rank));
    return keel_put(win, rank, sizeof(pair[0]), &pair[0], sizeof(pair[0]));
}

static keel_status_t sections(job_t *job)
{
    const uint32_t right = (job->rank + 1) % job->size;

    TRY(keel_win_lock(job->win[0], right, KEEL_LOCK_EXCLUSIVE)); /* in this order, at every rank */
    TRY(try_until(job->win[1], right, KEEL_LOCK_EXCLUSIVE));
    TRY(write_pair(job, job->win[0], right));
    die_here(job, 0);
    TRY(write_pair(job, job->win[1], right));
    TRY(keel_win_unlock(job->win[1], right));
    TRY(keel_win_unlock(job->win[0], right));
    TRY(keel_win_lock(job->win[1], 0, KEEL_LOCK_EXCLUSIVE)); /* all ranks at one target */
    TRY(write_pair(job, job->win[1], 0));
    return keel_win_unlock(job->win[1], 0);
}

/* One rank writes, and the others read without a gap. */
static keel_status_t readers(job_t *job)
{
    const uint32_t writer = (uint32_t)(job->at.step % job->size);
    uint64_t pair[2];

    if (job->rank == writer) {
        TRY(keel_win_lock(job->win[0], 0, KEEL_LOCK_EXCLUSIVE));
        TRY(write_pair(job, job->win[0], 0));
        return keel_win_unlock(job->win[0], 0);
    }
    for (unsigned i = 0; i < READS; i++) {
        TRY((i % 2 == 0) ? keel_win_lock(job->win[0], 0, KEEL_LOCK_SHARED)
                         : try_until(job->win[0], 0, KEEL_LOCK_SHARED));
        TRY(keel_get(job->win[0], 0, 0, pair, sizeof(pair)));
        TRY(keel_win_unlock(job->win[0], 0));
        if (pair[0] != pair[1]) {
            wrong(job, "half a pair", pair[0]);
        }
    }
    return KEEL_OK;
}

static keel_status_t begin_epoch(job_t *job)
{
    const uint64_t one = 1;

    TRY(keel_gsync(job->ctx, 0)); /* no rank writes any more */
    for (uint32_t r = 0; r < job->size; r++) {
        TRY(keel_win_lock(job->win[1], r, KEEL_LOCK_SHARED));
        TRY(keel_accumulate(job->win[1], KEEL_OP_SUM, KEEL_TYPE_UINT64, r, offsetof(memory_t, sum), &one, 1, NULL));
    }
    die_here(job, 1);
    job->at.is_half = 1;
    return keel_gsync(job->ctx, KEEL_GSYNC_SAFE);
}

static keel_status_t end_epoch(job_t *job)
{
    const memory_t *own = keel_win_base(job->win[1]);

    die_here(job, 2);
    if (own->sum != (job->at.step + 1) * job->size) {
        wrong(job, "the sum", own->sum);
    }
    for (uint32_t r = 0; r < job->size; r++) {
        TRY(keel_win_unlock(job->win[1], r));
    }
    job->at.is_half = 0;
    job->at.step++;
    return keel_gsync(job->ctx, 0);
}

static keel_status_t step(job_t *job)
{
    if (!job->at.is_half) {
        TRY(sections(job));
        TRY(readers(job));
        TRY(begin_epoch(job));
    }
    return end_epoch(job);
}

static keel_status_t run(job_t *job)
{
    keel_status_t status = KEEL_OK;

    do {
        status = keel_restarted(job->ctx) ? keel_restore(job->ctx) : KEEL_OK;
        while (status == KEEL_OK && job->at.step < job->steps) {
            status = step(job);
        }
    } while (status == KEEL_ERR_ROLLED_BACK);
    return status;
}

static void check(const job_t *job)
{
    const memory_t *first = keel_win_base(job->win[0]), *second = keel_win_base(job->win[1]);
    const uint64_t pairs[2] = {job->steps * (job->rank == 0 ? 2 : 1),
                               job->steps * (job->rank == 0 ? job->size + 1 : 1)};

    if (first->pair[0] != pairs[0] || first->pair[1] != pairs[0]) {
        wrong(job, "the first pair", first->pair[0]);
    }
    if (second->pair[0] != pairs[1] || second->pair[1] != pairs[1]) {
        wrong(job, "the second pair", second->pair[0]);
    }
}

int main(int argc, char **argv)
{
    const int is_declared = argc == 4;
    const keel_params_t params = {.field_mask = KEEL_PARAM_FIELD_FLAGS,
                                  .flags = is_declared ? KEEL_PARAM_FLAG_NONDETERMINISTIC : 0};
    job_t job = {.steps = (argc > 2) ? strtoul(argv[1], NULL, 10) : 0, .deaths = (argc > 2) ? argv[2] : NULL};
    keel_stats_t stats;

    if (argc > 4 || job.steps == 0 || (is_declared && strcmp(argv[3], "declared") != 0)) {
        fprintf(stderr, "usage: window_locks STEPS -|RANK@STEP.PLACE,... [declared]\n");
        return EXIT_USAGE;
    }
    if (keel_init(&params, &job.ctx) != KEEL_OK) {
        return EXIT_KEEL;
    }
    job.rank = keel_rank(job.ctx);
    job.size = keel_size(job.ctx);
    if (keel_win_alloc(job.ctx, sizeof(memory_t), NULL, &job.win[0]) != KEEL_OK ||
        keel_win_alloc(job.ctx, sizeof(memory_t), NULL, &job.win[1]) != KEEL_OK ||
        keel_protect(job.ctx, 1, &job.at, sizeof(job.at)) != KEEL_OK || run(&job) != KEEL_OK ||
        keel_stats(job.ctx, &stats, sizeof(stats)) != KEEL_OK) {
        return EXIT_KEEL;
    }
    check(&job);
    if (job.rank == 1) {
        printf("window_locks: %u ranks, %lu steps, %lu rollbacks: right\n", job.size, (unsigned long)job.steps,
               (unsigned long)stats.rollbacks);
    }
    return (keel_finalize(job.ctx) == KEEL_OK) ? 0 : EXIT_WRONG;
}
