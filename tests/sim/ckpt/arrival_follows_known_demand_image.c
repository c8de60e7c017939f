/*
 * Rank 0 copies a large image because a log is full. Rank 0 compares the image with the previous
 * image until the last moment before an arrival. Rank 0 must arrive when the other ranks know of
 * the image, so that logs grow by at most three phases.
 */
#include "few_ranks.h"

#define SEEDS  20
#define COPIED 5u /* number of the gsync */
#define BYTES  ((size_t)4 << 20)

static void ready(few_t *few, uint32_t rank)
{
    keel_win_h win;

    if (keel_win_alloc(few->ctx[rank], BYTES, NULL, &win) != KEEL_OK) {
        keel_sim_flaw(few->sim, "rank %u: no window", rank);
    }
}

static keel_status_t phases(few_t *few, uint32_t rank, keel_win_h last)
{
    const keel_context_h ctx = few->ctx[rank];
    keel_status_t status = keel_checkpoint(ctx);

    while (status == KEEL_OK && ctx->rec.phase < COPIED + 3) {
        if (rank == 0 && ctx->rec.phase + 1 == COPIED) {
            ctx->demand.asked = COPIED;
        }
        status = keel_gsync(ctx, KEEL_GSYNC_SAFE);
    }
    if (status == KEEL_OK && ctx->demand.starts[0].position != COPIED) {
        keel_sim_flaw(few->sim, "the image of gsync %u is not in use in phase %u", COPIED, ctx->rec.phase);
    }
    return status;
}

static void strike(few_t *few)
{
}

int main(void)
{
    static const few_play_t play = {
        .ranks = 3, .windows = 1, .lanes = "KEEL_LANES=direct", .ready = ready, .phases = phases, .strike = strike};

    return few_main(&play, sizeof(few_t), SEEDS);
}
