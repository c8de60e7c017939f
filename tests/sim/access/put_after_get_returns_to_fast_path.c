/*
 * Direct lane. A put after a get takes the generic path, because the records of the get must come
 * first. Once the records are at their targets, puts take the fast path again, also in the middle
 * of an epoch.
 */
#include "few_ranks.h"

#define SEEDS 3

/* path of the next put from this rank */
typedef enum { FAST_PATH, GENERAL_WAY } way_t;

static int flaws(const few_t *few, way_t way, const char *when)
{
    const unsigned gate = few->ctx[0]->gate.part.bits;

    if (gate == ((way == FAST_PATH) ? 0u : (unsigned)KEEL_GATE_GETS)) {
        return 0;
    }
    keel_sim_flaw(few->sim, "%s the gate is %u", when, gate);
    return 1;
}

static keel_status_t get(keel_win_h win, uint32_t rank)
{
    uint64_t word;

    return keel_get(win, rank, 0, &word, sizeof(word));
}

static keel_status_t put(keel_win_h win, uint32_t rank)
{
    const uint64_t word = rank;

    return keel_put(win, rank, 0, &word, sizeof(word));
}

static keel_status_t accesses(few_t *few, keel_win_h win)
{
    keel_context_h ctx = few->ctx[0];
    keel_status_t status = keel_flush_all(ctx);

    status = (status == KEEL_OK) ? put(win, 1) : status;
    if (status != KEEL_OK || flaws(few, FAST_PATH, "before any get")) {
        return status;
    }
    status = get(win, 1);
    if (status != KEEL_OK || flaws(few, GENERAL_WAY, "after a get")) {
        return status;
    }
    status = put(win, 1);
    if (status != KEEL_OK || flaws(few, FAST_PATH, "after a get and a put to where it was")) {
        return status;
    }
    status = get(win, 2);
    status = (status == KEEL_OK) ? put(win, 1) : status;
    if (status != KEEL_OK || flaws(few, GENERAL_WAY, "after a get elsewhere")) {
        return status;
    }
    status = keel_flush_all(ctx);
    if (status == KEEL_OK) {
        (void)flaws(few, FAST_PATH, "after a flush of all");
    }
    return status;
}

static keel_status_t phases(few_t *few, uint32_t rank, keel_win_h last)
{
    keel_status_t status = (rank == 0) ? accesses(few, last) : KEEL_OK;

    return (status == KEEL_OK) ? keel_gsync(few->ctx[rank], 0) : status;
}

static void never(few_t *few)
{
}

int main(void)
{
    static const few_play_t play = {
        .ranks = 3, .windows = 1, .lanes = "KEEL_LANES=direct", .phases = phases, .strike = never};

    return few_main(&play, sizeof(few_t), SEEDS);
}
