/*
 * A put lies long ago. Epochs are compared by numbers that wrap around, so the epochs half a range
 * later would count as earlier than the put. Flushes of accesses without a record must take no
 * epoch. Flushes of logged accesses take a limited number of epochs, and then logs are full.
 */
#include "few_ranks.h"

#include <stdlib.h>

#define SEEDS   10
#define FLUSHES 64
#define WORD    4711u

typedef struct job {
    few_t few;
    int is_logged; /* the accesses flushed meanwhile are logged */
    int is_put;
} job_t;

/*
 * After a put to rank 1, skips all but a few of the allowed epochs, and then flushes through the
 * last few.
 */
static keel_status_t put_and_flush(job_t *job, keel_win_h win)
{
    keel_context_h ctx = job->few.ctx[0];
    const uint64_t word = WORD;
    keel_status_t status = keel_put(win, 1, 0, &word, sizeof(word));

    status = (status == KEEL_OK) ? keel_flush(ctx, 1) : status;
    if (!job->is_logged) {
        ctx->puts.targets[2].is_off = 1; /* state of a log that was full */
        ctx->puts.epochs.open += (1u << 31) - FLUSHES / 2;
    } else {
        ctx->puts.epochs.open += KEEL_EPOCHS_MAX - FLUSHES / 2;
    }
    for (uint64_t i = 0; i < FLUSHES && status == KEEL_OK; i++) {
        if (job->is_logged && i == FLUSHES / 2) {
            ctx->puts.targets[2].limit = NULL; /* state after a full segment */
        }
        if (job->is_logged && i == FLUSHES / 2 + 1 && ctx->puts.targets[2].is_off) {
            status = keel_flush(ctx, 2);
            job->is_put = 1;
            return status;
        }
        status = keel_put(win, 2, 0, &i, sizeof(i));
        status = (status == KEEL_OK) ? keel_flush(ctx, 2) : status;
    }
    if (job->is_logged) {
        keel_sim_flaw(job->few.sim, "a log goes on %u epochs after its oldest record", ctx->puts.epochs.open);
    }
    job->is_put = 1;
    return status;
}

static keel_status_t phases(few_t *few, uint32_t rank, keel_win_h win)
{
    job_t *job = (job_t *)few;
    keel_status_t status = (rank == 0) ? put_and_flush(job, win) : KEEL_OK;

    while (status == KEEL_OK && few->deaths == 0) {
        status = few_progress(few, rank);
    }
    status = (status == KEEL_OK) ? keel_gsync(few->ctx[rank], 0) : status;
    if (status == KEEL_OK && rank == 1 && *(const uint64_t *)keel_win_base(win) != WORD) {
        keel_sim_flaw(few->sim, "what was put long ago is lost");
    }
    return status;
}

static void strike(few_t *few)
{
    if (few->deaths == 0 && ((job_t *)few)->is_put && few->ctx[1] != NULL) {
        few_kill(few, 1);
    }
}

int main(void)
{
    static const few_play_t play = {
        .ranks = 3, .deaths = 1, .windows = 1, .lanes = "KEEL_LANES=direct", .phases = phases, .strike = strike};
    int is_right = 1;

    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        for (int is_logged = 0; is_logged < 2; is_logged++) {
            job_t job = {.is_logged = is_logged};

            is_right &= few_run(&job.few, &play, seed);
        }
    }
    return is_right ? EXIT_SUCCESS : EXIT_FAILURE;
}
