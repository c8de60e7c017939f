/*
 * The last possible gsyncs. A death before the last gsync is recovered as usual. After the last
 * gsync every call that includes a gsync must return KEEL_ERR_LIMIT on all ranks, also on a
 * replacement, and the job can end.
 */
#include "few_ranks.h"

#include <stdlib.h>

#define SEEDS 40
#define PAIRS 3
#define LAST  (1 + 2 * PAIRS) /* number of possible gsyncs: one of the window, two per round */
#define RANKS 3

typedef struct job {
    few_t few;
    unsigned when;          /* rounds that rank 1 has done at its death */
    unsigned rounds[RANKS]; /* rounds of the present life */
} job_t;

static void check_refused(few_t *few, const char *call, keel_status_t status)
{
    if (status != KEEL_ERR_LIMIT) {
        keel_sim_flaw(few->sim, "%s after the last gsync: %s", call, keel_status_string(status));
    }
}

static keel_status_t phases(few_t *few, uint32_t rank, keel_win_h win)
{
    job_t *job = (job_t *)few;
    keel_context_h ctx = few->ctx[rank];
    keel_status_t status = KEEL_OK;
    keel_win_h further = NULL;

    for (uint64_t i = 0; i < PAIRS && status == KEEL_OK; i++) {
        job->rounds[rank] = (unsigned)i;
        status = few_put_ring(few, rank, win, 100 * i);
        status = (status == KEEL_OK) ? few_gsync_ring(few, rank, win, 100 * i) : status;
        /* the next put overwrites the compared value */
        status = (status == KEEL_OK) ? keel_gsync(ctx, 0) : status;
    }
    if (status != KEEL_OK) {
        return status;
    }
    job->rounds[rank] = PAIRS;
    check_refused(few, "keel_gsync", keel_gsync(ctx, 0));
    check_refused(few, "keel_checkpoint", keel_checkpoint(ctx));
    check_refused(few, "keel_win_alloc", keel_win_alloc(ctx, 64, NULL, &further));
    check_refused(few, "keel_win_free", keel_win_free(win));
    while (status == KEEL_OK && few->deaths == 0) {
        status = few_progress(few, rank);
    }
    return status;
}

static void strike(few_t *few)
{
    const job_t *job = (const job_t *)few;

    if (few->deaths == 0 && few->ctx[1] != NULL && job->rounds[1] >= job->when) {
        few_kill(few, 1);
    }
}

int main(void)
{
    static const few_play_t play = {.ranks = RANKS,
                                    .deaths = 1,
                                    .windows = 1,
                                    .counters = {.phase = KEEL_GSYNC_LAST - LAST},
                                    .phases = phases,
                                    .strike = strike};
    int is_right = 1;

    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        job_t job = {.when = seed % (PAIRS + 1)};

        is_right &= few_run(&job.few, &play, seed);
    }
    return is_right ? EXIT_SUCCESS : EXIT_FAILURE;
}
