/*
 * A holder dies while the other ranks wait in a submit, and its replacement dies amid the messages
 * of a range. The third process must get the range from the start: each cell of the new version
 * must fit its sums.
 */
#include "few_store.h"

#include "base/crc.h"
#include "store/store_push.h"
#include "store/store_state.h"

#include <stdlib.h>
#include <string.h>

enum {
    RANKS = 3,
    RANGES = 3,
    RANGE = 32 * KEEL_STORE_LEAF,
    BYTES = RANGES * RANGE,
    SEEDS = 12,
    HOLDER = 1,
    BEHIND = 2
};

typedef struct job {
    few_t few;
    keel_store_h store[RANKS];
    uint8_t bytes[RANKS][BYTES];
} job_t;

static void make_store(few_t *few, uint32_t rank)
{
    const keel_store_params_t params = few_store_params(BYTES, 1, RANGE, 3);

    few_store_make(few, rank, &params, &((job_t *)few)->store[rank]);
}

static keel_status_t check_cells(const job_t *job, uint32_t rank)
{
    const struct keel_store *store = job->store[rank];
    const uint32_t newest = keel_store_head(store)->newest - 1;

    for (uint64_t i = 0; i < keel_store_cells(store); i++) {
        const keel_store_mark_t *mark = keel_store_own_mark(store, newest, i);
        const uint8_t *bytes = (const uint8_t *)mark + store->mark_bytes;

        for (unsigned leaf = 0; leaf < RANGE / KEEL_STORE_LEAF && mark->label != 0; leaf++) {
            if (keel_crc(0, bytes + leaf * KEEL_STORE_LEAF, KEEL_STORE_LEAF) != mark->sums[leaf]) {
                keel_sim_flaw(job->few.sim, "rank %u: leaf %u of cell %lu is not as pushed", rank, leaf,
                              (unsigned long)i);
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

    memset(job->bytes[rank], 1 + (int)rank, BYTES);
    /* the last rank keeps the others in the first gsync until both deaths have come */
    status = (rank == BEHIND) ? few_await_deaths(few, rank, 2) : KEEL_OK;
    status = (status == KEEL_OK) ? keel_store_submit(job->store[rank], job->bytes[rank], BYTES) : status;
    status = (status == KEEL_OK) ? check_cells(job, rank) : status;
    if (status == KEEL_OK) {
        job->store[rank] = NULL; /* strike() is also called after keel_finalize() */
    }
    return status;
}

/* Kills the holder when rank 0 waits, and its replacement amid the messages of a range. */
static void strike(few_t *few)
{
    const struct keel_store *store = (few->ctx[0] != NULL) ? ((job_t *)few)->store[0] : NULL;
    const keel_store_push_t *push = (store != NULL) ? store->pushing : NULL;

    if (push == NULL || few->ctx[HOLDER] == NULL || few->deaths >= 2) {
        return;
    }
    if (few->deaths == 0
            ? push->entry == keel_store_cells(store)
            : push->stage > 2 &&
                  keel_store_place_find(&store->place, push->entry / 3, (uint32_t)(push->entry % 3)).holder == HOLDER) {
        few_kill(few, HOLDER);
    }
}

int main(void)
{
    const few_play_t play = {.ranks = RANKS,
                             .deaths = 2,
                             .lanes = "KEEL_LANES=served",
                             .message = KEEL_STORE_LEAF + 512,
                             .ready = make_store,
                             .phases = phases,
                             .strike = strike};

    return few_main(&play, sizeof(job_t), SEEDS);
}
