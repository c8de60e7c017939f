/*
 * A checkpoint that a death aborts is taken by the next safe gsync, also when rank 0, which says when one is taken, has yet to leave the
 * gsync it said so at: it is released from there, and has no image that could be given up.
 */
#include "few_ranks.h"

#include <stdlib.h>

#define SEEDS   20
#define HANG_NS 100000

typedef struct job {
    few_t few;
    int is_hung; /* rank 0 was, in that gsync */
} job_t;

static keel_status_t phases(few_t *few, uint32_t rank, keel_win_h first)
{
    const keel_context_h ctx = few->ctx[rank];
    const job_t *job = (const job_t *)few;
    keel_status_t status = KEEL_OK;
    uint32_t next;

    while (status == KEEL_OK && rank > 0 && !job->is_hung) {
        keel_sim_compute(few->sim, 1000);
        status = keel_progress(ctx);
    }
    status = (status == KEEL_OK) ? keel_checkpoint(ctx) : status;
    while (status == KEEL_OK && (few->deaths == 0 || ctx->rec.is_frozen)) {
        keel_sim_compute(few->sim, 1000);
        status = keel_progress(ctx);
    }
    next = ctx->rec.phase + 1;
    status = (status == KEEL_OK) ? keel_gsync(ctx, KEEL_GSYNC_SAFE) : status;
    while (status == KEEL_OK && ctx->ckpt.making.number != 0 && ctx->ckpt.stage != KEEL_CKPT_SAFE) {
        keel_sim_compute(few->sim, 1000);
        status = keel_progress(ctx);
    }
    status = (status == KEEL_OK) ? keel_gsync(ctx, 0) : status;
    if (status == KEEL_OK && ctx->ckpt.used.number != next) {
        keel_sim_flaw(few->sim, "generation %u is in use, %u was owed", ctx->ckpt.used.number, next);
    }
    return status;
}

static int has_heard(const few_t *few, uint32_t rank)
{
    const keel_lane_t *lane = &few->ctx[rank]->lane;
    const uint32_t number = few->ctx[0]->rec.arrived;

    return keel_arrive_number(lane->board[0].arrive, lane->rollback, 0) >= number &&
           (keel_board_get(&lane->board[0].flags[number & 1]) & KEEL_ARRIVE_CHECKPOINT);
}

static void strike(few_t *few)
{
    job_t *job = (job_t *)few;
    const keel_context_h ctx = few->ctx[0], other = few->ctx[1];

    if (few->deaths > 0 || ctx == NULL || other == NULL || few->ctx[2] == NULL) {
        return;
    }
    if (!job->is_hung && has_heard(few, 1) && has_heard(few, 2)) {
        job->is_hung = keel_sim_hang(few->sim, 0, HANG_NS);
    }
    if (other->ckpt.making.number != 0 && ctx->rec.phase < other->ckpt.making.number) {
        few_kill(few, 2);
    }
}

int main(void)
{
    static const few_play_t play = {.ranks = 3, .deaths = 1, .windows = 1, .phases = phases, .strike = strike};
    int is_right = 1;

    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        job_t job = {.is_hung = 0};

        is_right &= few_run(&job.few, &play, seed);
    }
    return is_right ? EXIT_SUCCESS : EXIT_FAILURE;
}
