/*
 * Some bytes of copies are damaged at one of two holders, after the submit. Loads must take the
 * other copy. Where both copies of a block are damaged the block is lost.
 */
#include "few_store.h"

#include "store/store_state.h"

#include <stdlib.h>
#include <string.h>

enum { RANKS = 3, RANGES = 6, BLOCK = KEEL_STORE_LEAF, SEEDS = 10 };

typedef struct job {
    few_t few;
    keel_store_h store[RANKS];
    uint8_t bytes[RANKS][RANGES * BLOCK];
} job_t;

static void make_store(few_t *few, uint32_t rank)
{
    const keel_store_params_t params = few_store_params(RANGES * BLOCK, BLOCK, KEEL_STORE_LEAF, 2);

    few_store_make(few, rank, &params, &((job_t *)few)->store[rank]);
}

/* Both copies of the last range of rank 0, and the first copies of all others. */
static void damage(const job_t *job, uint32_t rank)
{
    const struct keel_store *store = job->store[rank];

    for (uint64_t i = 0; i < keel_store_cells(store); i++) {
        uint32_t copy;
        const uint64_t range = keel_store_place_range(&store->place, rank, i, &copy);
        uint8_t *bytes = (uint8_t *)keel_store_own_mark(store, 0, i) + store->mark_bytes;

        if (copy == 0 || range == RANGES - 1) {
            bytes[range * 7 % BLOCK] ^= 1;
        }
    }
}

static keel_status_t load(job_t *job, uint32_t rank, uint32_t of)
{
    for (unsigned i = 0; i < RANGES; i++) {
        keel_store_part_t part = {.rank = of, .first = i, .count = 1, .buffer = job->bytes[rank]};
        const int is_lost = of == 0 && i == RANGES - 1;
        const keel_status_t status = keel_store_load(job->store[rank], &part, 1);

        if (status != (is_lost ? KEEL_ERR_LOST : KEEL_OK) || part.status != status) {
            keel_sim_flaw(job->few.sim, "block %u of rank %u: %s", i, of, keel_status_string(status));
            return KEEL_ERR_CORRUPT;
        }
        for (unsigned k = 0; k < BLOCK && !is_lost; k++) {
            if (job->bytes[rank][k] != (uint8_t)(16 * of + i)) {
                keel_sim_flaw(job->few.sim, "a damaged byte of block %u of rank %u is loaded", i, of);
                return KEEL_ERR_CORRUPT;
            }
        }
    }
    return KEEL_OK;
}

static keel_status_t phases(few_t *few, uint32_t rank, keel_win_h last)
{
    job_t *job = (job_t *)few;
    keel_status_t status;

    for (unsigned i = 0; i < RANGES; i++) {
        memset(job->bytes[rank] + i * BLOCK, (int)(16 * rank + i), BLOCK);
    }
    status = keel_store_submit(job->store[rank], job->bytes[rank], RANGES);
    if (status == KEEL_OK) {
        damage(job, rank);
        status = keel_gsync(few->ctx[rank], 0);
    }
    for (uint32_t of = 0; of < RANKS && status == KEEL_OK; of++) {
        status = load(job, rank, of);
    }
    return status;
}

static void strike(few_t *few)
{
}

int main(void)
{
    const few_play_t play = {.ranks = RANKS, .ready = make_store, .phases = phases, .strike = strike};

    return few_main_both(&play, sizeof(job_t), SEEDS);
}
