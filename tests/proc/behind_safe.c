/*
 * A program that counts its step before a safe gsync and communicates again after it, in the same
 * loop body. A replacement begins with the next step, although its predecessor had not done the
 * second half of this step.
 *
 *   behind_safe KIND DEATHS   KIND: gsync|safe|group: the call after the safe gsync;
 *                             right: the step is counted after all calls
 *
 * DEATHS: RANK@STEP.PLACE,... (lib/deaths.h); place 0 is the first half of the step, 1 the second.
 */
#include "deaths.h"
#include "try.h"

#include <keel/keel.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 24, EXIT_USAGE = 2, EXIT_KEEL = 3, EXIT_WRONG = 4, GROUP_AT = 64, PIECE = 64, RANKS_MAX = 16 };
enum { CELL_FIRST, CELL_SECOND, CELLS };

typedef struct {
    const char *kind, *deaths;
    keel_context_h ctx;
    keel_win_h win;
    keel_group_h group;
    uint64_t *cell;
    uint64_t step, sum;
} job_t;

static int is(const job_t *job, const char *kind)
{
    return strcmp(job->kind, kind) == 0;
}

static uint32_t neighbour(const job_t *job, uint32_t far)
{
    return (keel_rank(job->ctx) + far) % keel_size(job->ctx);
}

static void maybe_die(const job_t *job, uint64_t step, unsigned place)
{
    die_when_said(deaths_of_first_life(job->deaths, keel_incarnation(job->ctx)), keel_rank(job->ctx), step, place);
}

static keel_status_t put(job_t *job, uint32_t rank, unsigned cell)
{
    const uint64_t value = 3 * job->sum + 7 * job->step + keel_rank(job->ctx);

    return keel_put(job->win, rank, cell * sizeof(value), &value, sizeof(value));
}

static keel_status_t second(job_t *job, uint64_t step)
{
    uint64_t all = 0;

    maybe_die(job, step, 1);
    job->sum = job->sum * 31 + job->cell[CELL_FIRST];
    if (is(job, "group")) {
        TRY(keel_group_allreduce(job->group, KEEL_OP_SUM, KEEL_TYPE_UINT64, &job->sum, &all, 1));
        job->sum += all;
        return KEEL_OK;
    }
    TRY(put(job, neighbour(job, 2), CELL_SECOND));
    TRY(keel_gsync(job->ctx, is(job, "safe") ? KEEL_GSYNC_SAFE : 0));
    job->sum = job->sum * 31 + job->cell[CELL_SECOND];
    return KEEL_OK;
}

static keel_status_t steps_run(job_t *job)
{
    while (job->step < STEPS) {
        const uint64_t step = job->step;

        maybe_die(job, step, 0);
        TRY(put(job, neighbour(job, 1), CELL_FIRST));
        if (!is(job, "right")) {
            job->step++;
            TRY(keel_gsync(job->ctx, KEEL_GSYNC_SAFE));
            TRY(second(job, step));
        } else {
            TRY(keel_gsync(job->ctx, 0));
            TRY(second(job, step));
            job->step++;
            TRY(keel_gsync(job->ctx, KEEL_GSYNC_SAFE));
        }
    }
    return KEEL_OK;
}

/* Computes the sum over all ranks without Keel and without deaths. */
static uint64_t sum_without_a_death(const job_t *job, uint32_t rank, uint32_t size)
{
    uint64_t sum[RANKS_MAX] = {0}, first[RANKS_MAX] = {0}, second_cell[RANKS_MAX] = {0}, all;
    const int is_right = is(job, "right");

    for (uint64_t step = 0; step < STEPS; step++) {
        for (uint32_t r = 0; r < size; r++) {
            first[(r + 1) % size] = 3 * sum[r] + 7 * step + r;
        }
        all = 0;
        for (uint32_t r = 0; r < size; r++) {
            sum[r] = sum[r] * 31 + first[r];
            all += sum[r];
        }
        for (uint32_t r = 0; r < size; r++) {
            second_cell[(r + 2) % size] = 3 * sum[r] + 7 * (step + !is_right) + r;
        }
        for (uint32_t r = 0; r < size; r++) {
            sum[r] = is(job, "group") ? sum[r] + all : sum[r] * 31 + second_cell[r];
        }
    }
    return sum[rank];
}

static keel_status_t job_begin(job_t *job)
{
    uint32_t ranks[RANKS_MAX];

    TRY(keel_init(NULL, &job->ctx));
    for (uint32_t r = 0; r < keel_size(job->ctx) && r < RANKS_MAX; r++) {
        ranks[r] = r;
    }
    TRY(keel_win_alloc(job->ctx, GROUP_AT + keel_group_bytes(keel_size(job->ctx), PIECE), NULL, &job->win));
    TRY(keel_group_create(job->win, GROUP_AT, PIECE, ranks, keel_size(job->ctx), &job->group));
    job->cell = keel_win_base(job->win);
    TRY(keel_protect(job->ctx, 1, &job->step, sizeof(job->step)));
    return keel_protect(job->ctx, 2, &job->sum, sizeof(job->sum));
}

static keel_status_t job_run(job_t *job)
{
    keel_status_t status = keel_restarted(job->ctx) ? keel_restore(job->ctx) : KEEL_OK;

    return (status == KEEL_OK) ? steps_run(job) : status;
}

int main(int argc, char **argv)
{
    job_t job = {.kind = (argc > 1) ? argv[1] : "", .deaths = (argc > 2) ? argv[2] : NULL};
    keel_status_t status;
    int is_wrong;

    if (argc < 2) {
        fprintf(stderr, "usage: behind_safe KIND [DEATHS]\n");
        return EXIT_USAGE;
    }
    status = job_begin(&job);
    while (status == KEEL_OK && (status = job_run(&job)) == KEEL_ERR_ROLLED_BACK) {
        status = KEEL_OK;
    }
    if (status == KEEL_OK) {
        is_wrong = job.sum != sum_without_a_death(&job, keel_rank(job.ctx), keel_size(job.ctx));
        printf("rank %u: %s\n", keel_rank(job.ctx), is_wrong ? "wrong" : "right");
        status = keel_finalize(job.ctx);
        if (status == KEEL_OK) {
            return is_wrong ? EXIT_WRONG : EXIT_SUCCESS;
        }
    }
    fprintf(stderr, "behind_safe: %s\n", keel_status_string(status));
    return EXIT_KEEL;
}
