/*
 * The replacement of rank 2 is on its way back. Rank 0 adds to a word of rank 2 before any other
 * rank has begun, and rank 2 is handed the addition. Rank 0 dies, and its replacement adds again.
 * The first addition must not stay.
 */
#include "few_ranks.h"

#define RANKS 3
#define SEEDS 20
#define SUM   5u

typedef struct job {
    few_t few;
    int has_added; /* the first life of rank 0 has added */
} job_t;

static void ready(few_t *few, uint32_t rank)
{
    const keel_context_h ctx = few->ctx[rank];

    if (rank == 0 && keel_incarnation(ctx) > 0) {
        return;
    }
    while ((rank == 0) ? ctx->rec.decisions == 0
                       : few->deaths < 2 || keel_recovery_is_frozen(&ctx->rec) || ctx->lane.peers[0].incarnation == 0) {
        (void)few_progress(few, rank);
    }
}

static keel_status_t phases(few_t *few, uint32_t rank, keel_win_h last)
{
    const uint64_t *own = keel_win_base(last);
    keel_status_t status = KEEL_OK;

    if (rank == 0) {
        status = keel_atomic(last, KEEL_ATOMIC_ADD, 2, 0, sizeof(*own), SUM, 0, NULL);
        ((job_t *)few)->has_added = 1;
    }
    status = (status == KEEL_OK) ? keel_gsync(few->ctx[rank], 0) : status;
    return (status == KEEL_OK && rank == 2 && *own != SUM) ? KEEL_ERR_CORRUPT : status;
}

static void strike(few_t *few)
{
    const keel_context_h two = few->ctx[2];

    if (few->deaths == 0 && few->ctx[0] != NULL && few->ctx[1] != NULL && two != NULL && two->rec.phase == 1 &&
        few->ctx[0]->rec.phase == 1 && few->ctx[1]->rec.phase == 1) {
        few_kill(few, 2);
    } else if (few->deaths == 1 && ((const job_t *)few)->has_added && two != NULL && two->rec.phase == 1 &&
               *(const uint64_t *)two->windows.list[0]->base == SUM) {
        few_kill(few, 0);
    }
}

int main(void)
{
    static const few_play_t play = {
        .ranks = RANKS, .deaths = 2, .windows = 1, .ready = ready, .phases = phases, .strike = strike};

    return few_main(&play, sizeof(job_t), SEEDS);
}
