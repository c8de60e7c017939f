/*
 * A program without a safe point must learn so before any log is full. The log may fill at any
 * rank, with the rank's puts, the rank's gets, or the gets of other ranks at the rank.
 */
#include "few_ranks.h"

#include <stdlib.h>

#define SEEDS  5
#define RANKS  3u
#define ROUNDS 4000u

typedef struct job {
    few_t few;
    int puts;
} job_t;

/* Rank 1 puts to rank 2, or reads from it, until rank 0 has reported the missing safe point. */
static keel_status_t phases(few_t *few, uint32_t rank, keel_win_h win)
{
    const keel_context_h ctx = few->ctx[rank], first = few->ctx[0];
    const int puts = ((job_t *)few)->puts;
    keel_status_t status = KEEL_OK;
    uint64_t word[6] = {0};
    unsigned round;

    for (round = 0; status == KEEL_OK && round < ROUNDS && !keel_reasons_has(&first->rec.reasons, 1); round++) {
        if (rank == 1) {
            status = keel_lock(ctx, 2);
            if (status == KEEL_OK) {
                status = puts ? keel_put(win, 2, 0, word, sizeof(word)) : keel_get(win, 2, 0, word, sizeof(word));
            }
            status = (status == KEEL_OK) ? keel_unlock(ctx, 2) : status;
        }
        status = (status == KEEL_OK) ? few_progress(few, rank) : status;
        if (ctx->gets.overflows + ctx->puts.overflows > 0) {
            keel_sim_flaw(few->sim, "a log of rank %u is full, and nothing was said", rank);
        }
    }
    return (status == KEEL_OK) ? keel_gsync(ctx, 0) : status;
}

static keel_status_t phases_of_puts(few_t *few, uint32_t rank, keel_win_h win)
{
    ((job_t *)few)->puts = 1;
    return phases(few, rank, win);
}

static void strike(few_t *few)
{
}

int main(void)
{
    static const few_play_t plays[] = {
        {.ranks = RANKS, .windows = 1, .phases = phases_of_puts, .strike = strike},
        {.ranks = RANKS, .windows = 1, .phases = phases, .strike = strike, .lanes = "KEEL_LANES=served"},
        {.ranks = RANKS, .windows = 1, .phases = phases, .strike = strike, .lanes = "KEEL_LANES=direct"},
        /* only the reads of other ranks are in a small log */
        {.ranks = RANKS, .windows = 1, .phases = phases, .strike = strike, .lanes = "KEEL_OPLOG_SIZE=4m"}};
    int status = EXIT_SUCCESS;

    for (unsigned i = 0; i < sizeof(plays) / sizeof(plays[0]); i++) {
        status |= few_main(&plays[i], sizeof(job_t), SEEDS);
    }
    return status;
}
