/*
 * A load beside a submit of another thread is refused, a submit waits for loads of other threads,
 * and no refill goes on in keel_store_free(). The other thread is the simulator, between two steps.
 */
#include "few_store.h"

#include "store/store_state.h"

#include <stdlib.h>

enum { RANKS = 3, RANGES = 64, BYTES = RANGES * KEEL_STORE_LEAF, SEEDS = 5, HELD = 1, DEAD = 2, HOLD_STEPS = 2000 };

typedef struct job {
    few_t few;
    keel_store_h store[RANKS];
    uint8_t bytes[RANKS][BYTES];
    unsigned held; /* steps in which another thread of the rank is in a load */
} job_t;

static void make_store(few_t *few, uint32_t rank)
{
    const keel_store_params_t params = few_store_params(BYTES, 1, KEEL_STORE_LEAF, 2);

    few_store_make(few, rank, &params, &((job_t *)few)->store[rank]);
}

static void load_beside_submit(job_t *job, uint32_t rank)
{
    keel_store_part_t part = {.rank = 0, .count = 1, .buffer = job->bytes[rank]};
    keel_status_t status;

    job->store[rank]->is_submit_called = 1;
    status = keel_store_load(job->store[rank], &part, 1);
    job->store[rank]->is_submit_called = 0;
    if (status != KEEL_ERR_STATE) {
        keel_sim_flaw(job->few.sim, "rank %u: a load beside a submit returns %s", rank, keel_status_string(status));
    }
}

static keel_status_t beside(few_t *few, uint32_t rank, keel_win_h last)
{
    job_t *job = (job_t *)few;
    keel_status_t status;

    if (rank == HELD) {
        job->store[rank]->loads++;
        job->held = 1;
    }
    status = keel_store_submit(job->store[rank], job->bytes[rank], BYTES);
    load_beside_submit(job, rank);
    return status;
}

static void hold(few_t *few)
{
    job_t *job = (job_t *)few;
    const struct keel_store *store = job->store[HELD];

    for (uint64_t i = 0; job->held > 0 && i < keel_store_cells(store); i++) {
        if (store->pushed[i] != 0) {
            keel_sim_flaw(few->sim, "rank %u pushes beside a load", HELD);
        }
    }
    if (job->held > 0 && ++job->held > HOLD_STEPS) {
        job->held = 0;
        job->store[HELD]->loads--;
    }
}

static keel_status_t free_early(few_t *few, uint32_t rank, keel_win_h last)
{
    job_t *job = (job_t *)few;
    uint64_t *is_saved = keel_win_base(last);
    keel_status_t status = KEEL_OK;

    if (!*is_saved) {
        status = keel_store_submit(job->store[rank], job->bytes[rank], BYTES);
        *is_saved = 1;
        status = (status == KEEL_OK) ? keel_checkpoint(few->ctx[rank]) : status;
        status = (status == KEEL_OK) ? few_await_deaths(few, rank, 1) : status;
    }
    status = (status == KEEL_OK) ? keel_store_free(job->store[rank]) : status;
    job->store[rank] = (status == KEEL_OK) ? NULL : job->store[rank];
    return status;
}

/* Kills a rank that has submitted, then looks at ranks that free the store. */
static void watch(few_t *few)
{
    job_t *job = (job_t *)few;

    if (few->deaths == 0 && few->ctx[DEAD] != NULL && few->ctx[DEAD]->ckpt.set.used.number > 0) {
        few_kill(few, DEAD);
        job->store[DEAD] = NULL;
    }
    for (uint32_t r = 0; r < RANKS; r++) {
        const struct keel_store *store = (few->ctx[r] != NULL) ? job->store[r] : NULL;

        if (store != NULL && store->freeing == 1 + (uint64_t)store->ctx->lane.rollback && store->refill.is_active) {
            keel_sim_flaw(few->sim, "rank %u refills a store that it frees", r);
        }
    }
}

int main(void)
{
    const few_play_t holds = {.ranks = RANKS, .ready = make_store, .phases = beside, .strike = hold};
    const few_play_t frees = {
        .ranks = RANKS, .deaths = 1, .windows = 1, .ready = make_store, .phases = free_early, .strike = watch};
    const int is_right = few_main(&holds, sizeof(job_t), SEEDS) == EXIT_SUCCESS;

    return (few_main_both(&frees, sizeof(job_t), SEEDS) == EXIT_SUCCESS && is_right) ? EXIT_SUCCESS : EXIT_FAILURE;
}
