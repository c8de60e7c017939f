/*
 * Rank 2 fetches from a word of rank 1 and adds to the word. Rank 1 dies. Its replacement is at the
 * front and has its get records back, but not the addition of rank 2. Rank 2 dies too. The record
 * is no proof that the word has the addition: the job must roll back.
 */
#include "few_ranks.h"

#include <stdlib.h>

#define RANKS  3
#define SEEDS  20
#define SUM    5u
#define DEATHS 2u

static const char *const lanes[] = {"KEEL_LANES=served", "KEEL_LANES=direct"};

typedef struct job {
    few_t few;
    int has_added; /* the first life of rank 2 has added */
} job_t;

static keel_status_t phases(few_t *few, uint32_t rank, keel_win_h last)
{
    const uint64_t *own = keel_win_base(last);
    uint64_t old = 0;
    keel_status_t status = keel_gsync(few->ctx[rank], 0);

    if (status == KEEL_OK && rank == 2) {
        status = keel_atomic(last, KEEL_ATOMIC_ADD, 1, 0, sizeof(old), SUM, 0, &old);
        status = (status == KEEL_OK) ? keel_flush(few->ctx[2], 1) : status;
        ((job_t *)few)->has_added = 1;
    }
    while (status == KEEL_OK && rank > 0 && few->deaths < DEATHS) {
        status = few_progress(few, rank);
    }
    status = (status == KEEL_OK) ? keel_gsync(few->ctx[rank], 0) : status;
    return (status == KEEL_OK && rank == 1 && *own != SUM) ? KEEL_ERR_CORRUPT : status;
}

static void strike(few_t *few)
{
    const keel_context_h one = few->ctx[1], two = few->ctx[2];

    if (few->deaths == 0 && ((const job_t *)few)->has_added) {
        few_kill(few, 1);
    } else if (few->deaths == 1 && one != NULL && two != NULL && one->rec.life == KEEL_LIFE_AWAITING &&
               one->rec.peer_states[2].received_end == 0 &&
               keel_peer_state_has(&two->rec.peer_states[1], KEEL_TRANSFER_GETLOG_REFILLED)) {
        few_kill(few, 2);
    }
}

int main(void)
{
    int status = EXIT_SUCCESS;

    for (unsigned i = 0; i < sizeof(lanes) / sizeof(lanes[0]); i++) {
        const few_play_t play = {
            .ranks = RANKS, .deaths = DEATHS, .windows = 1, .lanes = lanes[i], .phases = phases, .strike = strike};

        status |= few_main(&play, sizeof(job_t), SEEDS);
    }
    return status;
}
