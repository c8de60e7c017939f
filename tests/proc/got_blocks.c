/*
 * Ranks in a ring that get many blocks from the next rank, by a list and at regular distances, and
 * then overwrite all of them: afterwards only the logs have the earlier contents. Some blocks are
 * long, others of a few bytes. A death is recovered locally at any place of a step.
 *
 *   got_blocks STEPS -|RANK@STEP.PLACE,... [waits]
 *       the named ranks die there in their first incarnation: 0 before the gets, 1 between the
 *       gets and the puts, 2 after the flush of the puts
 */
#include "deaths.h"
#include "try.h"

#include <keel/keel.h>

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SAVE_EVERY = 6,
    EXIT_WRONG = 1,
    EXIT_USAGE = 2,
    EXIT_KEEL = 3,
    LISTED = 40,
    SLOT = 6000, /* bytes between blocks of the list */
    ROWS = 900,
    ROW = 16, /* cells, one of them in the column */
    LONG = 5000
};

typedef struct {
    unsigned char listed[LISTED][SLOT];
    uint64_t table[ROWS][ROW];
} memory_t;

typedef struct {
    const char *deaths;
    uint64_t steps, step; /* step is protected */
    keel_context_h ctx;
    keel_win_h win;
    uint32_t rank, size;
    memory_t *got;
} job_t;

static void die_here(const job_t *job, unsigned place)
{
    die_when_said(keel_incarnation(job->ctx) == 0 ? job->deaths : NULL, job->rank, job->step, place);
}

/* The contents after @a step steps. */
static unsigned char byte_of(uint32_t rank, uint64_t step, unsigned block, size_t i)
{
    return (step == 0) ? 0 : (unsigned char)(step * 41 + rank * 5 + block * 11 + i);
}

static uint64_t cell_of(uint32_t rank, uint64_t step, unsigned row)
{
    return (step == 0) ? 0 : step << 32 | rank << 16 | row;
}

static size_t length_of(uint64_t step, unsigned block)
{
    return (block % 13 == 12) ? LONG : (block + step) % 7 * 9; /* some blocks are empty */
}

static void wrong(const job_t *job, const char *what, unsigned i, uint64_t is)
{
    fprintf(stderr, "got_blocks: rank %u, step %lu: %s %u is %lx\n", job->rank, (unsigned long)job->step, what, i,
            (unsigned long)is);
    exit(EXIT_WRONG);
}

static void list_of(const job_t *job, keel_block_t *blocks)
{
    for (unsigned i = 0; i < LISTED; i++) { /* from the last block to the first */
        blocks[LISTED - 1 - i] = (keel_block_t){.offset = offsetof(memory_t, listed) + i * SLOT,
                                                .length = length_of(job->step, i),
                                                .buffer = job->got->listed[i]};
    }
}

static keel_blocks_t column_of(const job_t *job)
{
    return (keel_blocks_t){.length = sizeof(uint64_t),
                           .count = ROWS,
                           .offset = offsetof(memory_t, table) + (job->step % ROW) * sizeof(uint64_t),
                           .stride = ROW * sizeof(uint64_t),
                           .buffer_stride = ROW * sizeof(uint64_t)};
}

/* Checks only the lengths of this step: other bytes were not put in the previous step, and are not
 * got. */
static void check(const job_t *job)
{
    for (unsigned i = 0; i < LISTED; i++) {
        for (size_t at = 0; at < length_of(job->step, i); at++) {
            if (job->got->listed[i][at] != byte_of(job->rank, job->step, i, at)) {
                wrong(job, "a byte of block", i, job->got->listed[i][at]);
            }
        }
    }
    for (unsigned row = 0; row < ROWS; row++) {
        if (job->got->table[row][0] != cell_of(job->rank, job->step, row)) {
            wrong(job, "row", row, job->got->table[row][0]);
        }
    }
}

/* Puts the contents that the next step expects. */
static keel_status_t put_new_values(const job_t *job, uint32_t right)
{
    const job_t next = {.step = job->step + 1, .got = job->got};
    keel_block_t blocks[LISTED];
    keel_blocks_t column = column_of(&next);

    list_of(&next, blocks);
    for (unsigned i = 0; i < LISTED; i++) {
        for (size_t at = 0; at < length_of(next.step, i); at++) {
            job->got->listed[i][at] = byte_of(job->rank, next.step, i, at);
        }
    }
    for (unsigned row = 0; row < ROWS; row++) {
        job->got->table[row][0] = cell_of(job->rank, next.step, row);
    }
    for (unsigned i = 0; i < LISTED; i++) {
        TRY(keel_put(job->win, right, blocks[i].offset, blocks[i].buffer, blocks[i].length));
    }
    TRY(keel_put_strided(job->win, right, &column, job->got->table));
    return keel_flush(job->ctx, right);
}

static keel_status_t step(job_t *job)
{
    const uint32_t right = (job->rank + 1) % job->size;
    const keel_blocks_t column = column_of(job);
    keel_block_t blocks[LISTED];

    list_of(job, blocks);
    memset(job->got, 0xee, sizeof(*job->got));
    die_here(job, 0);
    TRY(keel_get_list(job->win, right, blocks, LISTED));
    TRY(keel_get_strided(job->win, right, &column, job->got->table));
    check(job);
    die_here(job, 1);
    TRY(put_new_values(job, right));
    die_here(job, 2);
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
    const int waits = argc == 4 && strcmp(argv[3], "waits") == 0;
    const keel_params_t params = {.field_mask = KEEL_PARAM_FIELD_FLAGS, .flags = waits ? KEEL_PARAM_FLAG_WAITS : 0};
    job_t job = {.steps = (argc >= 3) ? strtoul(argv[1], NULL, 10) : 0, .got = malloc(sizeof(memory_t))};
    keel_stats_t stats;

    if (argc < 3 || argc > 4 || (argc == 4 && !waits) || job.steps == 0 || job.got == NULL) {
        fprintf(stderr, "usage: got_blocks STEPS -|RANK@STEP.PLACE,... [waits]\n");
        return EXIT_USAGE;
    }
    job.deaths = argv[2];
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
    if (job.rank == 3) { /* this rank never dies */
        printf("got_blocks: %u ranks, %lu steps, %lu rollbacks: right\n", job.size, (unsigned long)job.steps,
               (unsigned long)stats.rollbacks);
    }
    free(job.got);
    return (keel_finalize(job.ctx) == KEEL_OK) ? 0 : EXIT_WRONG;
}
