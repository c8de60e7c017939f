/*
 * A nondeterministic program. Rank 0 alone has begun, has put to rank 2, and dies. Its replacement
 * puts to another place. The first put must not be there.
 */
#include "few_ranks.h"

#define RANKS 3
#define SEEDS 20

typedef struct job {
    few_t few;
    int has_put;
} job_t;

static void ready(few_t *few, uint32_t rank)
{
    const keel_context_h ctx = few->ctx[rank];

    while (rank > 0 &&
           (few->deaths == 0 || ctx->lane.peers[0].incarnation == 0 || keel_recovery_is_frozen(&ctx->rec))) {
        (void)few_progress(few, rank);
    }
}

static keel_status_t phases(few_t *few, uint32_t rank, keel_win_h last)
{
    const uint64_t word = 1, place = keel_incarnation(few->ctx[rank]);
    const uint64_t *own = keel_win_base(last);
    keel_status_t status = KEEL_OK;

    if (rank == 0) {
        status = keel_put(last, 2, 8 * place, &word, sizeof(word));
        status = (status == KEEL_OK) ? keel_flush(few->ctx[0], 2) : status;
        ((job_t *)few)->has_put = 1;
        keel_sim_compute(few->sim, 1000);
    }
    status = (status == KEEL_OK) ? keel_gsync(few->ctx[rank], 0) : status;
    return (status == KEEL_OK && rank == 2 && own[0] + own[1] != 1) ? KEEL_ERR_CORRUPT : status;
}

static void strike(few_t *few)
{
    if (few->deaths == 0 && ((const job_t *)few)->has_put) {
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

    return few_main(&play, sizeof(job_t), SEEDS);
}
