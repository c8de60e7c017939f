/*
 * A program that is not deterministic, of which rank 0 alone has accessed anything, when it dies: rank 1, at which it did that, has to know
 * that the program had begun, or what the first life put stays beside what the second one does.
 */
#include "few_ranks.h"

#define RANKS 2
#define SEEDS 20
#define WORD  7u

static void ready(few_t *few, uint32_t rank)
{
    if (rank == 1) { /* until the first life is over, and its replacement there */
        while (few->deaths == 0 || few->ctx[1]->lane.peers[0].incarnation == 0) {
            (void)few_progress(few, rank);
        }
    }
}

static keel_status_t phases(few_t *few, uint32_t rank, keel_win_h last)
{
    const keel_context_h ctx = few->ctx[rank];
    const uint64_t word = WORD, *own = keel_win_base(last);
    const uint64_t offset = (keel_incarnation(ctx) == 0) ? 0 : sizeof(word); /* each life does something else */
    keel_status_t status = (rank == 0) ? keel_put(last, 1, offset, &word, sizeof(word)) : KEEL_OK;

    status = (status == KEEL_OK) ? keel_gsync(ctx, 0) : status;
    return (status == KEEL_OK && rank == 1 && (own[0] != 0 || own[1] != WORD)) ? KEEL_ERR_CORRUPT : status;
}

static void strike(few_t *few)
{
    const keel_context_h one = few->ctx[1];

    if (few->deaths == 0 && one != NULL && one->rec.phase == 1 && *(const uint64_t *)one->windows[0]->base == WORD) {
        few_kill(few, 0);
    }
}

int main(void)
{
    static const few_play_t play = {.ranks = RANKS,
                                    .deaths = 1,
                                    .windows = 1,
                                    .flags = KEEL_PARAM_FLAG_NONDETERMINISTIC,
                                    .ready = ready,
                                    .phases = phases,
                                    .strike = strike};

    return few_main(&play, sizeof(few_t), SEEDS);
}
