/*
 * Neighbours in a ring with an exchange of a column and a row of a table, put with signals, which
 * set words or add to them, or as a list and a signal. With fetch, ranks take turns at a word, at
 * another rank in each step. The fetched value proves to the last rank that all ranks have put, and
 * the rank announces this. A death is recovered locally.
 *
 *   signals STEPS -|RANK@STEP.PLACE,... set|add|list|fetch
 *       the named ranks die there in their first incarnation: 0 between column and row,
 *       1 before the wait, 2 after the wait
 */
#include "deaths.h"
#include "try.h"

#include <keel/keel.h>

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SAVE_EVERY = 5, EXIT_WRONG = 1, EXIT_USAGE = 2, EXIT_KEEL = 3, SIDE = 40 };

typedef struct {
    uint64_t come, taken;
    /* turns: of other ranks, in steps in which this rank owns the word */
    uint64_t turns, all_but_own;
    uint32_t table[SIDE][SIDE]; /* column 0 and row 0 are the left neighbour's */
} memory_t;

typedef struct {
    const char *deaths;
    uint64_t steps, step; /* step is protected */
    keel_context_h ctx;
    keel_win_h win;
    keel_signal_op_t op;
    int fetches, lists;
    uint32_t rank, size;
} job_t;

static void die_here(const job_t *job, unsigned place)
{
    die_when_said(keel_incarnation(job->ctx) == 0 ? job->deaths : NULL, job->rank, job->step, place);
}

static uint32_t cell(uint32_t rank, uint64_t step, unsigned i)
{
    return (uint32_t)(step << 16) + rank * 256 + i;
}

static void wrong(const job_t *job, const char *what, unsigned i, uint64_t is)
{
    fprintf(stderr, "signals: rank %u, step %lu: cell %u of %s is %lx\n", job->rank, (unsigned long)job->step, i, what,
            (unsigned long)is);
    exit(EXIT_WRONG);
}

static keel_signal_t signal_of(const job_t *job, size_t offset)
{
    return (keel_signal_t){.offset = offset, .op = job->op, .value = (job->op == KEEL_SIGNAL_ADD) ? 1 : job->step + 1};
}

/* Adds to `come` at every rank. The word then reaches step + 1. */
static keel_status_t say_come(job_t *job)
{
    keel_status_t status = KEEL_OK;

    for (uint32_t r = 0; r < job->size && status == KEEL_OK; r++) {
        status = keel_atomic(job->win, KEEL_ATOMIC_ADD, r, offsetof(memory_t, come), 8, 1, 0, NULL);
    }
    return status;
}

/* Takes a turn. The puts of this rank are complete. */
static keel_status_t take_turn(job_t *job)
{
    const uint32_t owner = (uint32_t)(job->step % job->size);
    const uint64_t before = (job->step / job->size) * (job->size - 1);
    uint64_t found;

    if (job->rank == owner) {
        TRY(keel_wait_until(job->win, offsetof(memory_t, all_but_own), 8, KEEL_COMPARE_GE, job->step / job->size + 1));
        return say_come(job);
    }
    TRY(keel_atomic(job->win, KEEL_ATOMIC_ADD, owner, offsetof(memory_t, turns), 8, 1, 0, &found));
    if (found < before || found - before > job->size - 2) {
        wrong(job, "the turns", owner, found);
    }
    if (found - before < job->size - 2) {
        return KEEL_OK;
    }
    return keel_atomic(job->win, KEEL_ATOMIC_ADD, owner, offsetof(memory_t, all_but_own), 8, 1, 0, NULL);
}

/* Puts both as a list, except for the last cell. */
static keel_status_t send_list(job_t *job, uint32_t right, uint32_t *cells)
{
    keel_block_t list[SIDE / 2 + 1];

    for (unsigned i = 0; i < SIDE / 2; i++) {
        list[i] = (keel_block_t){.offset = offsetof(memory_t, table) + (2 * i + 1) * SIDE * sizeof(uint32_t),
                                 .length = sizeof(uint32_t),
                                 .buffer = &cells[2 * i]};
    }
    list[SIDE / 2] = (keel_block_t){.offset = offsetof(memory_t, table) + sizeof(uint32_t),
                                    .length = (SIDE - 2) * sizeof(uint32_t),
                                    .buffer = &cells[1]};
    return keel_put_list(job->win, right, list, SIDE / 2 + 1);
}

/* Puts every other cell of a column, and a row. */
static keel_status_t send(job_t *job, uint32_t right)
{
    const keel_blocks_t column = {.length = sizeof(uint32_t),
                                  .count = SIDE / 2,
                                  .offset = offsetof(memory_t, table) + SIDE * sizeof(uint32_t),
                                  .stride = 2 * SIDE * sizeof(uint32_t),
                                  .buffer_stride = 2 * sizeof(uint32_t)};
    const keel_signal_t come = signal_of(job, offsetof(memory_t, come));
    uint32_t cells[SIDE];

    for (unsigned i = 0; i < SIDE; i++) {
        cells[i] = cell(job->rank, job->step, i);
    }
    TRY(job->lists ? send_list(job, right, cells) : keel_put_strided(job->win, right, &column, cells));
    die_here(job, 0);
    if (job->lists) {
        return keel_put_signal(job->win, right, offsetof(memory_t, table) + (SIDE - 1) * sizeof(uint32_t),
                               &cells[SIDE - 1], sizeof(uint32_t), &come);
    }
    if (job->fetches) {
        TRY(keel_put(job->win, right, offsetof(memory_t, table) + sizeof(uint32_t), &cells[1],
                     (SIDE - 1) * sizeof(uint32_t)));
        TRY(keel_flush(job->ctx, right));
        return take_turn(job);
    }
    return keel_put_signal(job->win, right, offsetof(memory_t, table) + sizeof(uint32_t), &cells[1],
                           (SIDE - 1) * sizeof(uint32_t), &come);
}

static keel_status_t receive(job_t *job, uint32_t left)
{
    const memory_t *own = keel_win_base(job->win);
    const keel_signal_t taken = signal_of(job, offsetof(memory_t, taken));

    TRY(keel_wait_until(job->win, offsetof(memory_t, come), 8, KEEL_COMPARE_GE, job->step + 1));
    die_here(job, 2);
    for (unsigned i = 1; i < SIDE; i++) {
        if (own->table[0][i] != cell(left, job->step, i)) {
            wrong(job, "the row", i, own->table[0][i]);
        }
        if (i % 2 == 1 && own->table[i][0] != cell(left, job->step, i - 1)) {
            wrong(job, "the column", i, own->table[i][0]);
        }
    }
    return keel_put_signal(job->win, left, 0, NULL, 0, &taken); /* a signal without data */
}

static keel_status_t step(job_t *job)
{
    const uint32_t right = (job->rank + 1) % job->size, left = (job->rank + job->size - 1) % job->size;
    const keel_blocks_t column = {.length = sizeof(uint32_t),
                                  .count = SIDE / 2,
                                  .offset = offsetof(memory_t, table) + SIDE * sizeof(uint32_t),
                                  .stride = 2 * SIDE * sizeof(uint32_t),
                                  .buffer_stride = sizeof(uint32_t)};
    uint32_t cells[SIDE / 2];

    TRY(send(job, right));
    die_here(job, 1);
    TRY(receive(job, left));
    TRY(keel_wait_until(job->win, offsetof(memory_t, taken), 8, KEEL_COMPARE_GE, job->step + 1));
    TRY(keel_get_strided(job->win, right, &column, cells));
    for (unsigned i = 0; i < SIDE / 2; i++) {
        if (cells[i] != cell(job->rank, job->step, 2 * i)) {
            wrong(job, "what was got back", i, cells[i]);
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
        while (status == KEEL_OK && job->step < job->steps) {
            status = step(job);
        }
    } while (status == KEEL_ERR_ROLLED_BACK);
    return status;
}

int main(int argc, char **argv)
{
    const keel_params_t params = {.field_mask = KEEL_PARAM_FIELD_FLAGS, .flags = KEEL_PARAM_FLAG_WAITS};
    job_t job = {.steps = (argc == 4) ? strtoul(argv[1], NULL, 10) : 0};
    keel_stats_t stats;

    if (argc != 4 || job.steps == 0) {
        fprintf(stderr, "usage: signals STEPS -|RANK@STEP.PLACE,... set|add|list|fetch\n");
        return EXIT_USAGE;
    }
    job.deaths = argv[2];
    job.fetches = strcmp(argv[3], "fetch") == 0;
    job.lists = strcmp(argv[3], "list") == 0;
    job.op = (job.fetches || strcmp(argv[3], "add") == 0) ? KEEL_SIGNAL_ADD : KEEL_SIGNAL_SET;
    if (keel_init(&params, &job.ctx) != KEEL_OK) {
        return EXIT_KEEL;
    }
    job.rank = keel_rank(job.ctx);
    job.size = keel_size(job.ctx);
    if (keel_win_alloc(job.ctx, sizeof(memory_t), NULL, &job.win) != KEEL_OK ||
        keel_protect(job.ctx, 1, &job.step, sizeof(job.step)) != KEEL_OK || run(&job) != KEEL_OK ||
        keel_stats(job.ctx, &stats, sizeof(stats)) != KEEL_OK) {
        return EXIT_KEEL;
    }
    if (job.rank == 3) { /* the last rank that may die */
        printf("signals: %u ranks, %lu steps, %lu rollbacks: right\n", job.size, (unsigned long)job.steps,
               (unsigned long)stats.rollbacks);
    }
    return (keel_finalize(job.ctx) == KEEL_OK) ? 0 : EXIT_WRONG;
}
