/*
 * The first of two windows is freed before keel_restarted(); a replacement repeats the free. A rank
 * dies when the program has begun. Or rank 2 dies before that, and rank 0 dies when rank 1 alone
 * has begun: the job then rolls back to after the free, while rank 2 is inside the free. Or the
 * first death is a rollback to after the free. No rank may keep a mapping of a replacement's first
 * window.
 */
#include "few_ranks.h"
#include "peer/access.h"
#include "peer/region.h"

#include <stdlib.h>

#define RANKS 3
#define SEEDS 20
#define WORD  7u
#define CALLS 3u /* number of window calls */

typedef enum { DIES_LATER, DIES_BEFORE, DIES_ROLLED, DIES_LAST } what_t;

typedef struct job {
    few_t few;
    what_t what;
    uint32_t begun; /* bit mask of the ranks that have put */
    int is_met;     /* rank 2 was inside the free, and the job rolled back */
} job_t;

static void ready(few_t *few, uint32_t rank)
{
    job_t *job = (job_t *)few;
    const keel_context_h ctx = few->ctx[rank];
    const keel_status_t status = keel_win_free(ctx->windows.list[0]);

    if (status != KEEL_OK) {
        keel_sim_flaw(few->sim, "rank %u.%u: keel_win_free: %s", rank, keel_incarnation(ctx),
                      keel_status_string(status));
    }
    job->is_met |= rank == 2 && few->deaths == 2 && ctx->rec.roll == KEEL_ROLL_PENDING;
    if (job->what != DIES_BEFORE || rank == 2 || keel_incarnation(ctx) > 0) {
        return;
    }
    while (few->deaths == 0 || ctx->lane.peers[2].incarnation == 0 || keel_recovery_is_frozen(&ctx->rec) ||
           (rank == 0 && few->deaths == 1)) {
        (void)few_progress(few, rank);
    }
}

static keel_status_t phases(few_t *few, uint32_t rank, keel_win_h last)
{
    job_t *job = (job_t *)few;
    keel_status_t status = few_put_ring(few, rank, last, WORD);

    job->begun |= 1u << rank;
    while (job->what != DIES_BEFORE && status == KEEL_OK && few->deaths == 0) {
        status = few_progress(few, rank);
    }
    status = (status == KEEL_OK) ? few_gsync_ring(few, rank, last, WORD) : status;
    for (uint32_t r = 0; status == KEEL_OK && r < RANKS; r++) {
        if (r != rank && keel_access_at(&few->ctx[rank]->lane, r, KEEL_REGION_WINDOW0) != NULL) {
            keel_sim_flaw(few->sim, "rank %u has the freed window of rank %u mapped", rank, r);
        }
    }
    return status;
}

static void strike(few_t *few)
{
    const job_t *job = (const job_t *)few;
    const keel_context_h two = few->ctx[2];
    int are_behind = 1;

    if (job->what != DIES_BEFORE) {
        if (few->deaths == 0 && job->begun == (1u << RANKS) - 1) {
            few_kill(few, (uint32_t)(keel_sim_step(few->sim) % RANKS));
        }
        return;
    }
    for (uint32_t r = 0; r < RANKS - 1; r++) {
        are_behind &= few->ctx[r] != NULL && few->ctx[r]->rec.phase == CALLS;
    }
    if (few->deaths == 0 && are_behind) {
        few_kill(few, 2);
    } else if (few->deaths == 1 && job->begun != 0 && two != NULL && two->rec.phase == CALLS - 1) {
        few_kill(few, 0);
    }
}

int main(void)
{
    int is_right = 1, met = 0;

    for (unsigned what = 0; what < DIES_LAST; what++) {
        const few_play_t play = {.ranks = RANKS,
                                 .deaths = (what == DIES_BEFORE) ? 2 : 1,
                                 .windows = 2,
                                 .flags = (what == DIES_ROLLED) ? KEEL_PARAM_FLAG_NONDETERMINISTIC : 0,
                                 .ready = ready,
                                 .phases = phases,
                                 .strike = strike};

        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
            job_t job = {.what = (what_t)what};

            is_right &= few_run(&job.few, &play, seed);
            met += job.is_met;
        }
    }
    return (is_right && met > 0) ? EXIT_SUCCESS : EXIT_FAILURE;
}
