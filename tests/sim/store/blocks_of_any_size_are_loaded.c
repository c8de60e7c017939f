/*
 * Blocks of different sizes, also of none, must be loaded one by one, in runs and after the deaths
 * of ranks before and after the submit. Sizes and numbers beyond the submitted blocks are refused.
 */
#include "few_store.h"

#include "store/store_state.h"

#include <stdlib.h>
#include <string.h>

enum { RANKS = 4, BLOCKS = 40, BYTES = 16000, SEEDS = 15 };

typedef struct job {
    few_t few;
    keel_store_h store[RANKS];
    uint8_t bytes[RANKS][BYTES], loaded[RANKS][BYTES];
} job_t;

static uint64_t blocks_of(uint32_t rank)
{
    return BLOCKS - 7 * rank;
}

static uint64_t size_of(uint32_t rank, uint64_t block)
{
    return (block * 131 + rank * 29) % 5 == 0 ? 0 : (block * block * 97 + rank * 31) % 700;
}

static uint8_t byte_of(unsigned version, uint32_t rank, uint64_t block, uint64_t at)
{
    return (uint8_t)(version * 101 + rank * 53 + block * 17 + at * 3);
}

static void make_store(few_t *few, uint32_t rank)
{
    const keel_store_params_t params = few_store_params(BYTES, 0, KEEL_STORE_LEAF, 2);

    few_store_make(few, rank, &params, &((job_t *)few)->store[rank]);
}

static keel_status_t submit(job_t *job, uint32_t rank, unsigned version)
{
    keel_store_block_t blocks[BLOCKS];
    uint8_t *to = job->bytes[rank];

    for (uint64_t i = 0; i < blocks_of(rank); i++) {
        blocks[i] = (keel_store_block_t){.buffer = to, .bytes = size_of(rank, i)};
        for (uint64_t at = 0; at < blocks[i].bytes; at++) {
            *to++ = byte_of(version, rank, i, at);
        }
    }
    return keel_store_submitv(job->store[rank], blocks, blocks_of(rank));
}

static keel_status_t load(job_t *job, uint32_t rank, uint32_t of, unsigned version, uint64_t first, uint64_t count)
{
    keel_store_part_t part = {.rank = of, .first = first, .count = count, .buffer = job->loaded[rank]};
    const uint8_t *from = job->loaded[rank];
    uint64_t sizes[BLOCKS], known = 0;
    keel_status_t status = keel_store_count(job->store[rank], of, &known);

    status = (status == KEEL_OK) ? keel_store_sizes(job->store[rank], of, first, count, sizes) : status;
    status = (status == KEEL_OK) ? keel_store_load(job->store[rank], &part, 1) : status;
    for (uint64_t i = first; status == KEEL_OK && i < first + count; i++) {
        int is_right = known == blocks_of(of) && sizes[i - first] == size_of(of, i);

        for (uint64_t at = 0; at < size_of(of, i); at++) {
            is_right &= *from++ == byte_of(version, of, i, at);
        }
        if (!is_right) {
            keel_sim_flaw(job->few.sim, "rank %u: block %lu of rank %u is wrong", rank, (unsigned long)i, of);
            return KEEL_ERR_CORRUPT;
        }
    }
    return status;
}

static keel_status_t load_all(job_t *job, uint32_t rank, unsigned version)
{
    keel_status_t status = KEEL_OK;

    for (uint32_t of = 0; of < RANKS && status == KEEL_OK; of++) {
        status = load(job, rank, of, version, 0, blocks_of(of));
        status = (status == KEEL_OK) ? load(job, rank, of, version, 0, 0) : status;
        for (uint64_t i = 0; i < blocks_of(of) && status == KEEL_OK; i += 3) {
            status = load(job, rank, of, version, i, (blocks_of(of) - i < 5) ? blocks_of(of) - i : 5);
        }
    }
    return status;
}

static keel_status_t refuse(job_t *job, uint32_t rank)
{
    keel_store_part_t beyond = {.rank = 3, .first = blocks_of(3) - 1, .count = 2, .buffer = job->loaded[rank]};
    uint64_t size;

    if (keel_store_load(job->store[rank], &beyond, 1) != KEEL_ERR_RANGE ||
        keel_store_sizes(job->store[rank], 3, blocks_of(3), 1, &size) != KEEL_ERR_RANGE ||
        keel_store_sizes(job->store[rank], RANKS, 0, 1, &size) != KEEL_ERR_RANK ||
        keel_store_submit(job->store[rank], job->bytes[rank], 1) != KEEL_ERR_UNSUPPORTED) {
        keel_sim_flaw(job->few.sim, "rank %u: a wrong argument is not refused", rank);
        return KEEL_ERR_CORRUPT;
    }
    return KEEL_OK;
}

static keel_status_t phases(few_t *few, uint32_t rank, keel_win_h last)
{
    job_t *job = (job_t *)few;
    keel_status_t status = KEEL_OK;

    for (unsigned version = 0; version < 3 && status == KEEL_OK; version++) {
        status = submit(job, rank, version);
        status = (status == KEEL_OK) ? load_all(job, rank, version) : status;
        status = (status == KEEL_OK && few->play->deaths == 0) ? refuse(job, rank) : status;
        status = (status == KEEL_OK) ? keel_gsync(few->ctx[rank], 0) : status;
    }
    return status;
}

static void strike(few_t *few)
{
    if (few->play->deaths > 0 && few->deaths == 0 && few->ctx[2] != NULL && few->ctx[2]->rec.phase >= 3) {
        few_kill(few, 2);
    }
}

int main(void)
{
    int is_right = 1;

    for (unsigned deaths = 0; deaths < 2; deaths++) {
        const few_play_t play = {
            .ranks = RANKS, .deaths = deaths, .ready = make_store, .phases = phases, .strike = strike};

        is_right &= few_main_both(&play, sizeof(job_t), SEEDS) == EXIT_SUCCESS;
    }
    return is_right ? EXIT_SUCCESS : EXIT_FAILURE;
}
