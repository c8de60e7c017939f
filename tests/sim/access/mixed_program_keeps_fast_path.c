/*
 * A program locks, and accesses without a lock, in a phase with waits; the program declares the
 * waits or not. The waits must end although atomics come before the section. From the next phase
 * on, accesses must take the fast path, and waits must find values put by the fast path. A death is
 * a rollback, and the same holds afterwards.
 */
#include "few_ranks.h"

#define SEEDS 10
#define STEPS 6u
#define ADDS  5u

typedef struct job {
    few_t few;
    unsigned halves; /* number of ranks that have reached the middle */
} job_t;

/* Atomics and a section at the other rank, and then a wait for a word. */
static keel_status_t mix(keel_context_h ctx, keel_win_h win, uint32_t rank)
{
    const uint64_t word = 1;
    keel_status_t status = KEEL_OK;

    for (unsigned i = 0; i < ADDS && status == KEEL_OK; i++) {
        status = keel_atomic(win, KEEL_ATOMIC_ADD, 1 - rank, 16, sizeof(word), 1, 0, NULL);
    }
    status = (status == KEEL_OK) ? keel_lock(ctx, 1 - rank) : status;
    status = (status == KEEL_OK) ? keel_unlock(ctx, 1 - rank) : status;
    status = (status == KEEL_OK) ? keel_put(win, 1 - rank, 0, &word, sizeof(word)) : status;
    status = (status == KEEL_OK) ? keel_flush(ctx, 1 - rank) : status;
    status = (status == KEEL_OK) ? keel_wait_until(win, 0, sizeof(word), KEEL_COMPARE_EQ, word) : status;
    return (status == KEEL_OK) ? keel_wait_until(win, 16, sizeof(word), KEEL_COMPARE_EQ, ADDS) : status;
}

/* Rank 1 waits for the put of rank 0 before its own put. */
static keel_status_t step(job_t *job, uint32_t rank, keel_win_h win, uint64_t word)
{
    const keel_context_h ctx = job->few.ctx[rank];
    const uint32_t shut = keel_context_gate_rma(ctx, KEEL_GATE_GETS) & UINT8_MAX;
    keel_status_t status;
    uint64_t got = 0;

    if (shut != 0) {
        keel_sim_flaw(job->few.sim, "rank %u step %u: gates %u are shut", rank, (unsigned)word, shut);
    }
    status = (rank == 1) ? keel_wait_until(win, 8, sizeof(word), KEEL_COMPARE_EQ, word) : KEEL_OK;
    status = (status == KEEL_OK) ? keel_put(win, 1 - rank, 8, &word, sizeof(word)) : status;
    status = (status == KEEL_OK) ? keel_flush(ctx, 1 - rank) : status;
    status = (status == KEEL_OK && rank == 0) ? keel_wait_until(win, 8, sizeof(word), KEEL_COMPARE_EQ, word) : status;
    status = (status == KEEL_OK) ? keel_get(win, 1 - rank, 8, &got, sizeof(got)) : status;
    return (status == KEEL_OK && got != word) ? KEEL_ERR_CORRUPT : status;
}

static keel_status_t phases(few_t *few, uint32_t rank, keel_win_h win)
{
    job_t *job = (job_t *)few;
    const keel_context_h ctx = few->ctx[rank];
    keel_status_t status = mix(ctx, win, rank);
    keel_stats_t stats;

    for (uint64_t word = 1; word <= STEPS && status == KEEL_OK; word++) {
        status = keel_gsync(ctx, KEEL_GSYNC_SAFE);
        job->halves += word == STEPS / 2;
        status = (status == KEEL_OK) ? step(job, rank, win, word) : status;
    }
    if (status == KEEL_OK && keel_stats(ctx, &stats, sizeof(stats)) == KEEL_OK && stats.rollbacks != 1) {
        keel_sim_flaw(few->sim, "rank %u: %lu rollbacks", rank, (unsigned long)stats.rollbacks);
    }
    return status;
}

static void strike(few_t *few)
{
    if (few->deaths == 0 && ((const job_t *)few)->halves == few->play->ranks) {
        few_kill(few, 1);
    }
}

int main(void)
{
    const few_play_t plain = {
        .ranks = 2, .deaths = 1, .windows = 1, .lanes = "KEEL_LANES=direct", .phases = phases, .strike = strike};
    few_play_t waits = plain;
    int failed = few_main(&plain, sizeof(job_t), SEEDS);

    waits.flags = KEEL_PARAM_FLAG_WAITS;
    failed |= few_main(&waits, sizeof(job_t), SEEDS);
    return failed;
}
