/*
 * A program with collective operations of rows and of all ranks: sums, broadcasts, gathers and
 * exchanges, each longer than a chunk. A death is recovered locally.
 *
 *   groups STEPS -|RANK@STEP.PLACE,...
 *       the named ranks die there in their first incarnation: 0 before the row's sum, 1 between
 *       the sum and the broadcast to all, 2 after the exchange
 */
#include "deaths.h"
#include "try.h"

#include <keel/keel.h>

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SAVE_EVERY = 5, EXIT_WRONG = 1, EXIT_USAGE = 2, EXIT_KEEL = 3, RANKS_MAX = 16, PIECE = 256, NUMBERS = 150 };

typedef struct {
    const char *deaths;
    uint64_t steps, step; /* step is protected */
    keel_context_h ctx;
    keel_win_h win;
    keel_group_h row, all; /* row: even or odd ranks; all: in descending order */
    uint32_t rank, size;
} job_t;

static void die_here(const job_t *job, unsigned place)
{
    die_when_said(keel_incarnation(job->ctx) == 0 ? job->deaths : NULL, job->rank, job->step, place);
}

static double number(uint32_t rank, uint64_t step, unsigned i)
{
    return (double)(step * 1000 + i) / (rank + 3); /* sums depend on the order of additions */
}

static void wrong(const job_t *job, const char *what, double is)
{
    fprintf(stderr, "groups: rank %u, step %lu: %s is %.17g\n", job->rank, (unsigned long)job->step, what, is);
    exit(EXIT_WRONG);
}

/* The sum is approximately right, and identical at all members. */
static keel_status_t sum_row(job_t *job)
{
    double own[NUMBERS], sums[NUMBERS], others[RANKS_MAX][NUMBERS];
    unsigned members = (job->size + 1 - job->rank % 2) / 2;

    for (unsigned i = 0; i < NUMBERS; i++) {
        own[i] = number(job->rank, job->step, i);
    }
    TRY(keel_group_allreduce(job->row, KEEL_OP_SUM, KEEL_TYPE_DOUBLE, own, sums, NUMBERS));
    TRY(keel_group_allgather(job->row, sums, others, sizeof(sums)));
    for (unsigned i = 0; i < NUMBERS; i++) {
        double sum = 0;

        for (uint32_t r = job->rank % 2; r < job->size; r += 2) {
            sum += number(r, job->step, i);
        }
        if (sums[i] < sum * 0.999999 || sums[i] > sum * 1.000001) {
            wrong(job, "a sum", sums[i]);
        }
    }
    for (unsigned m = 0; m < members; m++) {
        if (memcmp(others[m], sums, sizeof(sums)) != 0) {
            wrong(job, "another's sum", others[m][0]);
        }
    }
    return KEEL_OK;
}

/* Finds the rank with the least value; of equal values, the first rank. */
static keel_status_t find_least(job_t *job)
{
    struct {
        int64_t value;
        int32_t index;
    } own = {(int64_t)((job->rank * 3 + job->step) % 5) - 2, (int32_t)job->rank}, least, expected = own;

    for (uint32_t r = 0; r < job->size; r++) {
        const int64_t value = (int64_t)((r * 3 + job->step) % 5) - 2;

        if (value < expected.value || (value == expected.value && (int32_t)r < expected.index)) {
            expected.value = value;
            expected.index = (int32_t)r;
        }
    }
    TRY(keel_group_allreduce(job->all, KEEL_OP_MINLOC, KEEL_TYPE_INT64_INT32, &own, &least, 1));
    if (least.value != expected.value || least.index != expected.index) {
        wrong(job, "the rank with the least", least.index);
    }
    return KEEL_OK;
}

static keel_status_t share(job_t *job)
{
    const uint32_t root = (uint32_t)(job->step % job->size);
    uint32_t words[NUMBERS] = {0}, parts[RANKS_MAX][NUMBERS] = {{0}}, sum[1] = {job->rank + 1};

    /* members are in descending order of ranks */
    for (unsigned i = 0; i < NUMBERS && job->rank == job->size - 1 - root; i++) {
        words[i] = root * 1000 + i;
    }
    TRY(keel_group_broadcast(job->all, root, words, sizeof(words)));
    if (words[NUMBERS - 1] != root * 1000 + NUMBERS - 1) {
        wrong(job, "the broadcast value", words[NUMBERS - 1]);
    }
    words[0] = job->rank;
    TRY(keel_group_gather(job->all, root, words, (job->rank == job->size - 1 - root) ? parts : NULL, sizeof(words)));
    for (unsigned m = 0; m < job->size && job->rank == job->size - 1 - root; m++) {
        if (parts[m][0] != job->size - 1 - m || parts[m][1] != root * 1000 + 1) {
            wrong(job, "what was gathered", parts[m][0]);
        }
    }
    TRY(keel_group_reduce(job->all, root, KEEL_OP_MAX, KEEL_TYPE_UINT32, sum, sum, 1));
    if (job->rank == job->size - 1 - root && sum[0] != job->size) {
        wrong(job, "the largest", sum[0]);
    }
    return KEEL_OK;
}

static keel_status_t exchange(job_t *job)
{
    uint64_t in[RANKS_MAX][NUMBERS], out[RANKS_MAX][NUMBERS];

    for (unsigned m = 0; m < job->size; m++) {
        for (unsigned i = 0; i < NUMBERS; i++) {
            in[m][i] = job->step << 32 | job->rank << 20 | (job->size - 1 - m) << 10 | i;
        }
    }
    TRY(keel_group_alltoall(job->all, in, out, sizeof(in[0])));
    for (unsigned m = 0; m < job->size; m++) {
        for (unsigned i = 0; i < NUMBERS; i++) {
            if (out[m][i] != (job->step << 32 | (job->size - 1 - m) << 20 | job->rank << 10 | i)) {
                wrong(job, "what was exchanged", (double)out[m][i]);
            }
        }
    }
    return KEEL_OK;
}

static keel_status_t step(job_t *job)
{
    die_here(job, 0);
    TRY(sum_row(job));
    die_here(job, 1);
    TRY(share(job));
    TRY(find_least(job));
    TRY(exchange(job));
    die_here(job, 2);
    TRY(keel_group_barrier(job->row));
    job->step++;
    return (job->step % SAVE_EVERY == 0) ? keel_gsync(job->ctx, KEEL_GSYNC_SAFE) : KEEL_OK;
}

static keel_status_t run(job_t *job)
{
    keel_status_t status = KEEL_OK;

    do {
        status = keel_restarted(job->ctx) ? keel_restore(job->ctx) : KEEL_OK;
        while (status == KEEL_OK && job->step < job->steps) {
            status = step(job);
        }
    } while (status == KEEL_ERR_ROLLED_BACK);
    return status;
}

static keel_status_t make_groups(job_t *job)
{
    uint32_t row[RANKS_MAX], all[RANKS_MAX];
    unsigned count = 0;
    size_t bytes;

    for (uint32_t r = 0; r < job->size; r++) {
        all[r] = job->size - 1 - r;
        if (r % 2 == job->rank % 2) {
            row[count++] = r;
        }
    }
    bytes = keel_group_bytes(job->size, PIECE);
    TRY(keel_win_alloc(job->ctx, 2 * bytes, NULL, &job->win));
    TRY(keel_group_create(job->win, 0, PIECE, row, count, &job->row));
    return keel_group_create(job->win, bytes, PIECE, all, job->size, &job->all);
}

int main(int argc, char **argv)
{
    const keel_params_t params = {.field_mask = KEEL_PARAM_FIELD_FLAGS, .flags = KEEL_PARAM_FLAG_WAITS};
    job_t job = {.steps = (argc == 3) ? strtoul(argv[1], NULL, 10) : 0};
    keel_stats_t stats;

    if (job.steps == 0) {
        fprintf(stderr, "usage: groups STEPS -|RANK@STEP.PLACE,...\n");
        return EXIT_USAGE;
    }
    job.deaths = argv[2];
    if (keel_init(&params, &job.ctx) != KEEL_OK || (job.size = keel_size(job.ctx)) > RANKS_MAX) {
        return EXIT_KEEL;
    }
    job.rank = keel_rank(job.ctx);
    if (make_groups(&job) != KEEL_OK || keel_protect(job.ctx, 1, &job.step, sizeof(job.step)) != KEEL_OK ||
        run(&job) != KEEL_OK || keel_stats(job.ctx, &stats, sizeof(stats)) != KEEL_OK) {
        return EXIT_KEEL;
    }
    if (job.rank == job.size - 1) { /* this rank survives */
        printf("groups: %u ranks, %lu steps, %lu rollbacks, %lu deaths: right\n", job.size, (unsigned long)job.steps,
               (unsigned long)stats.rollbacks, (unsigned long)stats.deaths);
    }
    keel_group_free(job.row);
    keel_group_free(job.all);
    return (keel_finalize(job.ctx) == KEEL_OK) ? 0 : EXIT_WRONG;
}
