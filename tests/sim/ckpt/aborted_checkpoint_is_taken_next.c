/*
 * A death aborts a checkpoint. The next safe gsync must take the checkpoint, whatever happens to
 * rank 0, the announcer of checkpoints. Rank 0 may be the dead rank, and the replacement of rank 0
 * may die too before the gsync. Or rank 0 is still inside the gsync of its announcement: rank 0 is
 * released from the gsync and has no image to give up.
 */
#include "few_ranks.h"

#include <stdlib.h>

#define SEEDS   20
#define HANG_NS 100000

typedef struct job {
    few_t few;
    int is_hung; /* rank 0 has hung in the gsync from which it is released */
} job_t;

/* Runs the checkpoint, its abort by all deaths, and the next safe gsync. */
static keel_status_t take_next(few_t *few, uint32_t rank)
{
    const keel_context_h ctx = few->ctx[rank];
    keel_status_t status = keel_checkpoint(ctx);
    uint32_t next;

    while (status == KEEL_OK && (few->deaths < few->play->deaths || keel_recovery_is_frozen(&ctx->rec))) {
        status = few_progress(few, rank);
    }
    next = ctx->rec.phase + 1;
    status = (status == KEEL_OK) ? keel_gsync(ctx, KEEL_GSYNC_SAFE) : status;
    while (status == KEEL_OK && ctx->ckpt.set.making.number != 0 && ctx->ckpt.set.state.stage != KEEL_SET_SAFE) {
        status = few_progress(few, rank);
    }
    status = (status == KEEL_OK) ? keel_gsync(ctx, 0) : status;
    if (status == KEEL_OK && ctx->ckpt.set.used.number != next) {
        keel_sim_flaw(few->sim, "generation %u is in use, %u was pending", ctx->ckpt.set.used.number, next);
    }
    return status;
}

/* ---- rank 0 dies, once or twice ---- */

static keel_status_t replaced(few_t *few, uint32_t rank, keel_win_h first)
{
    return take_next(few, rank);
}

static void strike_replaced(few_t *few)
{
    const keel_context_h ctx = few->ctx[0], other = few->ctx[1];

    if (ctx == NULL || other == NULL || few->deaths >= few->play->deaths) {
        return;
    }
    if (few->deaths == 0 && other->ckpt.set.making.number != 0 && ctx->rec.arrived == other->ckpt.set.making.number) {
        few_kill(few, 0);
    } else if (few->deaths == 1 && keel_incarnation(ctx) == 1 && other->ckpt.set.making.number == 0 &&
               keel_recovery_state(&ctx->rec) != KEEL_RANK_FRESH) {
        few_kill(few, 0);
    }
}

/* ---- rank 0 is released ---- */

static keel_status_t released(few_t *few, uint32_t rank, keel_win_h first)
{
    keel_status_t status = KEEL_OK;

    while (status == KEEL_OK && rank > 0 && !((const job_t *)few)->is_hung) {
        status = few_progress(few, rank);
    }
    return (status == KEEL_OK) ? take_next(few, rank) : status;
}

static int knows_checkpoint(const few_t *few, uint32_t rank)
{
    const keel_lane_t *lane = &few->ctx[rank]->lane;
    const uint32_t number = few->ctx[0]->rec.arrived;

    return keel_arrive_number(lane->board[0].arrive, lane->rollback, 0) >= number &&
           (keel_board_get(&lane->board[0].flags[number & 1]) & KEEL_ARRIVE_CHECKPOINT);
}

static void strike_released(few_t *few)
{
    job_t *job = (job_t *)few;
    const keel_context_h ctx = few->ctx[0], other = few->ctx[1];

    if (few->deaths > 0 || ctx == NULL || other == NULL || few->ctx[2] == NULL) {
        return;
    }
    if (!job->is_hung && knows_checkpoint(few, 1) && knows_checkpoint(few, 2)) {
        job->is_hung = keel_sim_hang(few->sim, 0, HANG_NS);
    }
    if (other->ckpt.set.making.number != 0 && ctx->rec.phase < other->ckpt.set.making.number) {
        few_kill(few, 2);
    }
}

int main(void)
{
    static const few_play_t plays[] = {
        {.ranks = 2, .deaths = 1, .windows = 1, .phases = replaced, .strike = strike_replaced},
        {.ranks = 2, .deaths = 2, .windows = 1, .phases = replaced, .strike = strike_replaced},
        {.ranks = 3, .deaths = 1, .windows = 1, .phases = released, .strike = strike_released}};
    int is_right = 1;

    for (size_t i = 0; i < sizeof(plays) / sizeof(plays[0]); i++) {
        is_right &= few_main(&plays[i], sizeof(job_t), SEEDS) == EXIT_SUCCESS;
    }
    return is_right ? EXIT_SUCCESS : EXIT_FAILURE;
}
