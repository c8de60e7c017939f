/*
 * Rank 1 hangs for some heartbeat timeouts, twice, and is not killed. Each time its neighbour must
 * accuse rank 1 again and again. Each accusation has the number of accusations of the same silence.
 * A runtime that spares a suspect for a while relies on the number; the simulator checks the
 * number.
 */
#include "few_ranks.h"

#include <stdlib.h>

#define SEEDS   10
#define WORD    3u
#define PHASES  7u
#define HANG_NS (100 * 1000000ull) /* counted in the watcher's time, which passes more slowly */
#define LEAST   3u

typedef struct accused {
    few_t few; /* must be the first member */
    unsigned hangs;
    uint32_t accusations; /* number of accusations of the last silence */
} accused_t;

static keel_status_t phases(few_t *few, uint32_t rank, keel_win_h last)
{
    const accused_t *accused = (const accused_t *)few;
    keel_status_t status = KEEL_OK;

    for (uint32_t phase = 0; status == KEEL_OK && phase < PHASES; phase++) {
        status = few_put_ring(few, rank, last, WORD);
        status = (status == KEEL_OK) ? few_gsync_ring(few, rank, last, WORD) : status;
    }
    if (status == KEEL_OK && accused->hangs < 2) {
        keel_sim_flaw(few->sim, "rank 1 did not hang twice");
    }
    return status;
}

static void strike(few_t *few)
{
    accused_t *accused = (accused_t *)few;
    const keel_watch_t *watch;

    if (few->ctx[0] == NULL || few->ctx[1] == NULL) {
        return;
    }
    watch = &few->ctx[0]->rec.detect.neighbour;
    if (keel_sim_is_hung(few->sim, 1)) {
        accused->accusations = watch->accusations;
    } else if (accused->hangs < 2 && few->ctx[0]->rec.phase >= 2 * (accused->hangs + 1) &&
               watch->stage == KEEL_WATCH_HEARING) {
        if (accused->hangs > 0 && accused->accusations < LEAST) {
            keel_sim_flaw(few->sim, "rank 1 was accused %u times while it hung", accused->accusations);
        }
        accused->hangs += (unsigned)keel_sim_hang(few->sim, 1, HANG_NS);
    }
}

int main(void)
{
    static const few_play_t play = {.ranks = 3, .windows = 1, .no_arbiter = 1, .phases = phases, .strike = strike};

    setenv("KEEL_HEARTBEAT_INTERVAL", "500us", 1);
    setenv("KEEL_HEARTBEAT_TIMEOUT", "5ms", 1);
    return few_main(&play, sizeof(accused_t), SEEDS);
}
