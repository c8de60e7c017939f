/*
 * A store that is not made leaves nothing behind: no window without memory, no object if a
 * rollback leaves the call by a jump. Marks of the longest range must fit in a message. The bytes
 * of a store are no image bytes, so the logs do not grow with the store.
 */
#include "few_ranks.h"

#include "store/store_state.h"

#include <stdlib.h>

enum { RANKS = 3, BYTES = 16384, LARGE = 16 << 20, SEEDS = 5, ASKER = 1 };

typedef struct job {
    few_t few;
    keel_store_h store[RANKS];
    int has_asked; /* for the rollback */
} job_t;

static keel_status_t make(job_t *job, uint32_t rank, uint64_t bytes, uint64_t range_bytes)
{
    const keel_store_params_t params = {.field_mask = KEEL_STORE_PARAM_FIELD_BYTES | KEEL_STORE_PARAM_FIELD_COPIES |
                                                      KEEL_STORE_PARAM_FIELD_RANGE_BYTES,
                                        .bytes = bytes,
                                        .copies = 2,
                                        .range_bytes = range_bytes};

    return keel_store_create(job->few.ctx[rank], &params, &job->store[rank]);
}

static void expect(const few_t *few, uint32_t rank, const char *what, uint64_t is, uint64_t right)
{
    if (is != right) {
        keel_sim_flaw(few->sim, "rank %u: %s is %lu instead of %lu", rank, what, (unsigned long)is,
                      (unsigned long)right);
    }
}

static void lack_memory(few_t *few, uint32_t rank)
{
    const keel_context_h ctx = few->ctx[rank];
    const unsigned windows = ctx->windows.count;

    keel_sim_deny(few->sim, "pushes of a store");
    expect(few, rank, "the status", make((job_t *)few, rank, BYTES, KEEL_STORE_LEAF), KEEL_ERR_NO_MEMORY);
    expect(few, rank, "the number of windows", ctx->windows.count, windows);
    keel_sim_deny(few->sim, NULL);
}

static void make_large(few_t *few, uint32_t rank)
{
    const keel_context_h ctx = few->ctx[rank];
    const size_t logs = ctx->pool.bytes;

    expect(few, rank, "the status", make((job_t *)few, rank, LARGE, KEEL_STORE_LEAF << 5), KEEL_OK);
    expect(few, rank, "the size of the logs", ctx->pool.bytes, logs);
}

static void make_long_ranges(few_t *few, uint32_t rank)
{
    expect(few, rank, "the status", make((job_t *)few, rank, LARGE, KEEL_STORE_RANGE_MAX), KEEL_ERR_UNSUPPORTED);
}

static keel_status_t end(few_t *few, uint32_t rank, keel_win_h last)
{
    return keel_gsync(few->ctx[rank], 0);
}

/* The others are in the call when a rank asks for a rollback. */
static keel_status_t jump(few_t *few, uint32_t rank, keel_win_h last)
{
    job_t *job = (job_t *)few;
    const keel_context_h ctx = few->ctx[rank];
    keel_status_t status;

    KEEL_RESTART_POINT(ctx);
    status = keel_restarted(ctx) ? keel_restore(ctx) : keel_checkpoint(ctx);
    while (status == KEEL_OK && rank == ASKER && !job->has_asked) {
        keel_sim_compute(few->sim, 100000);
        job->has_asked = 1;
        status = keel_rollback(ctx);
    }
    if (status == KEEL_OK) {
        status = make(job, rank, BYTES, KEEL_STORE_LEAF);
    }
    if (status == KEEL_OK) {
        expect(few, rank, "the number of stores", ucs_list_length(&ctx->stores), 1);
        status = keel_gsync(ctx, 0);
    }
    keel_restart_clear(ctx);
    return status;
}

static void no_strike(few_t *few)
{
}

int main(void)
{
    static const few_play_t plays[] = {
        {.ranks = RANKS, .ready = lack_memory, .phases = end, .strike = no_strike},
        {.ranks = RANKS, .lanes = "KEEL_OPLOG_SIZE=auto", .ready = make_large, .phases = end, .strike = no_strike},
        {.ranks = RANKS, .message = KEEL_STORE_LEAF, .ready = make_long_ranges, .phases = end, .strike = no_strike},
        {.ranks = RANKS, .windows = 1, .phases = jump, .strike = no_strike},
    };
    int is_right = 1;

    for (size_t i = 0; i < sizeof(plays) / sizeof(plays[0]); i++) {
        is_right &= few_main(&plays[i], sizeof(job_t), (i == 1) ? 1 : SEEDS) == EXIT_SUCCESS;
    }
    return is_right ? EXIT_SUCCESS : EXIT_FAILURE;
}
