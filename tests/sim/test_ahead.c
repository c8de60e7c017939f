/*
 * Rank 0 alone has left the gsync of the window, which the others are in yet; it locks rank 1 and dies. That it had begun says that all
 * were there: so the others are released from that gsync. Else they hand over to its replacement from before it, which is behind it.
 */
#include "few_ranks.h"

#include <stdio.h>
#include <stdlib.h>

#define SEEDS   200
#define BEGUN   1u /* gsync */
#define WORD    7u
#define SLOW_NS 8000000 /* more than rank 0 takes, and the news of its death */

typedef struct job {
    few_t few;
    int is_met;  /* the decision found rank 1 in the gsync */
    int is_slow; /* rank 1, in the gsync that rank 0 has left, and again when its replacement is there */
} job_t;

static keel_status_t phases(few_t *few, uint32_t rank, keel_win_h last)
{
    const keel_context_h ctx = few->ctx[rank];
    const uint64_t word = WORD;
    keel_status_t status = KEEL_OK;
    keel_win_h further;

    if (rank == 0) {
        status = keel_lock(ctx, 1);
        while (status == KEEL_OK && few->deaths == 0) {
            status = few_progress(few, rank);
        }
        status = (status == KEEL_OK) ? keel_put(last, 1, 0, &word, sizeof(word)) : status;
        status = (status == KEEL_OK) ? keel_unlock(ctx, 1) : status;
    }
    status = (status == KEEL_OK) ? keel_win_alloc(ctx, sizeof(word), NULL, &further) : status; /* a gsync */
    return (status == KEEL_OK && rank == 1 && *(const uint64_t *)keel_win_base(last) != WORD) ? KEEL_ERR_CORRUPT
                                                                                              : status;
}

static void strike(few_t *few)
{
    const keel_context_h ctx = few->ctx[0], other = few->ctx[1];
    job_t *job = (job_t *)few;

    if (ctx == NULL || other == NULL) {
        return;
    }
    if (few->deaths == 0 && ctx->rec.phase == BEGUN) {
        if (other->rec.phase < BEGUN && job->is_slow == 0) {
            job->is_slow = keel_sim_hang(few->sim, 1, SLOW_NS);
        }
        if (ctx->sync.sections.held[1] == KEEL_HELD_WRITING) {
            few_kill(few, 0);
        }
    } else if (few->deaths == 1 && other->rec.phase < BEGUN) {
        job->is_met |= other->rec.view == KEEL_VIEW_REPORTED;
        if (job->is_slow == 1 && ctx->rec.life != KEEL_LIFE_FRESH && !ctx->sync.sections.is_replaying) {
            job->is_slow += keel_sim_hang(few->sim, 1, SLOW_NS);
        }
    }
}

int main(void)
{
    static const few_play_t play = {
        .ranks = 2, .deaths = 1, .windows = 1, .lanes = "KEEL_LANES=direct", .phases = phases, .strike = strike};

    int is_right = 1, met = 0;

    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        job_t job = {0};

        is_right &= few_run(&job.few, &play, seed);
        met += job.is_met;
    }
    if (met == 0) {
        fprintf(stderr, "the moment did not come\n");
    }
    return (is_right && met > 0) ? EXIT_SUCCESS : EXIT_FAILURE;
}
