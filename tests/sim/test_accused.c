/*
 * A rank that nobody kills does nothing for some heartbeat timeouts, twice: each time its neighbour accuses it again and again, and says
 * how often it has said so of this silence, which whoever lets a suspect live for a while relies on (the simulator looks).
 */
#include "few_ranks.h"

#include <stdlib.h>

#define SEEDS   10
#define WORD    3u
#define PHASES  7u
#define HANG_NS (100 * 1000000ull) /* it counts in the time of who looks, which passes more slowly */
#define LEAST   3u

typedef struct accused {
    few_t few; /* first */
    unsigned hangs;
    uint32_t accusations; /* of the last silence */
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
