/*
 * A program that sums histograms at its neighbours as MPI programs do: accumulates of all types,
 * longer than a message, together with atomics on the same words, fetched tickets, and writes
 * ordered by source.
 *
 *   accumulates STEPS -|RANK@STEP.PLACE,... [declared]
 *       the named ranks die there in their first incarnation: 0 after the long accumulate,
 *       1 with a ticket, 2 before the gsync
 */
#include "deaths.h"
#include "try.h"

#include <keel/keel.h>

#include <complex.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SAVE_EVERY = 5,
    EXIT_WRONG = 1,
    EXIT_USAGE = 2,
    EXIT_KEEL = 3,
    RANKS_MAX = 16,
    BINS = 20000,
    TICKETS = 4096,
    KEPT = 77
};

typedef struct {
    double value;
    int32_t index, kept; /* `kept` is part of no pair */
} best_t;

typedef struct {
    double bin[BINS]; /* longer than two messages */
    uint64_t tickets, total;
    uint16_t small;
    int8_t least, most;
    float product;
    uint32_t drawn[TICKETS]; /* at rank 0, how often each ticket was drawn */
    uint64_t last[RANKS_MAX];
    long double wide __attribute__((aligned(16))); /* the own rank adds to this value, too */
    double complex turned __attribute__((aligned(16)));
    best_t best __attribute__((aligned(16)));
} memory_t;

typedef struct {
    const char *deaths;
    uint64_t steps, step; /* step is protected */
    keel_context_h ctx;
    keel_win_h win;
    uint32_t rank, size;
    double bin[BINS], before[BINS];
} job_t;

static void die_here(const job_t *job, unsigned place)
{
    die_when_said(keel_incarnation(job->ctx) == 0 ? job->deaths : NULL, job->rank, job->step, place);
}

static void wrong(const job_t *job, const char *what, double is)
{
    fprintf(stderr, "accumulates: rank %u, step %lu: %s is %g\n", job->rank, (unsigned long)job->step, what, is);
    exit(EXIT_WRONG);
}

static keel_status_t sum_bins(job_t *job, uint32_t target)
{
    for (unsigned i = 0; i < BINS; i++) {
        job->bin[i] = (double)i * (job->rank + 1);
    }
    TRY(keel_accumulate(job->win, KEEL_OP_SUM, KEEL_TYPE_DOUBLE, target, offsetof(memory_t, bin), job->bin, BINS,
                        (job->step % 2 == 0) ? job->before : NULL));
    for (unsigned i = 1; i < BINS && job->step % 2 == 0; i++) { /* sums of whole numbers */
        if (job->before[i] / i != (double)(long)(job->before[i] / i)) {
            wrong(job, "a bin before", job->before[i]);
        }
    }
    return KEEL_OK;
}

static keel_status_t combine(job_t *job, uint32_t target)
{
    const uint64_t one = 1, half = 5;
    const int8_t small[2] = {(int8_t)(-(int)(job->step % 100)), (int8_t)(job->step % 100)};
    const float factor = -1;
    const long double wide = 0x1p-50L + 1;
    const double complex turned = I;
    const best_t best = {(double)(job->step / 2), (int32_t)job->rank, 1};
    keel_req_h req = NULL;
    keel_status_t status;
    uint64_t found = 0;

    TRY(keel_accumulate(job->win, KEEL_OP_SUM, KEEL_TYPE_UINT64, target, offsetof(memory_t, total), &half, 1, NULL));
    TRY(keel_atomic(job->win, KEEL_ATOMIC_ADD, target, offsetof(memory_t, total), 8, 2, 0, NULL));
    TRY(keel_atomic(job->win, KEEL_ATOMIC_ADD, target, offsetof(memory_t, small), 2, 3, 0, NULL));
    TRY(keel_accumulate(job->win, KEEL_OP_MIN, KEEL_TYPE_INT8, target, offsetof(memory_t, least), &small[0], 1, NULL));
    TRY(keel_accumulate(job->win, KEEL_OP_MAX, KEEL_TYPE_INT8, target, offsetof(memory_t, most), &small[1], 1, NULL));
    TRY(keel_accumulate(job->win, KEEL_OP_PROD, KEEL_TYPE_FLOAT, target, offsetof(memory_t, product), &factor, 1,
                        NULL));
    TRY(keel_accumulate(job->win, KEEL_OP_SUM, KEEL_TYPE_LONG_DOUBLE, target, offsetof(memory_t, wide), &wide, 1,
                        NULL));
    TRY(keel_accumulate(job->win, KEEL_OP_SUM, KEEL_TYPE_LONG_DOUBLE, job->rank, offsetof(memory_t, wide), &wide, 1,
                        NULL));
    TRY(keel_accumulate(job->win, KEEL_OP_PROD, KEEL_TYPE_DOUBLE_COMPLEX, target, offsetof(memory_t, turned), &turned,
                        1, NULL));
    TRY(keel_accumulate(job->win, KEEL_OP_MAXLOC, KEEL_TYPE_DOUBLE_INT32, target, offsetof(memory_t, best), &best, 1,
                        NULL));
    TRY(keel_accumulate(job->win, KEEL_OP_SUM, KEEL_TYPE_UINT64, 0, offsetof(memory_t, tickets), &one, 1, &found));
    die_here(job, 1);
    status =
        keel_accumulate_nbx(job->win, KEEL_OP_BXOR, KEEL_TYPE_UINT32, 0,
                            offsetof(memory_t, drawn) + found % TICKETS * sizeof(uint32_t), &one, 1, NULL, NULL, &req);
    return (status == KEEL_INPROGRESS) ? keel_req_wait(req) : status;
}

/* The writes of one rank take effect in order, whichever calls make them. */
static keel_status_t write_in_order(job_t *job, uint32_t target)
{
    const uint64_t offset = offsetof(memory_t, last) + job->rank * sizeof(uint64_t), said = job->step + 1;
    uint64_t value = said << 8, found = 0;

    TRY(keel_put(job->win, target, offset, &value, sizeof(value)));
    TRY(keel_atomic(job->win, KEEL_ATOMIC_SET, target, offset, sizeof(value), value + 1, 0, NULL));
    value += 2;
    TRY(keel_accumulate(job->win, KEEL_OP_REPLACE, KEEL_TYPE_UINT64, target, offset, &value, 1, NULL));
    TRY(keel_atomic(job->win, KEEL_ATOMIC_FETCH, target, offset, sizeof(value), 0, 0, &found));
    if (found != value) {
        wrong(job, "what was written last", (double)found);
    }
    TRY(keel_atomic(job->win, KEEL_ATOMIC_CSWAP, target, offset, 2, (uint16_t)(value + 1), (uint16_t)value, &found));
    return KEEL_OK;
}

static keel_status_t step(job_t *job)
{
    const uint32_t target = (uint32_t)((job->rank + job->step) % job->size);

    TRY(sum_bins(job, target));
    die_here(job, 0);
    TRY(combine(job, target));
    TRY(write_in_order(job, target));
    die_here(job, 2);
    job->step++;
    return keel_gsync(job->ctx, (job->step % SAVE_EVERY == 0) ? KEEL_GSYNC_SAFE : 0);
}

static void check(const job_t *job)
{
    const memory_t *own = keel_win_base(job->win);
    const double complex turned[4] = {1, I, -1, -I};
    uint64_t sum = 0, last[RANKS_MAX] = {0};
    int32_t index = INT32_MAX;

    for (uint64_t s = 0; s < job->steps; s++) {
        const uint32_t from = (uint32_t)((job->rank + job->size - s % job->size) % job->size);

        sum += from + 1;
        index = (s / 2 == (job->steps - 1) / 2 && (int32_t)from < index) ? (int32_t)from : index;
        last[from] = ((s + 1) << 8) + 3;
    }
    for (unsigned i = 0; i < BINS; i++) {
        if (own->bin[i] != (double)(sum * i)) {
            wrong(job, "a bin", own->bin[i]);
        }
    }
    if (own->total != 7 * job->steps || own->small != 3 * job->steps) {
        wrong(job, "a sum", (double)own->total);
    }
    if (own->least != -(int)(job->steps - 1) || own->most != (int)job->steps - 1) {
        wrong(job, "the least or the most", own->least);
    }
    if (own->product != ((job->steps % 2 == 0) ? 1 : -1)) {
        wrong(job, "the product", own->product);
    }
    if (own->wide != (0x1p-50L + 1) * (2 * job->steps) || own->turned != turned[job->steps % 4]) {
        wrong(job, "a long double, or a complex number", (double)own->wide);
    }
    if (own->best.value != (double)((job->steps - 1) / 2) || own->best.index != index || own->best.kept != KEPT) {
        wrong(job, "the rank with the most", own->best.index);
    }
    if (memcmp(own->last, last, sizeof(last)) != 0) {
        wrong(job, "the last write of rank 0", (double)own->last[0]);
    }
    for (unsigned i = 0; i < job->steps * job->size && job->rank == 0; i++) {
        if (own->drawn[i] != 1) {
            wrong(job, "a ticket", i);
        }
    }
}

static keel_status_t run(job_t *job)
{
    keel_status_t status = KEEL_OK;

    do {
        if (keel_restarted(job->ctx)) {
            status = keel_restore(job->ctx);
        } else {
            ((memory_t *)keel_win_base(job->win))->product = 1;
            ((memory_t *)keel_win_base(job->win))->turned = 1;
            ((memory_t *)keel_win_base(job->win))->best = (best_t){-1, 0, KEPT};
            status = keel_checkpoint(job->ctx);
        }
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
    static job_t job;
    keel_stats_t stats;

    job.steps = (argc > 2) ? strtoul(argv[1], NULL, 10) : 0;
    job.deaths = (argc > 2) ? argv[2] : NULL;
    if (argc > 4 || job.steps == 0 || job.steps > 100 || (is_declared && strcmp(argv[3], "declared") != 0)) {
        fprintf(stderr, "usage: accumulates STEPS(1..100) -|RANK@STEP.PLACE,... [declared]\n");
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
    check(&job);
    if (job.rank == 1) {
        printf("accumulates: %u ranks, %lu steps, %lu rollbacks: right\n", job.size, (unsigned long)job.steps,
               (unsigned long)stats.rollbacks);
    }
    return (keel_finalize(job.ctx) == KEEL_OK) ? 0 : EXIT_WRONG;
}
