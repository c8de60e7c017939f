/*
 * A rank that waits for an image to be safe does its own part of the work first: it does not sleep between any two pieces of
 * it, only when it has none to do.
 */
#include "few_ranks.h"

#define SEEDS     10
#define BYTES     ((size_t)1 << 24)
#define WAITS_MAX 400 /* while others do theirs; one a piece would be 1,024 */

static keel_status_t phases(few_t *few, uint32_t rank, keel_win_h last)
{
    keel_win_h win;
    keel_status_t status = keel_win_alloc(few->ctx[rank], BYTES, NULL, &win);
    unsigned waits;

    for (unsigned i = 0; i < 2 && status == KEEL_OK; i++) {
        waits = keel_sim_waits(few->sim, rank);
        status = keel_checkpoint(few->ctx[rank]);
        waits = keel_sim_waits(few->sim, rank) - waits;
        if (waits > WAITS_MAX) {
            keel_sim_flaw(few->sim, "rank %u waited %u times until an image was safe", rank, waits);
        }
    }
    return status;
}

static void strike(few_t *few)
{
}

int main(void)
{
    static const few_play_t play = {.ranks = 2, .lanes = "KEEL_LANES=direct", .phases = phases, .strike = strike};

    return few_main(&play, sizeof(few_t), SEEDS);
}
