/*
 * Each rank gets several blocks from the next rank, by a list and at distances, and then puts new
 * values to all of these blocks. In one phase the source dies; or the target dies first, its
 * replacement receives the records back, and then the source dies. The replacement of the source
 * must receive the old values, which no other rank has any more, and tells the previous rank a sum
 * of them.
 *
 *   small, large          amount of a get: one record, or several, some for a single block
 *   plain, waits, polls   the program's declaration
 *
 *   sim_rma_got_blocks_return_to_replacement
 */
#include "few_ranks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEEDS     10
#define WRONG_MAX 8
#define RANKS     3
#define PHASES    4
#define AMID      3u /* phase of the deaths */
#define BYTES     10000u
#define HALF      7200u /* the first half is listed, the second half has blocks at distances */
#define SUMS      (BYTES - 64)

typedef enum { PLAIN, WAITS, POLLS, KINDS } kind_t;

typedef struct job {
    few_t few;
    int is_large, is_target_first;
    /*
     * the program's gets are polls, so two deaths in one phase may be a rollback; the values must
     * be right even then
     */
    int may_roll_back;
    uint64_t put_in;    /* phase in which the first life of rank 1 last put new values */
    int is_target_back; /* the replacement of rank 2 is there */
} job_t;

/* Value of rank @a rank's byte at @a at, from @a phase on. */
static unsigned char byte_of(uint32_t rank, uint64_t phase, size_t at)
{
    return (phase == 0) ? 0 : (unsigned char)(phase * 31 + at * 7 + at / 256 + rank);
}

typedef struct blocks {
    keel_block_t list[9];
    size_t count;
    keel_blocks_t strided;
    unsigned char bytes[BYTES]; /* each block has the same offset here and in the window */
} blocks_t;

static void blocks_fill(const job_t *job, blocks_t *blocks)
{
    static const size_t at[] = {0, 40, 64, 101, 400, 1000, 6000, 6200, 6901};
    const size_t small[] = {8, 24, 0, 5, 100, 1, 16, 8, 99};
    const size_t large[] = {8, 24, 0, 250, 120, 600, 180, 0, 200};

    memset(blocks, 0, sizeof(*blocks));
    blocks->count = sizeof(at) / sizeof(at[0]);
    for (unsigned i = 0; i < blocks->count; i++) {
        blocks->list[i] = (keel_block_t){
            .offset = at[i], .length = job->is_large ? large[i] : small[i], .buffer = blocks->bytes + at[i]};
    }
    blocks->strided = (keel_blocks_t){.length = job->is_large ? 60 : 12,
                                      .count = job->is_large ? 20 : 7,
                                      .offset = HALF,
                                      .stride = 100,
                                      .buffer_stride = 100};
}

static keel_status_t blocks_get(blocks_t *blocks, keel_win_h win, uint32_t rank)
{
    const keel_status_t status = keel_get_list(win, rank, blocks->list, blocks->count);

    return (status == KEEL_OK) ? keel_get_strided(win, rank, &blocks->strided, blocks->bytes + HALF) : status;
}

/* Puts the blocks as from @a phase on. */
static keel_status_t blocks_put(blocks_t *blocks, keel_win_h win, uint32_t rank, uint64_t phase)
{
    keel_status_t status = KEEL_OK;

    for (size_t i = 0; i < BYTES; i++) {
        blocks->bytes[i] = byte_of(rank, phase, i);
    }
    for (size_t i = 0; i < blocks->count && status == KEEL_OK; i++) {
        const keel_block_t *block = &blocks->list[i];

        status = keel_put(win, rank, block->offset, block->buffer, block->length);
    }
    return (status == KEEL_OK) ? keel_put_strided(win, rank, &blocks->strided, blocks->bytes + HALF) : status;
}

static int is_got(const blocks_t *blocks, size_t at)
{
    const keel_blocks_t *strided = &blocks->strided;

    for (size_t i = 0; i < blocks->count; i++) {
        if (at >= blocks->list[i].offset && at - blocks->list[i].offset < blocks->list[i].length) {
            return 1;
        }
    }
    return at >= HALF && (at - HALF) / strided->stride < strided->count &&
           (at - HALF) % strided->stride < strided->length;
}

/* Checks that all values are from the previous phase, and that nothing else was written. */
static void blocks_check(const job_t *job, const blocks_t *blocks, uint32_t rank, uint64_t phase)
{
    for (size_t i = 0; i < BYTES; i++) {
        const unsigned char want = is_got(blocks, i) ? byte_of(rank, phase - 1, i) : 0;

        if (blocks->bytes[i] != want) {
            keel_sim_flaw(job->few.sim, "byte %zu of rank %u is got as %u in phase %lu, not %u", i, rank,
                          blocks->bytes[i], (unsigned long)phase, want);
            return;
        }
    }
}

/* Waits in rank 1's first life, so the deaths come while no other rank acts. */
static keel_status_t await(job_t *job, uint64_t phase)
{
    keel_status_t status = keel_flush_all(job->few.ctx[1]);

    job->put_in = phase;
    while (status == KEEL_OK && phase == AMID && job->is_target_first && !job->is_target_back) {
        status = few_progress(&job->few, 1);
    }
    return (status == KEEL_OK && phase == AMID) ? few_await_deaths(&job->few, 1, 1u + job->is_target_first) : status;
}

static keel_status_t play(job_t *job, uint32_t rank, keel_win_h win, uint64_t phase, uint64_t *sum_p)
{
    const uint32_t next = (rank + 1) % RANKS, before = (rank + RANKS - 1) % RANKS;
    blocks_t blocks;
    keel_status_t status;

    blocks_fill(job, &blocks);
    status = blocks_get(&blocks, win, next);
    if (status == KEEL_OK) {
        blocks_check(job, &blocks, next, phase);
        for (size_t i = 0; i < BYTES; i++) {
            *sum_p = *sum_p * 3 + blocks.bytes[i];
        }
        status = blocks_put(&blocks, win, next, phase);
    }
    status = (status == KEEL_OK) ? keel_put(win, before, SUMS, sum_p, sizeof(*sum_p)) : status;
    if (status == KEEL_OK && rank == 1 && keel_incarnation(job->few.ctx[1]) == 0) {
        status = await(job, phase);
    }
    return (status == KEEL_OK) ? keel_gsync(job->few.ctx[rank], 0) : status;
}

static keel_status_t phases(few_t *few, uint32_t rank, keel_win_h win)
{
    job_t *job = (job_t *)few;
    uint64_t sum = 0, reported;
    keel_status_t status = KEEL_OK;

    for (uint64_t phase = 1; phase <= PHASES && status == KEEL_OK; phase++) {
        status = play(job, rank, win, phase, &sum);
    }
    status =
        (status == KEEL_OK) ? keel_get(win, (rank + RANKS - 1) % RANKS, SUMS, &reported, sizeof(reported)) : status;
    if (status == KEEL_OK && reported != sum) {
        keel_sim_flaw(few->sim, "rank %u has a sum of %lx, and said %lx", rank, (unsigned long)sum,
                      (unsigned long)reported);
    }
    if (status == KEEL_OK && few->ctx[rank]->rec.rollbacks > 0 && !job->may_roll_back) {
        keel_sim_flaw(few->sim, "the job rolled back");
    }
    return status;
}

static void strike(few_t *few)
{
    job_t *job = (job_t *)few;

    if (job->put_in < AMID) {
        return;
    }
    if (job->is_target_first && few->deaths == 0) {
        few_kill(few, 2);
    } else if (job->is_target_first && few->deaths == 1 && few_is_back(few, 2)) {
        job->is_target_back = 1;
        few_kill(few, 1);
    } else if (!job->is_target_first && few->deaths == 0) {
        few_kill(few, 1);
    }
}

static int run(unsigned drawn, const char *lanes, uint64_t seed)
{
    static const uint64_t flags[KINDS] = {[WAITS] = KEEL_PARAM_FLAG_WAITS, [POLLS] = KEEL_PARAM_FLAG_POLLS};
    const int is_target_first = drawn / KINDS % 2 != 0, is_large = drawn / KINDS / 2 % 2 != 0;
    const few_play_t play = {.ranks = RANKS,
                             .deaths = 1u + (unsigned)is_target_first,
                             .windows = 1,
                             .bytes = BYTES,
                             .flags = flags[drawn % KINDS],
                             .lanes = lanes,
                             .message = is_large ? 512 : 0,
                             .phases = phases,
                             .strike = strike};
    job_t job = {.is_large = is_large,
                 .is_target_first = is_target_first,
                 .may_roll_back = is_target_first && drawn % KINDS == POLLS};

    return few_run(&job.few, &play, seed);
}

int main(void)
{
    static const char *const kinds[] = {"plain", "waits", "polls"};
    static const char *const lanes[] = {"KEEL_LANES=direct", "KEEL_LANES=served"};
    int wrong = 0;

    for (unsigned i = 0; i < KINDS * 4 * 2 * SEEDS && wrong < WRONG_MAX; i++) {
        const unsigned drawn = i % (KINDS * 4), lane = i / (KINDS * 4) % 2, seed = 1 + i / (KINDS * 4) / 2;

        if (!run(drawn, lanes[lane], seed)) {
            fprintf(stderr, "  %s, %s, %s, %s\n", kinds[drawn % KINDS], drawn / KINDS / 2 ? "large" : "small",
                    drawn / KINDS % 2 ? "target first" : "getter alone", lanes[lane]);
            wrong++;
        }
    }
    return (wrong == 0) ? EXIT_SUCCESS : EXIT_FAILURE;
}
