/*
 * What is put to a rank with nothing locked has no number among the critical sections there. A rank puts behind a section of
 * another one, which it knows to be over, and its target dies: its own log says only that it came behind an older section of its
 * own. So the job rolls back, and the newest value is there at the end.
 *
 * Or who put first, with nothing locked, dies, and nobody knows that it did: its replacement would do it again, over what a
 * section has written since.
 */
#include "few_ranks.h"

#define SEEDS 20

enum { TARGET, FIRST, SECOND };
enum { WRITTEN = 1, OVERWRITTEN, PUT }; /* stages */

typedef struct job {
    few_t few;
    uint32_t stage; /* of the newest computation */
} job_t;

static uint32_t stage_of(const keel_context_h ctx, uint32_t stage)
{
    return 10 * ctx->lane.rollback + stage;
}

static keel_status_t await(job_t *job, uint32_t rank, uint32_t stage)
{
    keel_status_t status = KEEL_OK;

    while (status == KEEL_OK && job->stage < stage_of(job->few.ctx[rank], stage)) {
        status = few_progress(&job->few, rank);
    }
    return status;
}

static keel_status_t section(keel_context_h ctx, keel_win_h win, uint64_t word)
{
    keel_status_t status = keel_lock(ctx, TARGET);

    status = (status == KEEL_OK) ? keel_put(win, TARGET, 0, &word, sizeof(word)) : status;
    return (status == KEEL_OK) ? keel_unlock(ctx, TARGET) : status;
}

static keel_status_t first_phases(job_t *job, keel_win_h win)
{
    const keel_context_h ctx = job->few.ctx[FIRST];
    const uint64_t word = PUT;
    keel_status_t status = section(ctx, win, WRITTEN);

    if (status == KEEL_OK) {
        job->stage = stage_of(ctx, WRITTEN);
        status = await(job, FIRST, OVERWRITTEN);
    }
    status = (status == KEEL_OK) ? keel_put(win, TARGET, 0, &word, sizeof(word)) : status;
    status = (status == KEEL_OK) ? keel_flush(ctx, TARGET) : status;
    if (status == KEEL_OK) {
        job->stage = stage_of(ctx, PUT);
    }
    return status;
}

static keel_status_t second_phases(job_t *job, keel_win_h win)
{
    const keel_context_h ctx = job->few.ctx[SECOND];
    keel_status_t status = await(job, SECOND, WRITTEN);

    status = (status == KEEL_OK) ? section(ctx, win, OVERWRITTEN) : status;
    if (status == KEEL_OK) {
        job->stage = stage_of(ctx, OVERWRITTEN);
    }
    return status;
}

static keel_status_t target_phases(job_t *job)
{
    keel_status_t status = await(job, TARGET, PUT);

    if (status == KEEL_OK && keel_incarnation(job->few.ctx[TARGET]) == 0) {
        keel_sim_compute(job->few.sim, 100000000); /* dies */
    }
    return status;
}

static keel_status_t phases(few_t *few, uint32_t rank, keel_win_h win)
{
    job_t *job = (job_t *)few;
    const uint64_t *own = keel_win_base(win);
    keel_win_h further;
    keel_status_t status = (rank == TARGET)  ? target_phases(job)
                           : (rank == FIRST) ? first_phases(job, win)
                                             : second_phases(job, win);

    if (status == KEEL_OK) {
        status = keel_win_alloc(few->ctx[rank], 64, NULL, &further); /* a gsync */
    }
    if (status == KEEL_OK && rank == TARGET && own[0] != PUT) {
        keel_sim_flaw(few->sim, "the last value put is %lu", (unsigned long)own[0]);
    }
    return status;
}

static void strike(few_t *few)
{
    const job_t *job = (const job_t *)few;

    if (few->deaths == 0 && job->stage == PUT) {
        few_kill(few, TARGET);
    }
}

/* ---- the other way round ---- */

static keel_status_t early_phases(job_t *job, keel_win_h win)
{
    const keel_context_h ctx = job->few.ctx[FIRST];
    const uint64_t word = WRITTEN;
    keel_status_t status = keel_put(win, TARGET, 0, &word, sizeof(word));

    status = (status == KEEL_OK) ? keel_flush(ctx, TARGET) : status;
    if (status == KEEL_OK && job->stage < stage_of(ctx, WRITTEN)) {
        job->stage = stage_of(ctx, WRITTEN);
    }
    status = (status == KEEL_OK) ? await(job, FIRST, OVERWRITTEN) : status;
    if (status == KEEL_OK && keel_incarnation(ctx) == 0) {
        keel_sim_compute(job->few.sim, 100000000); /* dies */
    }
    return status;
}

static keel_status_t phases_early(few_t *few, uint32_t rank, keel_win_h win)
{
    job_t *job = (job_t *)few;
    const uint64_t *own = keel_win_base(win);
    keel_win_h further;
    keel_status_t status = (rank == TARGET)  ? await(job, TARGET, OVERWRITTEN)
                           : (rank == FIRST) ? early_phases(job, win)
                                             : second_phases(job, win);

    if (status == KEEL_OK) {
        status = keel_win_alloc(few->ctx[rank], 64, NULL, &further);
    }
    if (status == KEEL_OK && rank == TARGET && own[0] != OVERWRITTEN) {
        keel_sim_flaw(few->sim, "what was overwritten is there again");
    }
    return status;
}

static void strike_early(few_t *few)
{
    const job_t *job = (const job_t *)few;

    if (few->deaths == 0 && job->stage == OVERWRITTEN) {
        few_kill(few, FIRST);
    }
}

int main(void)
{
    static const few_play_t late = {.ranks = 3, .deaths = 1, .windows = 1, .phases = phases, .strike = strike};
    static const few_play_t early = {
        .ranks = 3, .deaths = 1, .windows = 1, .phases = phases_early, .strike = strike_early};

    return few_main(&late, sizeof(job_t), SEEDS) | few_main(&early, sizeof(job_t), SEEDS);
}
