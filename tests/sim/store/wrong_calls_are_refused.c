/*
 * Wrong calls of stores return the statuses that the header names: calls before the first submit,
 * blocks without a buffer, too many parts, stores with another seed at each rank, and a submit at
 * one rank beside a gsync at the other one.
 */
#include "few_ranks.h"

#include "peer/members.h"

#include <keel/store.h>

#include <limits.h>
#include <stdlib.h>

enum { RANKS = 2, BYTES = 16384, SEEDS = 5 };

typedef struct job {
    few_t few;
    keel_store_h sized[RANKS], other[RANKS], equal[RANKS];
    uint8_t bytes[RANKS][BYTES];
} job_t;

static void expect(const few_t *few, uint32_t rank, const char *what, keel_status_t is, keel_status_t right)
{
    if (is != right) {
        keel_sim_flaw(few->sim, "rank %u: %s returns %s", rank, what, keel_status_string(is));
    }
}

static void make_stores(few_t *few, uint32_t rank)
{
    job_t *job = (job_t *)few;
    keel_store_params_t params = {.field_mask = KEEL_STORE_PARAM_FIELD_BYTES | KEEL_STORE_PARAM_FIELD_COPIES |
                                                KEEL_STORE_PARAM_FIELD_BLOCK_BYTES | KEEL_STORE_PARAM_FIELD_SEED,
                                  .bytes = BYTES,
                                  .copies = RANKS,
                                  .block_bytes = 1};

    expect(few, rank, "a store", keel_store_create(few->ctx[rank], &params, &job->equal[rank]), KEEL_OK);
    params.seed = 1 + rank;
    expect(few, rank, "a store", keel_store_create(few->ctx[rank], &params, &job->other[rank]), KEEL_OK);
    params.seed = 0;
    params.block_bytes = 0;
    expect(few, rank, "a store", keel_store_create(few->ctx[rank], &params, &job->sized[rank]), KEEL_OK);
}

static keel_status_t phases(few_t *few, uint32_t rank, keel_win_h last)
{
    job_t *job = (job_t *)few;
    const keel_store_block_t block = {.bytes = 8};
    keel_store_part_t part = {.rank = 0};
    uint64_t count = 0;
    keel_status_t status;

    expect(few, rank, "a count", keel_store_count(job->equal[rank], 0, &count), KEEL_ERR_STATE);
    expect(few, rank, "a count", keel_store_count(job->sized[rank], 0, &count), KEEL_ERR_STATE);
    expect(few, rank, "a load", keel_store_load(job->equal[rank], &part, 1), KEEL_ERR_STATE);
    expect(few, rank, "no buffer", keel_store_submitv(job->sized[rank], &block, 1), KEEL_ERR_INVALID_PARAM);
    expect(few, rank, "parts", keel_store_load(job->sized[rank], &part, UINT_MAX), KEEL_ERR_LIMIT);
    expect(few, rank, "other seeds", keel_store_submit(job->other[rank], job->bytes[rank], BYTES),
           KEEL_ERR_INVALID_PARAM);
    status = keel_gsync(few->ctx[rank], 0);
    /* the call of the leader counts */
    if (status == KEEL_OK && keel_lane_is_leader(&few->ctx[rank]->lane)) {
        status = keel_gsync(few->ctx[rank], 0);
    } else if (status == KEEL_OK) {
        expect(few, rank, "a submit beside a gsync", keel_store_submit(job->equal[rank], job->bytes[rank], BYTES),
               KEEL_ERR_STATE);
    }
    return status;
}

static void no_strike(few_t *few)
{
}

int main(void)
{
    const few_play_t play = {.ranks = RANKS, .ready = make_stores, .phases = phases, .strike = no_strike};

    return few_main_both(&play, sizeof(job_t), SEEDS);
}
