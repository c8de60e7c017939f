/*
 * A checkpoint that a death aborts is taken by the next safe gsync, also when it was rank 0 that died, which says when one is taken,
 * and when its replacement dies too before it has come to that.
 */
#include "few_ranks.h"

#include <stdlib.h>

#define SEEDS 20

typedef struct job {
    few_t few;
    unsigned deaths; /* of rank 0 */
} job_t;

static keel_status_t phases(few_t *few, uint32_t rank, keel_win_h first)
{
    const keel_context_h ctx = few->ctx[rank];
    const job_t *job = (const job_t *)few;
    keel_status_t status = keel_checkpoint(ctx);
    uint32_t next;

    while (status == KEEL_OK && (few->deaths < job->deaths || ctx->rec.is_frozen)) {
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

static void strike(few_t *few)
{
    const job_t *job = (const job_t *)few;
    const keel_context_h ctx = few->ctx[0], other = few->ctx[1];

    if (ctx == NULL || other == NULL || few->deaths >= job->deaths) {
        return;
    }
    if (few->deaths == 0 && other->ckpt.making.number != 0 && ctx->rec.arrived == other->ckpt.making.number) {
        few_kill(few, 0);
    } else if (few->deaths == 1 && keel_incarnation(ctx) == 1 && other->ckpt.making.number == 0 &&
               ctx->rec.state != KEEL_RANK_FRESH) {
        few_kill(few, 0);
    }
}

int main(void)
{
    int is_right = 1;

    for (unsigned deaths = 1; deaths <= 2; deaths++) {
        const few_play_t play = {.ranks = 2, .deaths = deaths, .windows = 1, .phases = phases, .strike = strike};

        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
            job_t job = {.deaths = deaths};

            is_right &= few_run(&job.few, &play, seed);
        }
    }
    return is_right ? EXIT_SUCCESS : EXIT_FAILURE;
}
