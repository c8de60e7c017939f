/*
 * A rank dies while the next rank computes for much longer than KEEL_HEARTBEAT_TIMEOUT. The
 * computing rank must greet the replacement when the computation ends, and must not count as hung.
 */
#include "few_ranks.h"

#include <stdlib.h>

#define SEEDS   20
#define WORD    5u
#define LONG_NS (200 * 1000000ull)

typedef struct computing {
    few_t few; /* must be the first member */
    int does_compute;
} computing_t;

static keel_status_t phases(few_t *few, uint32_t rank, keel_win_h last)
{
    computing_t *computing = (computing_t *)few;
    keel_status_t status = few_put_ring(few, rank, last, WORD);

    if (rank == 2 && keel_incarnation(few->ctx[rank]) > 0) {
        return KEEL_ERR_ISOLATED; /* other ranks took the rank for hung */
    }
    status = (status == KEEL_OK) ? few_gsync_ring(few, rank, last, WORD) : status;
    if (status == KEEL_OK && rank == 2 && !computing->does_compute) {
        computing->does_compute = 1;
        keel_sim_compute(few->sim, LONG_NS);
    }
    while (status == KEEL_OK && rank == 1 && few->deaths == 0) {
        status = few_progress(few, rank);
    }
    return (status == KEEL_OK) ? keel_gsync(few->ctx[rank], 0) : status;
}

static void strike(few_t *few)
{
    computing_t *computing = (computing_t *)few;

    if (computing->does_compute && few->deaths == 0) {
        few_kill(few, 1);
    }
}

int main(void)
{
    static const few_play_t play = {.ranks = 3, .deaths = 1, .windows = 1, .phases = phases, .strike = strike};

    setenv("KEEL_HEARTBEAT_INTERVAL", "500us", 1);
    setenv("KEEL_HEARTBEAT_TIMEOUT", "5ms", 1);
    return few_main(&play, sizeof(computing_t), SEEDS);
}
