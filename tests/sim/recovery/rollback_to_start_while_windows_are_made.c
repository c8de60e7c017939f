/*
 * Two windows come before keel_restarted(). Rank 2 dies before any rank has called
 * keel_restarted(), and begins at the first window. Rank 1 calls keel_restarted(). Rank 0 dies, and
 * its replacement is to begin after the second window. The job must roll back to that point, and
 * rank 2 still has to make windows.
 */
#include "few_ranks.h"

#define RANKS 3
#define SEEDS 20
#define WORD  7u

typedef struct job {
    few_t few;
    int has_asked; /* rank 1 has called keel_restarted() */
} job_t;

static void ready(few_t *few, uint32_t rank)
{
    const keel_context_h ctx = few->ctx[rank];

    if (rank == 2 || keel_incarnation(ctx) > 0) {
        return;
    }
    while (few->deaths == 0 || ctx->lane.peers[2].incarnation == 0 || keel_recovery_is_frozen(&ctx->rec) ||
           (rank == 0 && few->deaths == 1)) {
        (void)few_progress(few, rank);
    }
}

static keel_status_t phases(few_t *few, uint32_t rank, keel_win_h last)
{
    keel_status_t status;

    ((job_t *)few)->has_asked |= rank == 1;
    status = few_put_ring(few, rank, last, WORD);
    return (status == KEEL_OK) ? few_gsync_ring(few, rank, last, WORD) : status;
}

static void strike(few_t *few)
{
    if (few->deaths == 0 && few->ctx[0] != NULL && few->ctx[1] != NULL && few->ctx[0]->rec.phase == 2 &&
        few->ctx[1]->rec.phase == 2) {
        few_kill(few, 2);
    } else if (few->deaths == 1 && ((const job_t *)few)->has_asked) {
        few_kill(few, 0);
    }
}

int main(void)
{
    static const few_play_t play = {
        .ranks = RANKS, .deaths = 2, .windows = 2, .ready = ready, .phases = phases, .strike = strike};

    return few_main(&play, sizeof(job_t), SEEDS);
}
