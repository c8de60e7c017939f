/*
 * A program with stores to its neighbours' windows by address, and loads to wait for them.
 * Survivors request the addresses once in their lives.
 *
 *   pointers STEPS -|RANK@STEP.PLACE,... [declared]
 *       the named ranks die there in their first incarnation: 0 between the stores, 1 before
 *       the flag, 2 after the wait
 */
#include "deaths.h"
#include "try.h"

#include <keel/keel.h>

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SAVE_EVERY = 5, EXIT_WRONG = 1, EXIT_USAGE = 2, EXIT_KEEL = 3, RANKS_MAX = 16, NUMBERS = 2000 };

typedef struct {
    uint64_t flag[RANKS_MAX];
    /* added to by all ranks of the node, by plain instructions and by keel_atomic() */
    uint64_t sum;
    uint64_t number[NUMBERS];
} memory_t;

typedef struct {
    const char *deaths;
    uint64_t steps, step; /* step is protected */
    keel_context_h ctx;
    keel_win_h win;
    memory_t *at[RANKS_MAX];
    uint32_t rank, size;
    unsigned mapped;
} job_t;

static void die_here(const job_t *job, unsigned place)
{
    die_when_said(keel_incarnation(job->ctx) == 0 ? job->deaths : NULL, job->rank, job->step, place);
}

static void wrong(const job_t *job, const char *what, uint32_t rank, uint64_t is)
{
    fprintf(stderr, "pointers: rank %u, step %lu: %s of rank %u is %lu\n", job->rank, (unsigned long)job->step, what,
            rank, (unsigned long)is);
    exit(EXIT_WRONG);
}

/* A known address never changes. */
static keel_status_t ask_all(job_t *job)
{
    job->mapped = 0;
    for (uint32_t r = 0; r < job->size; r++) {
        void *at = job;

        TRY(keel_win_ptr(job->win, r, &at));
        if (job->at[r] != NULL && at != job->at[r]) {
            wrong(job, "another address", r, (uintptr_t)at);
        }
        job->at[r] = at;
        job->mapped += (at != NULL);
    }
    return KEEL_OK;
}

/* Stores the right neighbour's numbers, and then the flag that the neighbour waits for. */
static keel_status_t say(job_t *job, uint32_t right)
{
    memory_t *there = job->at[right];
    const uint64_t said = job->step + 1;

    for (unsigned i = 0; i < NUMBERS; i++) {
        const uint64_t number = said * (i + job->rank);

        if (i == NUMBERS / 2) {
            die_here(job, 0);
        }
        if (there != NULL) {
            there->number[i] = number;
        } else {
            TRY(keel_put(job->win, right, offsetof(memory_t, number) + i * sizeof(number), &number, sizeof(number)));
        }
    }
    if (there != NULL && job->step % 2 == 0) {
        (void)__atomic_fetch_add(&there->sum, said, __ATOMIC_RELAXED);
    } else {
        TRY(keel_atomic(job->win, KEEL_ATOMIC_ADD, right, offsetof(memory_t, sum), sizeof(said), said, 0, NULL));
    }
    die_here(job, 1);
    if (there != NULL) {
        __atomic_store_n(&there->flag[job->rank], said, __ATOMIC_RELEASE);
        return KEEL_OK;
    }
    TRY(keel_flush(job->ctx, right));
    TRY(keel_put(job->win, right, offsetof(memory_t, flag) + job->rank * sizeof(said), &said, sizeof(said)));
    return keel_flush(job->ctx, right);
}

static keel_status_t step(job_t *job)
{
    const uint32_t right = (job->rank + 1) % job->size, left = (job->rank + job->size - 1) % job->size;
    const memory_t *own = keel_win_base(job->win);
    const uint64_t said = job->step + 1;

    TRY(say(job, right));
    while (__atomic_load_n(&own->flag[left], __ATOMIC_ACQUIRE) < said) {
        if (job->at[right] != NULL) { /* whether the neighbour is alive or not */
            job->at[right]->number[0] = said * job->rank;
        }
        TRY(keel_progress(job->ctx));
    }
    die_here(job, 2);
    for (unsigned i = 0; i < NUMBERS; i++) {
        if (own->number[i] != said * (i + left)) {
            wrong(job, "a number", left, own->number[i]);
        }
    }
    job->step++;
    return keel_gsync(job->ctx, (job->step % SAVE_EVERY == 0) ? KEEL_GSYNC_SAFE : 0);
}

static keel_status_t run(job_t *job)
{
    keel_status_t status = KEEL_OK;

    do {
        status = keel_restarted(job->ctx) ? keel_restore(job->ctx) : KEEL_OK;
        status = (status == KEEL_OK) ? ask_all(job) : status;
        while (status == KEEL_OK && job->step < job->steps) {
            status = step(job);
        }
    } while (status == KEEL_ERR_ROLLED_BACK);
    return status;
}

int main(int argc, char **argv)
{
    const int is_declared = argc == 4;
    const keel_params_t params = {.field_mask = KEEL_PARAM_FIELD_FLAGS,
                                  .flags = is_declared ? KEEL_PARAM_FLAG_NONDETERMINISTIC : 0};
    job_t job = {.steps = (argc > 2) ? strtoul(argv[1], NULL, 10) : 0, .deaths = (argc > 2) ? argv[2] : NULL};
    keel_stats_t stats;
    uint64_t sum;

    if (argc > 4 || job.steps == 0 || (is_declared && strcmp(argv[3], "declared") != 0)) {
        fprintf(stderr, "usage: pointers STEPS -|RANK@STEP.PLACE,... [declared]\n");
        return EXIT_USAGE;
    }
    if (keel_init(&params, &job.ctx) != KEEL_OK || (job.size = keel_size(job.ctx)) > RANKS_MAX) {
        return EXIT_KEEL;
    }
    job.rank = keel_rank(job.ctx);
    if (keel_win_alloc(job.ctx, sizeof(memory_t), NULL, &job.win) != KEEL_OK ||
        keel_protect(job.ctx, 1, &job.step, sizeof(job.step)) != KEEL_OK || run(&job) != KEEL_OK ||
        keel_stats(job.ctx, &stats, sizeof(stats)) != KEEL_OK) {
        return EXIT_KEEL;
    }
    sum = ((const memory_t *)keel_win_base(job.win))->sum;
    if (sum != job.steps * (job.steps + 1) / 2) {
        wrong(&job, "the sum", job.rank, sum);
    }
    if (job.rank == 1) {
        printf("pointers: %u ranks, %u mapped, %lu steps, %lu rollbacks: right\n", job.size, job.mapped,
               (unsigned long)job.steps, (unsigned long)stats.rollbacks);
    }
    return (keel_finalize(job.ctx) == KEEL_OK) ? 0 : EXIT_WRONG;
}
