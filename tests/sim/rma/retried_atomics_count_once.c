/*
 * The log of rank 0 is full when rank 1 dies, so the additions of rank 0 at rank 1 are retried
 * until the replacement is there. Then rank 0 dies too, amid further additions of the same phase.
 * Each addition must count once: the replacement of rank 0 does only the missing additions.
 */
#include "few_ranks.h"

#define SEEDS 20
#define ADDS  6u
#define DONE  3u /* additions before the death of rank 0 */

typedef struct job {
    few_t few;
    int is_full;
    unsigned puts, added;
} job_t;

static keel_status_t until_dead(few_t *few, uint32_t rank)
{
    keel_status_t status = KEEL_OK;

    while (status == KEEL_OK && few->ctx[0]->lane.peers[rank].mode == KEEL_PEER_LIVE) {
        status = few_progress(few, 0);
    }
    return status;
}

/*
 * Fills the log with puts to rank 2, so only further records for rank 2 have room. The second life
 * puts as often.
 */
static keel_status_t fill(job_t *job, keel_win_h win)
{
    const keel_context_h ctx = job->few.ctx[0];
    const uint64_t words[8] = {0};
    keel_status_t status = KEEL_OK;

    for (unsigned i = 0; status == KEEL_OK && (job->is_full ? i < job->puts : ctx->pool.in_use < ctx->pool.count);
         i++) {
        status = keel_put(win, 2, 0, words, sizeof(words));
        job->puts += !job->is_full;
    }
    job->is_full = 1;
    return status;
}

static keel_status_t first_phase(job_t *job, keel_win_h win)
{
    const keel_context_h ctx = job->few.ctx[0];
    keel_status_t status = fill(job, win);

    if (status == KEEL_OK && keel_incarnation(ctx) == 0) {
        status = until_dead(&job->few, 1);
    }
    for (unsigned i = 0; i < ADDS && status == KEEL_OK; i++) {
        status = keel_atomic(win, KEEL_ATOMIC_ADD, 1, 0, sizeof(uint64_t), 1, 0, NULL);
        job->added++;
        if (job->added == DONE) {
            keel_sim_compute(job->few.sim, 100000000); /* dies here */
        }
    }
    return status;
}

static keel_status_t phases(few_t *few, uint32_t rank, keel_win_h win)
{
    const uint64_t *own = keel_win_base(win);
    keel_status_t status = (rank == 0) ? first_phase((job_t *)few, win) : KEEL_OK;

    while (status == KEEL_OK && rank == 1 && keel_incarnation(few->ctx[rank]) == 0) {
        status = few_progress(few, rank); /* dies here */
    }
    status = (status == KEEL_OK) ? keel_gsync(few->ctx[rank], 0) : status;
    if (status == KEEL_OK && rank == 1 && *own != ADDS) {
        keel_sim_flaw(few->sim, "%lu additions", (unsigned long)*own);
    }
    return status;
}

static void strike(few_t *few)
{
    const job_t *job = (const job_t *)few;

    if (few->deaths == 0 && job->is_full) {
        few_kill(few, 1);
    } else if (few->deaths == 1 && job->added == DONE) {
        few_kill(few, 0);
    }
}

int main(void)
{
    static const few_play_t play = {
        .ranks = 3, .deaths = 2, .windows = 1, .lanes = "KEEL_LANES=direct", .phases = phases, .strike = strike};

    return few_main(&play, sizeof(job_t), SEEDS);
}
