/*
 * Rank 0 copies its image in a gsync, because a log is full, and is the last rank to leave the
 * gsync. After the gsync, rank 1 adds to rank 0's memory. The image must not contain the addition,
 * because the replacement is handed the addition again.
 */
#include "few_ranks.h"

#define SEEDS   20
#define COPIED  2u /* number of the gsync */
#define LAST    9u /* phase by which the image is in use */
#define SUM     5u
#define SLOW_NS 100000

typedef struct job {
    few_t few;
    int is_slow;
} job_t;

static keel_status_t phases(few_t *few, uint32_t rank, keel_win_h last)
{
    const keel_context_h ctx = few->ctx[rank];
    keel_status_t status = KEEL_OK;

    while (status == KEEL_OK && ctx->rec.phase < LAST) {
        if (rank == 0 && ctx->rec.phase + 1 == COPIED) {
            ctx->demand.asked = COPIED;
        }
        while (status == KEEL_OK && rank != 0 && !((const job_t *)few)->is_slow) {
            status = few_progress(few, rank);
        }
        if (rank == 1 && ctx->rec.phase == COPIED) {
            status = keel_atomic(last, KEEL_ATOMIC_ADD, 0, 0, sizeof(uint64_t), SUM, 0, NULL);
        }
        status = (status == KEEL_OK) ? keel_gsync(ctx, KEEL_GSYNC_SAFE) : status;
    }
    return (status == KEEL_OK && rank == 0 && *(const uint64_t *)keel_win_base(last) != SUM) ? KEEL_ERR_CORRUPT
                                                                                             : status;
}

static void strike(few_t *few)
{
    job_t *job = (job_t *)few;
    const keel_context_h ctx = few->ctx[0];

    if (ctx == NULL || few->deaths > 0) {
        return;
    }
    if (!job->is_slow && ctx->rec.phase < COPIED && ctx->rec.arrived == COPIED) {
        job->is_slow = keel_sim_hang(few->sim, 0, SLOW_NS);
    } else if (job->is_slow && ctx->rec.phase > COPIED && ctx->demand.starts[0].position == COPIED) {
        few_kill(few, 0);
    }
}

int main(void)
{
    static const few_play_t play = {
        .ranks = 3, .deaths = 1, .windows = 1, .lanes = "KEEL_LANES=direct", .phases = phases, .strike = strike};

    return few_main(&play, sizeof(job_t), SEEDS);
}
