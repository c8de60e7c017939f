/*
 * One rank of a collective call has a wrong argument, or not the argument of the others: the call
 * returns an error at every rank, and nobody waits. If all ranks refuse a call the job goes on.
 */
#include "few_ranks.h"

#include "store/store_state.h"

#include <stdlib.h>

enum { RANKS = 3, BYTES = 16384, SEEDS = 4, WRONG = 1 };

/* from PARAMS on cases of keel_store_create() */
typedef enum { RANGE, NO_BUFFER, SEED, STORE, FAR_STORE, GSYNC, PARAMS, LARGE, LONG_RANGES, MEMORY, CASES } case_t;

typedef struct job {
    few_t few;
    keel_store_h store[2][RANKS];
    uint8_t bytes[RANKS][BYTES];
    unsigned ended;
} job_t;

static case_t wrong;

static keel_status_t make(job_t *job, uint32_t rank, unsigned which, int is_wrong)
{
    keel_store_params_t params = {.field_mask = KEEL_STORE_PARAM_FIELD_BYTES | KEEL_STORE_PARAM_FIELD_COPIES |
                                                KEEL_STORE_PARAM_FIELD_BLOCK_BYTES | KEEL_STORE_PARAM_FIELD_SEED,
                                  .bytes = BYTES,
                                  .copies = (is_wrong && wrong == PARAMS) ? 0 : 2,
                                  .block_bytes = 1,
                                  .seed = is_wrong && wrong == SEED};
    keel_status_t status;

    if (is_wrong && wrong == LARGE) {
        params.bytes = KEEL_OFFSET_MAX; /* of one copy */
    } else if (is_wrong && wrong == LONG_RANGES) {
        params.field_mask |= KEEL_STORE_PARAM_FIELD_RANGE_BYTES;
        params.range_bytes = KEEL_STORE_RANGE_MAX;
    } else if (is_wrong && wrong == MEMORY) {
        keel_sim_compute(job->few.sim, 1000000); /* the others have their windows */
        keel_sim_deny(job->few.sim, "window");
    }
    status = keel_store_create(job->few.ctx[rank], &params, &job->store[which][rank]);
    if (is_wrong) {
        keel_sim_deny(job->few.sim, NULL);
    }
    return status;
}

static keel_status_t submit(job_t *job, uint32_t rank, unsigned which, case_t how)
{
    return keel_store_submit(job->store[which][rank], (how == NO_BUFFER) ? NULL : job->bytes[rank],
                             (how == RANGE) ? BYTES + 1 : BYTES);
}

static void expect(const few_t *few, uint32_t rank, const char *what, keel_status_t is, keel_status_t right)
{
    if (is != right) {
        keel_sim_flaw(few->sim, "rank %u, case %d: %s returns %s", rank, (int)wrong, what, keel_status_string(is));
    }
}

static void make_stores(few_t *few, uint32_t rank)
{
    job_t *job = (job_t *)few;
    keel_win_h between;

    expect(few, rank, "a store", make(job, rank, 0, 0), KEEL_OK);
    for (unsigned i = 1; i < KEEL_GSYNC_STORES && wrong == FAR_STORE; i++) {
        expect(few, rank, "a window", keel_win_alloc(few->ctx[rank], sizeof(uint64_t), NULL, &between), KEEL_OK);
    }
    expect(few, rank, "a store", make(job, rank, 1, rank == WRONG && wrong == SEED), KEEL_OK);
}

static keel_status_t phases(few_t *few, uint32_t rank, keel_win_h last)
{
    job_t *job = (job_t *)few;
    keel_status_t status;

    expect(few, rank, "a submit beyond the store", submit(job, rank, 0, RANGE), KEEL_ERR_RANGE);
    expect(few, rank, "a submit without a buffer", submit(job, rank, 0, NO_BUFFER), KEEL_ERR_INVALID_PARAM);
    expect(few, rank, "a submit", submit(job, rank, 0, CASES), KEEL_OK);
    if (wrong == GSYNC && rank == WRONG) {
        status = keel_gsync(few->ctx[rank], 0);
    } else if (wrong >= PARAMS) {
        status = make(job, rank, 1, rank == WRONG);
    } else {
        status =
            submit(job, rank, rank != WRONG || (wrong != STORE && wrong != FAR_STORE), (rank == WRONG) ? wrong : CASES);
    }
    expect(few, rank, "the call", status,
           (wrong == STORE || wrong == FAR_STORE || wrong == GSYNC) ? KEEL_ERR_STATE
           : (wrong == RANGE && rank == WRONG)                      ? KEEL_ERR_RANGE
           : (wrong == LONG_RANGES && rank == WRONG)                ? KEEL_ERR_UNSUPPORTED
           : (wrong == MEMORY && rank == WRONG)                     ? KEEL_ERR_NO_MEMORY
                                                                    : KEEL_ERR_INVALID_PARAM);
    for (job->ended++; job->ended < RANKS;) { /* a rank that exits first would be a death */
        keel_sim_compute(few->sim, 1000);
    }
    return KEEL_OK;
}

static void no_strike(few_t *few)
{
}

int main(void)
{
    const few_play_t play = {.ranks = RANKS,
                             .message = KEEL_STORE_LEAF,
                             .ready = make_stores,
                             .phases = phases,
                             .strike = no_strike,
                             .has_failed = 1};
    int is_right = 1;

    for (wrong = 0; wrong < CASES; wrong++) {
        is_right &= few_main_both(&play, sizeof(job_t), SEEDS) == EXIT_SUCCESS;
    }
    return is_right ? EXIT_SUCCESS : EXIT_FAILURE;
}
