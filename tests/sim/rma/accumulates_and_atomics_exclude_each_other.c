/*
 * Ranks 0 and 1 accumulate many elements at rank 2. Rank 1 also does single atomics on some of the
 * elements, each in a block that no atomic has touched before. Ranks run between the stores of
 * the others, and see stores late. No addition is lost. Rank 0 may die while it holds the area of
 * accumulates: before or behind its stores it comes back alone, amid them the job rolls back.
 */
#include "few_ranks.h"

#include "check/plant.h"
#include "peer/combine/combine_area.h"
#include "sim/world.h"

#include <stdio.h>
#include <stdlib.h>

#define SEEDS    40u
#define SLOW_NS  200
#define KEPT_NS  20000
#define CHUNKS   12u
#define ELEMENTS 32u /* of an accumulate: the simulator delays 256 bytes of a store */
#define TIMES    4u
#define FLAG     (CHUNKS * ELEMENTS * sizeof(uint64_t)) /* offset of a word for a wait */
#define MOMENTS  12u

typedef struct job {
    few_t few;
    int waits; /* programs that wait number their atomics in another way */
    int dies;
    unsigned wanted, seen; /* moments with rank 0 as the holder */
} job_t;

static const job_t *playing;
static int is_amid[2]; /* the rank has stored elements that others do not see yet */

static int is_accumulating(void)
{
    return keel_sim_current(sim_running) < 2 && playing->few.ctx[keel_sim_current(sim_running)] != NULL;
}

static void at_hold(void *to, size_t length, keel_stored_t how)
{
    keel_sim_store_hold(sim_running, to, length, how);
    if (is_accumulating() && length > sizeof(uint64_t)) {
        keel_sim_store_keep(sim_running, KEPT_NS);
        is_amid[keel_sim_current(sim_running)] = 1;
    }
}

static void at_stores(void)
{
    const uint32_t rank = keel_sim_current(sim_running);

    if (is_accumulating()) {
        keel_sim_compute(sim_running, is_amid[rank] ? KEPT_NS : SLOW_NS);
        is_amid[rank] = 0;
    }
}

static keel_status_t add_many(keel_win_h win, unsigned chunk)
{
    uint64_t ones[ELEMENTS];

    for (unsigned i = 0; i < ELEMENTS; i++) {
        ones[i] = 1;
    }
    return keel_accumulate(win, KEEL_OP_SUM, KEEL_TYPE_UINT64, 2, chunk * sizeof(ones), ones, ELEMENTS, NULL);
}

/* Rank 0 goes through the chunks several times, rank 1 once, with an atomic in each. */
static keel_status_t add(keel_win_h win, uint32_t rank)
{
    keel_status_t status = KEEL_OK;

    for (unsigned i = 0; i < ((rank == 0) ? TIMES : 1) * CHUNKS && status == KEEL_OK; i++) {
        const unsigned chunk = i % CHUNKS;

        if (rank == 1) {
            status =
                keel_atomic(win, KEEL_ATOMIC_ADD, 2, chunk * ELEMENTS * sizeof(uint64_t), sizeof(uint64_t), 1, 0, NULL);
        }
        status = (status == KEEL_OK) ? add_many(win, (rank == 1) ? CHUNKS - 1 - chunk : chunk) : status;
    }
    return status;
}

static keel_status_t wait_once(uint32_t rank, keel_win_h win)
{
    const uint64_t flag = 1;
    const keel_status_t status = keel_put(win, (rank + 1) % 3, FLAG, &flag, sizeof(flag));

    return (status == KEEL_OK) ? keel_wait_until(win, FLAG, sizeof(flag), KEEL_COMPARE_EQ, 1) : status;
}

static keel_status_t phases(few_t *few, uint32_t rank, keel_win_h win)
{
    const job_t *job = (const job_t *)few;
    const uint64_t *own = keel_win_base(win);
    keel_status_t status = job->waits ? wait_once(rank, win) : KEEL_OK;

    status = (status == KEEL_OK && rank < 2) ? add(win, rank) : status;
    status = (status == KEEL_OK) ? keel_gsync(few->ctx[rank], 0) : status;
    for (unsigned i = 0; i < CHUNKS * ELEMENTS && status == KEEL_OK && rank == 2; i++) {
        const uint64_t wanted = TIMES + 1 + (i % ELEMENTS == 0);

        if (own[i] != wanted) {
            keel_sim_flaw(few->sim, "element %u is %lu, not %lu", i, (unsigned long)own[i], (unsigned long)wanted);
            break;
        }
    }
    return status;
}

static void strike(few_t *few)
{
    job_t *job = (job_t *)few;
    const keel_context_h ctx = few->ctx[2];

    if (job->dies && few->deaths == 0 && ctx != NULL && keel_lane_locks(&ctx->lane)->combine.holder == 1 &&
        ++job->seen == job->wanted) {
        few_kill(few, 0);
    }
}

int main(void)
{
    few_play_t play = {.ranks = 3,
                       .windows = 1,
                       .bytes = FLAG + sizeof(uint64_t),
                       .lanes = "KEEL_LANES=direct",
                       .phases = phases,
                       .strike = strike};
    int is_right = 1;

    keel_planted_stores = at_stores;
    keel_planted_memory.hold = at_hold;
    for (play.stores = KEEL_SIM_AT_ONCE; play.stores <= KEEL_SIM_ARM; play.stores++) {
        for (uint64_t seed = 1; seed <= SEEDS && is_right; seed++) {
            job_t job = {.waits = seed % 2 == 0, .dies = seed % 4 > 1, .wanted = 1 + (unsigned)seed / 4 % MOMENTS};

            playing = &job;
            play.deaths = (unsigned)job.dies;
            is_right = few_run(&job.few, &play, seed);
        }
    }
    return is_right ? EXIT_SUCCESS : EXIT_FAILURE;
}
