/*
 * Heartbeats are requested more often than ranks can reply. Each heartbeat is a request like any
 * other, and a flush waits for all replies. The flush must still end.
 */
#include "few_ranks.h"

#include <stdlib.h>

#define SEEDS 20

static keel_status_t phases(few_t *few, uint32_t rank, keel_win_h last)
{
    const uint64_t word = rank;
    keel_status_t status = keel_put(last, 1 - rank, 0, &word, sizeof(word));

    status = (status == KEEL_OK) ? keel_flush_all(few->ctx[rank]) : status;
    return (status == KEEL_OK) ? keel_gsync(few->ctx[rank], 0) : status;
}

/* No rank dies. */
static void strike(few_t *few)
{
    (void)few;
}

int main(void)
{
    static const few_play_t play = {
        .ranks = 2, .windows = 1, .lanes = "KEEL_LANES=served", .phases = phases, .strike = strike};

    setenv("KEEL_HEARTBEAT_INTERVAL", "1ns", 1);
    return few_main(&play, sizeof(few_t), SEEDS);
}
