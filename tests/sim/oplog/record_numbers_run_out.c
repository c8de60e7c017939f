/*
 * A pair of ranks has more records in one phase than numbers, or a rank has more waits than clocks.
 * All accesses must take effect in the program's order. A death before the end of the numbers is
 * recovered locally; a death after the end is a rollback. The next phase starts its numbers again,
 * from an image.
 */
#include "few_ranks.h"

#include <stdlib.h>

#define SEEDS  12
#define RANKS  3
#define ROUNDS 20 /* rounds of a phase */
#define PHASES 2
#define EARLY  (ROUNDS + 3)
#define LATE   (2 * ROUNDS - 1)
#define NUMBER 16u /* records, or clocks, of a phase; a round takes one, two or three of each */

typedef struct job {
    few_t few;
    uint32_t victim;
    unsigned when;         /* round of the second phase in which the victim dies */
    unsigned round[RANKS]; /* rounds in all, of the present life */
    int is_put;
} job_t;

/*
 * Passes a token around. The data that the token follows goes to rank 2: from rank 0 always, from
 * rank 1 in every second round.
 */
static keel_status_t pass_on(keel_context_h ctx, keel_win_h win, uint32_t rank, uint64_t round)
{
    const uint64_t data = RANKS * round + rank;
    const uint32_t next = (rank + 1) % RANKS;
    keel_status_t status = KEEL_OK;

    if (rank == 0 || (rank == 1 && round % 2 == 1)) {
        status = keel_put(win, 2, 8, &data, sizeof(data));
        status = (status == KEEL_OK) ? keel_flush(ctx, 2) : status;
    }
    status = (status == KEEL_OK) ? keel_put(win, next, 0, &round, sizeof(round)) : status;
    return (status == KEEL_OK) ? keel_flush(ctx, next) : status;
}

static keel_status_t one_round(job_t *job, keel_win_h win, uint32_t rank, uint64_t round)
{
    const uint64_t *own = keel_win_base(win);
    const uint64_t mine = RANKS * round + round % 2;
    keel_context_h ctx = job->few.ctx[rank];
    keel_status_t status = KEEL_OK;

    if (rank == 0) {
        status = pass_on(ctx, win, rank, round);
    }
    status = (status == KEEL_OK) ? keel_wait_until(win, 0, sizeof(*own), KEEL_COMPARE_EQ, round) : status;
    if (status == KEEL_OK && rank == 2 && own[1] != mine) {
        keel_sim_flaw(job->few.sim, "rank 2.%u has %lu in round %lu", keel_incarnation(ctx), (unsigned long)own[1],
                      (unsigned long)round);
    }
    return (status == KEEL_OK && rank != 0) ? pass_on(ctx, win, rank, round) : status;
}

static void check_rollbacks(few_t *few, uint32_t rank, int is_beyond)
{
    if (few->ctx[rank]->rec.rollbacks != (unsigned)is_beyond) {
        keel_sim_flaw(few->sim, "rank %u rolled back %lu times, %d was expected", rank,
                      (unsigned long)few->ctx[rank]->rec.rollbacks, is_beyond);
    }
}

/* Rank 0 alone puts more records than have numbers. Rank 0 or the target, rank 1, dies. */
static keel_status_t put_many(few_t *few, uint32_t rank, keel_win_h win)
{
    job_t *job = (job_t *)few;
    const uint64_t *own = keel_win_base(win);
    keel_status_t status = KEEL_OK;

    for (uint64_t i = 0; i < NUMBER + 8 && status == KEEL_OK && rank == 0; i++) {
        status = keel_put(win, 1, 8 * (i % 4), &i, sizeof(i));
    }
    status = (status == KEEL_OK) ? keel_flush_all(few->ctx[rank]) : status;
    job->is_put |= rank == 0;
    while (status == KEEL_OK && few->deaths == 0) {
        status = few_progress(few, rank);
    }
    status = (status == KEEL_OK) ? keel_gsync(few->ctx[rank], 0) : status;
    for (uint64_t i = NUMBER + 4; i < NUMBER + 8 && status == KEEL_OK && rank == 1; i++) {
        if (own[i % 4] != i) {
            keel_sim_flaw(few->sim, "rank 1 has %lu, and not what was put last, %lu", (unsigned long)own[i % 4],
                          (unsigned long)i);
        }
    }
    if (status == KEEL_OK) {
        check_rollbacks(few, rank, 1);
    }
    return status;
}

static void strike_one(few_t *few)
{
    const job_t *job = (const job_t *)few;

    if (few->deaths == 0 && job->is_put && few->ctx[job->victim] != NULL) {
        few_kill(few, job->victim);
    }
}

static keel_status_t phases(few_t *few, uint32_t rank, keel_win_h win)
{
    job_t *job = (job_t *)few;
    uint64_t *own = keel_win_base(win);
    keel_status_t status = KEEL_OK;

    for (uint64_t round = own[2] + 1; round <= PHASES * ROUNDS && status == KEEL_OK; round++) {
        job->round[rank] = (unsigned)round;
        status = one_round(job, win, rank, round);
        own[2] = round; /* position from which an image continues */
        if (status == KEEL_OK && round % ROUNDS == 0) {
            status = keel_checkpoint(few->ctx[rank]);
        }
    }
    if (status == KEEL_OK) {
        check_rollbacks(few, rank, job->when == LATE);
    }
    return status;
}

static void strike(few_t *few)
{
    const job_t *job = (const job_t *)few;

    if (few->deaths == 0 && few->ctx[job->victim] != NULL && job->round[job->victim] >= job->when) {
        few_kill(few, job->victim);
    }
}

static int play(const char *lanes, const keel_counters_t *counters)
{
    few_play_t play = {.ranks = RANKS,
                       .deaths = 1,
                       .windows = 1,
                       .flags = KEEL_PARAM_FLAG_WAITS,
                       .lanes = lanes,
                       .counters = *counters,
                       .phases = phases,
                       .strike = strike};
    int is_right = 1;

    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        job_t job = {.victim = seed % RANKS, .when = (seed / RANKS % 2 == 0) ? EARLY : LATE};

        is_right &= few_run(&job.few, &play, seed);
    }
    play.phases = put_many;
    play.strike = strike_one;
    for (uint32_t victim = 0; victim < 2 && counters->records > 0; victim++) {
        job_t job = {.victim = victim};

        is_right &= few_run(&job.few, &play, 1);
    }
    return is_right;
}

int main(void)
{
    static const char *const lanes[] = {"KEEL_LANES=direct", "KEEL_LANES=served"};
    static const keel_counters_t records = {.records = UINT32_MAX - NUMBER}, clocks = {.clocks = UINT32_MAX - NUMBER};
    int is_right = 1;

    for (unsigned i = 0; i < 2; i++) {
        is_right &= play(lanes[i], &records) & play(lanes[i], &clocks);
    }
    return is_right ? EXIT_SUCCESS : EXIT_FAILURE;
}
