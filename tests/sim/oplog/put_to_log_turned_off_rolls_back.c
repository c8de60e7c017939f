/*
 * The log of rank 0 for rank 1 is full. An image that covers all accesses without a record comes
 * into use, but the log stays off until the next phase begins. Rank 0 reports the death of rank 1
 * and then puts to rank 1. The put is in no log: the job must roll back.
 */
#include "few_ranks.h"

#define SEEDS 20
#define WORD  7u

static keel_status_t fill(keel_context_h ctx, keel_win_h win)
{
    const uint64_t words[8] = {1};
    keel_status_t status = KEEL_OK;

    while (status == KEEL_OK && !ctx->puts.targets[1].is_off) {
        status = keel_put(win, 1, 0, words, sizeof(words));
    }
    return status;
}

static keel_status_t put_when_reported(few_t *few, keel_win_h win)
{
    const keel_recovery_t *rec = &few->ctx[0]->rec;
    const uint64_t word = WORD;
    keel_status_t status = KEEL_OK;

    while (status == KEEL_OK && rec->rollbacks == 0 && !(rec->view == KEEL_VIEW_REPORTED)) {
        status = few_progress(few, 0);
    }
    return (status == KEEL_OK) ? keel_put(win, 1, 0, &word, sizeof(word)) : status;
}

static keel_status_t phases(few_t *few, uint32_t rank, keel_win_h last)
{
    const keel_context_h ctx = few->ctx[rank];
    keel_status_t status = KEEL_OK;

    if (ctx->ckpt.set.used.number == 0) {
        status = (rank == 0) ? fill(ctx, last) : KEEL_OK;
        status = (status == KEEL_OK) ? keel_checkpoint(ctx) : status;
    } else { /* begins at the image */
        status = keel_gsync(ctx, 0);
    }
    while (status == KEEL_OK && rank > 0 && few->deaths == 0) {
        status = few_progress(few, rank);
    }
    if (status == KEEL_OK && rank == 0) {
        status = put_when_reported(few, last);
    }
    status = (status == KEEL_OK) ? keel_gsync(ctx, 0) : status;
    return (status == KEEL_OK && rank == 1 && *(const uint64_t *)keel_win_base(last) != WORD) ? KEEL_ERR_CORRUPT
                                                                                              : status;
}

static void strike(few_t *few)
{
    const keel_context_h ctx = few->ctx[0], other = few->ctx[1];

    if (few->deaths == 0 && ctx != NULL && other != NULL && ctx->ckpt.set.used.number > 0 &&
        ctx->puts.targets[1].is_off && ctx->puts.targets[1].lost == 0) {
        few_kill(few, 1);
    }
}

int main(void)
{
    static const char *const lanes[] = {"KEEL_LANES=direct", "KEEL_LANES=served"};
    int status = 0;

    for (unsigned i = 0; i < 2; i++) {
        const few_play_t play = {
            .ranks = 3, .deaths = 1, .windows = 1, .lanes = lanes[i], .phases = phases, .strike = strike};

        status |= few_main(&play, sizeof(few_t), SEEDS);
    }
    return status;
}
