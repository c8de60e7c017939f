/*
 * Locks with numbers beyond 32 bits, and the last possible locks. After the last lock every rank,
 * also the replacement of a dead rank, must get KEEL_ERR_LIMIT, and all else goes on.
 */
#include "few_ranks.h"

#include <stdlib.h>

#define SEEDS    8
#define SECTIONS 4 /* sections of each rank, at rank 0 */
#define RANKS    2

typedef struct job {
    few_t few;
    uint32_t victim;
    uint64_t all;             /* number of possible sections */
    unsigned sections[RANKS]; /* sections of the present life */
    int is_refused[RANKS];
} job_t;

static keel_status_t add_one(keel_context_h ctx, keel_win_h win)
{
    uint64_t word = 0;
    keel_status_t status = keel_lock(ctx, 0);

    if (status != KEEL_OK) {
        return status;
    }
    status = keel_get(win, 0, 0, &word, sizeof(word));
    status = (status == KEEL_OK) ? keel_flush(ctx, 0) : status;
    word++;
    status = (status == KEEL_OK) ? keel_put(win, 0, 0, &word, sizeof(word)) : status;
    return (status == KEEL_OK) ? keel_unlock(ctx, 0) : status;
}

static keel_status_t phases(few_t *few, uint32_t rank, keel_win_h win)
{
    job_t *job = (job_t *)few;
    keel_context_h ctx = few->ctx[rank];
    keel_status_t status = KEEL_OK;
    keel_win_h further;

    job->is_refused[rank] = 0;
    for (unsigned i = 0; i < SECTIONS && status == KEEL_OK; i++) {
        job->sections[rank] = i;
        status = add_one(ctx, win);
    }
    if (status == KEEL_ERR_LIMIT) {
        job->is_refused[rank] = 1;
        /* a rank that reads its own memory takes a number too */
        status = (rank == 0) ? keel_lock_all(ctx) : KEEL_ERR_LIMIT;
        if (status != KEEL_ERR_LIMIT) {
            keel_sim_flaw(few->sim, "rank 0 reads under a number that it cannot have: %s", keel_status_string(status));
        }
        status = KEEL_OK;
    }
    while (status == KEEL_OK && few->deaths == 0) {
        status = few_progress(few, rank);
    }
    if (status == KEEL_OK) {
        /* includes a gsync, in programs that lock too */
        status = keel_win_alloc(ctx, 64, NULL, &further);
    }
    if (status == KEEL_OK && rank == 0 && *(const uint64_t *)keel_win_base(win) != job->all) {
        keel_sim_flaw(few->sim, "%lu sections took effect, of %lu", (unsigned long)*(uint64_t *)keel_win_base(win),
                      (unsigned long)job->all);
    }
    if (status == KEEL_OK && ctx->rec.rollbacks > 0) {
        keel_sim_flaw(few->sim, "rank %u rolled back", rank);
    }
    return status;
}

static void strike(few_t *few)
{
    const job_t *job = (const job_t *)few;
    const int is_due = (job->all < RANKS * SECTIONS) ? job->is_refused[job->victim] : job->sections[job->victim] >= 2;

    if (few->deaths == 0 && is_due) {
        few_kill(few, job->victim);
    }
}

static int play(uint64_t begin, uint64_t all, const char *lanes)
{
    const few_play_t play = {.ranks = RANKS,
                             .deaths = 1,
                             .windows = 1,
                             .lanes = lanes,
                             .counters = {.lock = begin},
                             .phases = phases,
                             .strike = strike};
    int is_right = 1;

    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        job_t job = {.victim = seed % RANKS, .all = all};

        is_right &= few_run(&job.few, &play, seed);
        is_right &= job.is_refused[0] == (all < RANKS * SECTIONS);
    }
    return is_right;
}

int main(void)
{
    static const char *const lanes[] = {"KEEL_LANES=direct", "KEEL_LANES=served"};
    int is_right = 1;

    for (unsigned i = 0; i < 2; i++) {
        is_right &= play(UINT32_MAX - 2, RANKS * SECTIONS, lanes[i]);
        is_right &= play(KEEL_LOCK_COUNTER_MAX - 3, 3, lanes[i]);
    }
    return is_right ? EXIT_SUCCESS : EXIT_FAILURE;
}
