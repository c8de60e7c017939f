/*
 * A nondeterministic program. The replacement of rank 2 is on its way back. Rank 0 issues the first
 * access of the program. Ranks 0 and 1 die together. Rank 2 has accessed nothing itself and must
 * know that the program had begun.
 */
#include "few_ranks.h"

#define RANKS 3
#define SEEDS 20
#define WORD  7u

typedef struct job {
    few_t few;
    int has_put; /* the first life of rank 0 has put */
} job_t;

static void ready(few_t *few, uint32_t rank)
{
    const keel_context_h ctx = few->ctx[rank];

    if (rank == 2) {
        while (few->deaths < 3 || keel_recovery_is_frozen(&ctx->rec) || ctx->lane.peers[0].incarnation == 0 ||
               ctx->lane.peers[1].incarnation == 0) {
            (void)few_progress(few, rank);
        }
    } else if (keel_incarnation(ctx) == 0) {
        while (few->deaths == 0 || ctx->rec.decisions == 0 || rank == 1) {
            (void)few_progress(few, rank);
        }
    }
}

static keel_status_t phases(few_t *few, uint32_t rank, keel_win_h last)
{
    const keel_context_h ctx = few->ctx[rank];
    const uint64_t word = WORD, *own = keel_win_base(last);
    /* each life uses another offset */
    const uint64_t offset = (keel_incarnation(ctx) == 0) ? 0 : sizeof(word);
    keel_status_t status = KEEL_OK;

    if (rank == 0) {
        status = keel_put(last, 2, offset, &word, sizeof(word));
        ((job_t *)few)->has_put = 1;
    }
    status = (status == KEEL_OK) ? keel_gsync(ctx, 0) : status;
    return (status == KEEL_OK && rank == 2 && (own[0] != 0 || own[1] != WORD)) ? KEEL_ERR_CORRUPT : status;
}

static void strike(few_t *few)
{
    const keel_context_h two = few->ctx[2];

    if (few->deaths == 0 && two != NULL && two->rec.phase == 1 && few->ctx[0] != NULL && few->ctx[0]->rec.phase == 1 &&
        few->ctx[1] != NULL && few->ctx[1]->rec.phase == 1) {
        few_kill(few, 2);
    } else if (few->deaths == 1 && ((const job_t *)few)->has_put && two != NULL && two->rec.phase == 1 &&
               *(const uint64_t *)two->windows.list[0]->base == WORD) {
        few_kill(few, 0);
        few_kill(few, 1);
    }
}

int main(void)
{
    static const few_play_t play = {.ranks = RANKS,
                                    .deaths = 3,
                                    .windows = 1,
                                    .flags = KEEL_PARAM_FLAG_NONDETERMINISTIC,
                                    .ready = ready,
                                    .phases = phases,
                                    .strike = strike};

    return few_main(&play, sizeof(job_t), SEEDS);
}
