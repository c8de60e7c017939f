/*
 * A complete put is visible, and so is a put announced by a signal. Rank 0 puts to rank 2,
 * completes the put in one of several ways, and tells rank 1 in a way unknown to Keel. Rank 1 then
 * reads at rank 2 and must find the value, even if a processor shows stores late and in another
 * order.
 */
#include "few_ranks.h"

#include "check/plant.h"
#include "sim/world.h"

#include <stdio.h>
#include <stdlib.h>

#define SEEDS   30u
#define KEPT_NS 3000
#define SIGNAL  128u /* offset of the signal's word, in another cache line */

typedef enum { BY_FLUSH, BY_FLUSH_ALL, BY_UNLOCK, BY_ATOMIC, BY_SIGNAL, WAYS } way_t;

typedef struct job {
    few_t few;
    way_t way;
    int is_informed;
    uint64_t stored, kept; /* number of stores of rank 0, and the store that becomes visible late */
} job_t;

static job_t *playing;

/* Delays the visibility of one of the stores of a signal. */
static void at_hold(void *to, size_t length, keel_stored_t how)
{
    keel_sim_store_hold(sim_running, to, length, how);
    if (playing->way == BY_SIGNAL && keel_sim_current(sim_running) == 0 && ++playing->stored == playing->kept) {
        keel_sim_store_keep(sim_running, KEPT_NS);
    }
}

/* Lets the other ranks look between the stores. */
static void at_stores(void)
{
    if (playing->way == BY_SIGNAL && keel_sim_current(sim_running) == 0) {
        keel_sim_compute(sim_running, 300);
    }
}

static keel_status_t complete(job_t *job, keel_win_h win, uint64_t value)
{
    const keel_context_h ctx = job->few.ctx[0];
    const keel_signal_t signal = {.offset = SIGNAL, .value = 1};
    keel_status_t status = (job->way == BY_UNLOCK) ? keel_lock(ctx, 2) : KEEL_OK;

    if (job->way == BY_SIGNAL) {
        return keel_put_signal(win, 2, 0, &value, sizeof(value), &signal);
    }

    status = (status == KEEL_OK) ? keel_put(win, 2, 0, &value, sizeof(value)) : status;
    if (status != KEEL_OK) {
        return status;
    }
    switch (job->way) {
    case BY_FLUSH:
        return keel_flush(ctx, 2);
    case BY_FLUSH_ALL:
        return keel_flush_all(ctx);
    case BY_UNLOCK:
        return keel_unlock(ctx, 2);
    default:
        return keel_atomic(win, KEEL_ATOMIC_ADD, 2, 8, sizeof(value), 1, 0, NULL);
    }
}

static keel_status_t read_when_informed(job_t *job, keel_win_h win)
{
    const int is_locked = job->way == BY_UNLOCK;
    keel_status_t status = KEEL_OK;
    uint64_t value = 0;

    while (!job->is_informed && job->way != BY_SIGNAL) {
        keel_sim_compute(job->few.sim, 100);
    }
    while (status == KEEL_OK && job->way == BY_SIGNAL && value == 0) {
        keel_sim_compute(job->few.sim, 100);
        status = keel_get(win, 2, SIGNAL, &value, sizeof(value));
    }
    status = is_locked ? keel_lock_all(job->few.ctx[1]) : status;
    status = (status == KEEL_OK) ? keel_get(win, 2, 0, &value, sizeof(value)) : status;
    if (status == KEEL_OK && value != 1) {
        keel_sim_flaw(job->few.sim, "way %d: rank 1 knows of a put and reads %lu", (int)job->way, (unsigned long)value);
    }
    return (status == KEEL_OK && is_locked) ? keel_unlock_all(job->few.ctx[1]) : status;
}

static keel_status_t phases(few_t *few, uint32_t rank, keel_win_h win)
{
    job_t *job = (job_t *)few;
    keel_status_t status = KEEL_OK;

    if (rank == 0) {
        status = complete(job, win, 1);
        job->is_informed = 1;
        keel_sim_compute(few->sim, 1000);
    } else if (rank == 1) {
        status = read_when_informed(job, win);
    }
    return status;
}

static void strike(few_t *few)
{
}

int main(void)
{
    few_play_t play = {
        .ranks = 3, .windows = 1, .bytes = 256, .lanes = "KEEL_LANES=direct", .phases = phases, .strike = strike};
    int is_right = 1;

    keel_planted_stores = at_stores;
    keel_planted_memory.hold = at_hold;
    for (play.stores = KEEL_SIM_AT_ONCE; play.stores <= KEEL_SIM_ARM; play.stores++) {
        for (way_t way = 0; way < WAYS; way++) {
            for (uint64_t seed = 1; seed <= SEEDS && is_right; seed++) {
                job_t job = {.way = way, .kept = seed};

                playing = &job;
                is_right = few_run(&job.few, &play, seed);
            }
        }
    }
    return is_right ? EXIT_SUCCESS : EXIT_FAILURE;
}
