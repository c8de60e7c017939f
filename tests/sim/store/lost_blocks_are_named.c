/*
 * Two ranks die at once, and no other rank holds the blocks of which both had the copies. Loads of
 * exactly these blocks must return KEEL_ERR_LOST, on survivors and replacements alike, all other
 * blocks are loaded, and a submit makes the store whole again. The same holds for the loads of one
 * rank while all other ranks wait in the next submit: they must refill there.
 */
#include "few_store.h"

#include "store/store_state.h"

#include <stdlib.h>
#include <string.h>

enum { RANKS = 4, RANGES = 8, BLOCK = KEEL_STORE_LEAF, FIRST = 0, SECOND = 2, LOADER = 1, SEEDS = 20 };

typedef struct job {
    few_t few;
    keel_store_h store[RANKS];
    uint8_t bytes[RANKS][RANGES * BLOCK];
    unsigned lost;
    int is_read; /* both dead ranks are back */
} job_t;

static void make_store(few_t *few, uint32_t rank)
{
    const keel_store_params_t params = few_store_params(RANGES * BLOCK, BLOCK, KEEL_STORE_LEAF, 2);

    few_store_make(few, rank, &params, &((job_t *)few)->store[rank]);
}

static keel_status_t submit(job_t *job, uint32_t rank, unsigned version)
{
    for (unsigned i = 0; i < RANGES; i++) {
        memset(job->bytes[rank] + i * BLOCK, (int)(64 * version + 8 * rank + i), BLOCK);
    }
    return keel_store_submit(job->store[rank], job->bytes[rank], RANGES);
}

static int is_held_by_dead(const struct keel_store *store, uint64_t range)
{
    unsigned dead = 0;

    for (uint32_t copy = 0; copy < 2; copy++) {
        const uint32_t holder = keel_store_place_find(&store->place, range, copy).holder;

        dead += holder == FIRST || holder == SECOND;
    }
    return dead == 2;
}

/* @a are_lost: the blocks of both dead ranks are */
static keel_status_t load(job_t *job, uint32_t rank, unsigned version, int are_lost)
{
    keel_store_part_t parts[RANKS * RANGES];
    keel_status_t status;
    unsigned lost = 0;

    for (unsigned i = 0; i < RANKS * RANGES; i++) {
        parts[i] = (keel_store_part_t){
            .rank = i / RANGES, .first = i % RANGES, .count = 1, .buffer = job->bytes[rank] + i % RANGES * BLOCK};
    }
    for (unsigned r = 0; r < RANKS; r++) {
        status = keel_store_load(job->store[rank], &parts[r * RANGES], RANGES);
        if (status != KEEL_OK && status != KEEL_ERR_LOST) {
            return status;
        }
        for (unsigned i = 0; i < RANGES; i++) {
            const int is_lost = are_lost && is_held_by_dead(job->store[rank], r * RANGES + i);
            const uint8_t *bytes = job->bytes[rank] + i * BLOCK, right = (uint8_t)(64 * version + 8 * r + i);

            lost += (unsigned)is_lost;
            if (parts[r * RANGES + i].status != (is_lost ? KEEL_ERR_LOST : KEEL_OK) ||
                (!is_lost && (bytes[0] != right || bytes[BLOCK - 1] != right))) {
                keel_sim_flaw(job->few.sim, "rank %u: block %u of rank %u is %s, status %s", rank, i, r,
                              is_lost ? "lost" : "not lost", keel_status_string(parts[r * RANGES + i].status));
                return KEEL_ERR_CORRUPT;
            }
        }
    }
    job->lost = lost;
    return KEEL_OK;
}

/* @a is_loading: false if the rank goes on to the next submit at once */
static keel_status_t run(few_t *few, uint32_t rank, int is_loading)
{
    job_t *job = (job_t *)few;
    keel_status_t status = submit(job, rank, 1);

    if (status == KEEL_OK && !is_loading) {
        status = submit(job, rank, 2);
        return (status == KEEL_OK) ? load(job, rank, 2, 0) : status;
    }
    status = (status == KEEL_OK) ? few_await_deaths(few, rank, 2) : status;
    /* until then a survivor may read the memory of the dead */
    while (status == KEEL_OK && !(few_is_back(few, FIRST) && few_is_back(few, SECOND)) && !job->is_read) {
        status = few_progress(few, rank);
    }
    job->is_read = 1;
    status = (status == KEEL_OK) ? load(job, rank, 1, 1) : status;
    if (status == KEEL_OK && job->lost == 0) {
        keel_sim_flaw(few->sim, "no block was lost: the test proves nothing");
    }
    status = (status == KEEL_OK) ? submit(job, rank, 2) : status;
    return (status == KEEL_OK) ? load(job, rank, 2, 0) : status;
}

static keel_status_t all_load(few_t *few, uint32_t rank, keel_win_h last)
{
    return run(few, rank, 1);
}

static keel_status_t one_loads(few_t *few, uint32_t rank, keel_win_h last)
{
    return run(few, rank, rank == LOADER);
}

/* All ranks have left the submit. */
static void strike(few_t *few)
{
    for (uint32_t r = 0; few->deaths == 0 && r < RANKS; r++) {
        const struct keel_store *store = ((job_t *)few)->store[r];

        if (few->ctx[r] == NULL || store == NULL || keel_store_head(store)->newest == 0) {
            return;
        }
    }
    if (few->deaths == 0) {
        few_kill(few, FIRST);
        few_kill(few, SECOND);
    }
}

int main(void)
{
    int is_right = 1;

    for (unsigned i = 0; i < 2; i++) {
        const few_play_t play = {.ranks = RANKS,
                                 .deaths = 2,
                                 .ready = make_store,
                                 .phases = (i == 0) ? all_load : one_loads,
                                 .strike = strike};

        is_right &= few_main_both(&play, sizeof(job_t), SEEDS) == EXIT_SUCCESS;
    }
    return is_right ? EXIT_SUCCESS : EXIT_FAILURE;
}
