/*
 * Programs that only lock, with safe points between their sections, must have checkpoints. Ranks do
 * different numbers of sections; a rank without further sections waits in a safe gsync. The last
 * rank dies late and must begin at an image, taken by the interval or because logs fill up, on each
 * lane. In other runs rank 0 dies while the others wait in a stop, and its replacement reaches no
 * safe point of its own.
 */
#include "few_ranks.h"

#include <stdlib.h>
#include <string.h>

#define SEEDS    5
#define RANKS    3u
#define SECTIONS 60u /* sections of rank 0; each next rank does SECTIONS more */
#define LATE     (RANKS * SECTIONS * 9 / 10)

typedef struct state {
    uint64_t step, is_met;
} state_t;

typedef struct job {
    few_t few;
    state_t state[RANKS];
    uint32_t first[RANKS]; /* step + 1 at which the newest life began */
    int is_waiting[RANKS]; /* the rank is inside a safe point */
    int is_last;           /* rank 0 is in its safe gsync */
} job_t;

static void ready(few_t *few, uint32_t rank)
{
    job_t *job = (job_t *)few;

    job->state[rank] = (state_t){0};
    if (keel_protect(few->ctx[rank], 1, &job->state[rank], sizeof(state_t)) != KEEL_OK) {
        keel_sim_flaw(few->sim, "nothing protected");
    }
}

/* Adds one to a counter of another rank. */
static keel_status_t section(const job_t *job, uint32_t rank, keel_win_h win, uint64_t step)
{
    const keel_context_h ctx = job->few.ctx[rank];
    const uint32_t target = (uint32_t)((rank + 1 + step % (RANKS - 1)) % RANKS);
    keel_status_t status = keel_lock(ctx, target);
    uint64_t count = 0;

    status = (status == KEEL_OK) ? keel_get(win, target, 0, &count, sizeof(count)) : status;
    count++;
    status = (status == KEEL_OK) ? keel_put(win, target, 0, &count, sizeof(count)) : status;
    return (status == KEEL_OK) ? keel_unlock(ctx, target) : status;
}

static keel_status_t point(job_t *job, uint32_t rank)
{
    keel_status_t status;

    job->is_waiting[rank] = 1;
    status = keel_safe_point(job->few.ctx[rank]);
    job->is_waiting[rank] = 0;
    return status;
}

static void check_end(const job_t *job, uint32_t rank, keel_win_h win)
{
    uint64_t all = 0;

    for (uint32_t r = 0; r < RANKS; r++) {
        for (uint64_t step = 0; step < (r + 1) * SECTIONS; step++) {
            all += (r + 1 + step % (RANKS - 1)) % RANKS == rank;
        }
    }
    if (*(const uint64_t *)keel_win_base(win) != all) {
        keel_sim_flaw(job->few.sim, "rank %u counts %lu, %lu are wanted", rank,
                      (unsigned long)*(const uint64_t *)keel_win_base(win), (unsigned long)all);
    }
    if (job->few.ctx[rank]->ckpt.set.used.number == 0) {
        keel_sim_flaw(job->few.sim, "rank %u: a program that only locks has no checkpoint", rank);
    }
    if (job->few.deaths > 0 && job->few.ctx[rank]->rec.restarted_at > 0 && job->first[rank] == 1) {
        keel_sim_flaw(job->few.sim, "rank %u began at its first section again", rank);
    }
}

static keel_status_t phases(few_t *few, uint32_t rank, keel_win_h win)
{
    job_t *job = (job_t *)few;
    state_t *state = &job->state[rank];
    keel_status_t status = KEEL_OK;

    job->first[rank] = (uint32_t)state->step + 1;
    if (few->deaths > 0 && state->step == 0) {
        keel_sim_flaw(few->sim, "rank %u begins at step 0 behind a late death", rank);
    }
    while (status == KEEL_OK && state->step < (rank + 1) * SECTIONS) {
        status = section(job, rank, win, state->step);
        if (status == KEEL_OK) {
            state->step++;
            status = point(job, rank);
        }
    }
    if (status == KEEL_OK && !state->is_met) {
        state->is_met = 1;
        status = keel_gsync(few->ctx[rank], KEEL_GSYNC_SAFE);
    }
    if (status == KEEL_OK) {
        check_end(job, rank, win);
    }
    return status;
}

/*
 * Returns 1 if every rank uses an image: a death amid the first stop takes the job back to its
 * start.
 */
static int has_image(const few_t *few)
{
    for (uint32_t r = 0; r < RANKS; r++) {
        if (few->ctx[r] == NULL || few->ctx[r]->ckpt.set.used.number == 0) {
            return 0;
        }
    }
    return 1;
}

static void kill_late(few_t *few)
{
    if (few->deaths == 0 && ((const job_t *)few)->state[RANKS - 1].step >= LATE && has_image(few)) {
        few_kill(few, RANKS - 1);
    }
}

/* ---- rank 0 dies in a stop that rank 0 began in a collective call ---- */

static keel_status_t inherit(few_t *few, uint32_t rank, keel_win_h win)
{
    job_t *job = (job_t *)few;
    const keel_context_h ctx = few->ctx[rank];
    state_t *state = &job->state[rank];
    keel_status_t status = KEEL_OK;

    if (state->step == 0) {
        state->step++;
        status = point(job, rank);
        status = (status == KEEL_OK) ? keel_checkpoint(ctx) : status;
    }
    job->is_last |= rank == 0;
    while (status == KEEL_OK && rank != 0 && (few->deaths == 0 || state->step < SECTIONS)) {
        status = section(job, rank, win, state->step);
        if (status == KEEL_OK) {
            state->step++;
            status = job->is_last ? point(job, rank) : KEEL_OK;
            status = (status == KEEL_OK) ? few_progress(few, rank) : status;
        }
    }
    if (status == KEEL_OK && !state->is_met) {
        state->is_met = 1;
        status = keel_gsync(ctx, KEEL_GSYNC_SAFE);
    }
    return status;
}

/* Kills rank 0 when a rank waits in a stop and no rank has passed the first gsync of the stop. */
static void kill_first(few_t *few)
{
    const job_t *job = (const job_t *)few;
    const keel_context_h first = few->ctx[0];
    int is_joined = 0;

    if (few->deaths > 0 || !job->is_last) {
        return;
    }
    first->rec.is_stop_wanted = 1;
    first->stops.not_before = 0;
    for (uint32_t r = 1; r < RANKS; r++) {
        const keel_context_h ctx = few->ctx[r];

        if (ctx == NULL || ctx->rec.phase != first->rec.phase || ctx->rec.stop > ctx->ckpt.set.used.number) {
            return;
        }
        is_joined |= job->is_waiting[r] && ctx->rec.arrived == ctx->rec.phase + 1 &&
                     keel_arrive_call(ctx->lane.slot.flags[ctx->rec.arrived & 1]) == KEEL_ARRIVE_CALL_STOP;
    }
    if (is_joined) {
        few_kill(few, 0);
    }
}

int main(void)
{
    static const few_play_t plays[] = {{.ranks = RANKS,
                                        .deaths = 1,
                                        .windows = 1,
                                        .ready = ready,
                                        .lanes = "KEEL_CKPT_INTERVAL=25gsyncs",
                                        .phases = phases,
                                        .strike = kill_late},
                                       {.ranks = RANKS,
                                        .deaths = 1,
                                        .windows = 1,
                                        .ready = ready,
                                        .lanes = "KEEL_OPLOG_SOFT=20",
                                        .phases = phases,
                                        .strike = kill_late},
                                       {.ranks = RANKS,
                                        .deaths = 1,
                                        .windows = 1,
                                        .ready = ready,
                                        .lanes = "KEEL_LANES=served",
                                        .phases = inherit,
                                        .strike = kill_first},
                                       {.ranks = RANKS,
                                        .deaths = 1,
                                        .windows = 1,
                                        .ready = ready,
                                        .lanes = "KEEL_LANES=direct",
                                        .phases = inherit,
                                        .strike = kill_first}};
    int status = EXIT_SUCCESS;

    for (unsigned i = 0; i < sizeof(plays) / sizeof(plays[0]); i++) {
        status |= few_main(&plays[i], sizeof(job_t), SEEDS);
    }
    return status;
}
