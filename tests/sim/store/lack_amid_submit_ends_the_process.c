/*
 * A rank dies between the two gsyncs of a submit, and its replacement has no memory for pushes. The
 * others wait in the submit, so the replacement must not go on: later calls return the error. When
 * the process has ended the next one has memory, and the submit ends at all ranks.
 */
#include "few_store.h"

#include "recovery/recover.h"
#include "store/store_state.h"

#include <stdlib.h>

enum { RANKS = 3, BYTES = 8 * KEEL_STORE_LEAF, SEEDS = 8, DEAD = 1 };

typedef struct job {
    few_t few;
    keel_store_h store[RANKS];
    uint8_t bytes[RANKS][BYTES];
    uint32_t phase; /* before the submit */
    int has_begun, has_lacked;
} job_t;

static void make_store(few_t *few, uint32_t rank)
{
    const keel_store_params_t params = few_store_params(BYTES, 1, KEEL_STORE_LEAF, 2);

    few_store_make(few, rank, &params, &((job_t *)few)->store[rank]);
}

/* The second process of the rank. */
static void lack(job_t *job, keel_status_t status)
{
    few_t *few = &job->few;

    if (status != KEEL_ERR_NO_MEMORY) {
        keel_sim_flaw(few->sim, "a submit without memory returns %s", keel_status_string(status));
    }
    status = keel_gsync(few->ctx[DEAD], 0);
    if (status != KEEL_ERR_NO_MEMORY) {
        keel_sim_flaw(few->sim, "the call after it returns %s", keel_status_string(status));
    }
    job->has_lacked = 1;
    for (;;) {
        keel_sim_compute(few->sim, 1000);
    }
}

static keel_status_t phases(few_t *few, uint32_t rank, keel_win_h last)
{
    job_t *job = (job_t *)few;
    keel_status_t status;

    if (rank == 0) {
        job->phase = few->ctx[rank]->rec.phase;
        job->has_begun = 1;
    }
    status = keel_store_submit(job->store[rank], job->bytes[rank], BYTES);
    if (rank == DEAD && few->deaths == 1) {
        lack(job, status);
    }
    return status;
}

/* True if a rank has left the first gsync, and some rank has not arrived at the second. */
static int is_between(const job_t *job)
{
    const uint32_t first = job->phase + 1;
    int is_first_over = 0, is_awaited = 0;

    for (uint32_t r = 0; r < RANKS; r++) {
        if (job->few.ctx[r] == NULL) {
            return 0;
        }
        is_first_over |= r != DEAD && job->few.ctx[r]->rec.phase == first;
        is_awaited |= r != DEAD && job->few.ctx[r]->rec.arrived <= first;
    }
    return is_first_over && is_awaited;
}

static void strike(few_t *few)
{
    job_t *job = (job_t *)few;

    if (few->ctx[DEAD] == NULL) {
        return;
    }
    if (few->deaths == 0 && job->has_begun && is_between(job)) {
        keel_sim_deny(few->sim, "push of a store"); /* the others have theirs */
        few_kill(few, DEAD);
    } else if (few->deaths == 1 && job->has_lacked) {
        keel_sim_deny(few->sim, NULL);
        few_kill(few, DEAD);
    }
}

int main(void)
{
    const few_play_t play = {.ranks = RANKS,
                             .deaths = 2,
                             .lanes = "KEEL_LANES=served",
                             .ready = make_store,
                             .phases = phases,
                             .strike = strike};

    return few_main(&play, sizeof(job_t), SEEDS);
}
