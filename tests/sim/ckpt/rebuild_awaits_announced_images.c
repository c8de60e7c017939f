/*
 * Parity covers two of three members of a group, which have demand images. Rank 1 is on its way
 * back, and rank 2 has announced the group's images to rank 1. Rank 2 dies. Rank 2 is back when
 * rank 0 dies. Rank 1 must rebuild its image from the memory of the new rank 2, once the new rank 2
 * has announced the images.
 */
#include "few_ranks.h"

#define SEEDS   80
#define COPIED  3u /* number of the gsync */
#define MET     7u /* phase in which the ranks wait for the deaths */
#define LAST    10u
#define DEATHS  3u
#define BYTES   ((size_t)2 << 20) /* takes a while to rebuild */
#define SLOW_NS 30000000          /* longer than a death and a recovery take */

typedef struct job {
    few_t few;
    int is_slow;
} job_t;

static void ready(few_t *few, uint32_t rank)
{
    keel_win_h win;

    if (keel_win_alloc(few->ctx[rank], (rank == 1) ? BYTES : 64, NULL, &win) != KEEL_OK) {
        keel_sim_flaw(few->sim, "rank %u: no window", rank);
    }
}

static keel_status_t phases(few_t *few, uint32_t rank, keel_win_h last)
{
    const keel_context_h ctx = few->ctx[rank];
    keel_status_t status = KEEL_OK;

    while (status == KEEL_OK && ctx->rec.phase < LAST) {
        if (ctx->rec.phase + 1 == COPIED) {
            ctx->demand.asked = COPIED;
        }
        status = keel_gsync(ctx, KEEL_GSYNC_SAFE);
        while (status == KEEL_OK && ctx->rec.phase == MET && few->deaths < DEATHS) {
            status = few_progress(few, rank);
        }
    }
    return status;
}

/*
 * Kills rank 2 after its announcement to rank 1, before the image of rank 1 is there. Rank 1 is
 * then slow until rank 0 has died too.
 */
static void strike(few_t *few)
{
    const keel_context_h first = few->ctx[0], ctx = few->ctx[1], other = few->ctx[2];
    job_t *job = (job_t *)few;

    if (ctx == NULL) {
        return;
    }
    if (few->deaths == 0) {
        if (first != NULL && other != NULL && first->demand.starts[1].position == COPIED &&
            ctx->demand.starts[1].position == COPIED && other->demand.starts[1].position == COPIED) {
            few_kill(few, 1);
        }
    } else if (few->deaths == 1) {
        if (keel_recovery_state(&ctx->rec) == KEEL_RANK_FRESH && ctx->demand.set.used.number == COPIED &&
            ctx->demand.set.group_announced[ctx->ckpt.groups.index[2]] == COPIED) {
            few_kill(few, 2);
            (void)keel_sim_hang(few->sim, 1, SLOW_NS);
        }
    } else if (few->deaths == 2 && !job->is_slow) {
        if (keel_recovery_state(&ctx->rec) == KEEL_RANK_FRESH && ctx->rec.decisions == 2 &&
            !keel_recovery_is_frozen(&ctx->rec)) {
            job->is_slow = keel_sim_hang(few->sim, 1, SLOW_NS);
        }
    } else if (few->deaths == 2 && other != NULL && keel_recovery_state(&other->rec) != KEEL_RANK_FRESH &&
               keel_image_set_is_armed(&other->demand.set) && keel_image_set_is_armed(&other->ckpt.set)) {
        few_kill(few, 0);
    }
}

int main(void)
{
    static const few_play_t play = {.ranks = 3,
                                    .deaths = DEATHS,
                                    .windows = 1,
                                    .lanes = "KEEL_PARITIES=2",
                                    .ready = ready,
                                    .phases = phases,
                                    .strike = strike};

    return few_main(&play, sizeof(job_t), SEEDS);
}
