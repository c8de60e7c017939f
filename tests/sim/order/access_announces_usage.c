/*
 * Facts that a rank must learn from a rank that accesses it.
 *
 *   begun    A nondeterministic program. Rank 0 is the only rank that has accessed anything, at
 *            rank 1, and dies. Rank 1 must know that the program had begun. Otherwise the put of
 *            the first life stays beside the put of the second life.
 *   passed   Rank 2 fetches from rank 0, puts the value to rank 0, and dies amid its arrivals.
 *            Rank 0 has received the arrival, and rank 1 has not. Rank 0 puts to a place at rank 1
 *            that depends on the value, and dies too. Rank 1 must know that a rank had fetched:
 *            the job must roll back. Otherwise both ranks are recovered locally and find another
 *            value, and the put of the first life stays beside the put of the second life.
 *   waited   Rank 0 is the first rank that waits, and announces the wait by its arrival alone.
 *            Later rank 0 acts on a put of rank 1. Rank 1 fetches from rank 2 the fact that rank 0
 *            has acted, and puts over the word. Rank 1 must know from the arrival that clocks
 *            order its puts. Otherwise the replacement of rank 0 receives both puts at once.
 */
#include "few_ranks.h"

#include <stdlib.h>

#define SEEDS   20
#define WORD    7u
#define SLOW_NS 12000000 /* longer than the acts of the others and the news of their deaths take */

/* ---- begun ---- */

static void ready(few_t *few, uint32_t rank)
{
    if (rank == 1) { /* until the first life is over and its replacement is there */
        while (few->deaths == 0 || few->ctx[1]->lane.peers[0].incarnation == 0) {
            (void)few_progress(few, rank);
        }
    }
}

static keel_status_t phases(few_t *few, uint32_t rank, keel_win_h last)
{
    const keel_context_h ctx = few->ctx[rank];
    const uint64_t word = WORD, *own = keel_win_base(last);
    /* each life uses another offset */
    const uint64_t offset = (keel_incarnation(ctx) == 0) ? 0 : sizeof(word);
    keel_status_t status = (rank == 0) ? keel_put(last, 1, offset, &word, sizeof(word)) : KEEL_OK;

    status = (status == KEEL_OK) ? keel_gsync(ctx, 0) : status;
    return (status == KEEL_OK && rank == 1 && (own[0] != 0 || own[1] != WORD)) ? KEEL_ERR_CORRUPT : status;
}

static void strike(few_t *few)
{
    const keel_context_h one = few->ctx[1];

    if (few->deaths == 0 && one != NULL && one->rec.phase == 1 &&
        *(const uint64_t *)one->windows.list[0]->base == WORD) {
        few_kill(few, 0);
    }
}

/* ---- passed ---- */

enum { COUNT, FOUND }; /* words of rank 0's window */

typedef struct passed {
    few_t few;
    int has_found; /* rank 2 has fetched: the addition of rank 1 comes later */
    int is_slow;   /* rank 1 has arrived and hangs, so no message reaches rank 1 */
    int has_put;   /* rank 0 has left the gsync */
} passed_t;

static keel_status_t until(few_t *few, uint32_t rank, const int *is_so)
{
    keel_status_t status = KEEL_OK;

    while (status == KEEL_OK && !*is_so && few->deaths == 0) {
        status = few_progress(few, rank);
    }
    return status;
}

static keel_status_t passed_fetch(passed_t *job, keel_win_h win)
{
    uint64_t found = 0;
    keel_status_t status = keel_atomic(win, KEEL_ATOMIC_ADD, 0, COUNT * sizeof(found), sizeof(found), 1, 0, &found);

    job->has_found |= status == KEEL_OK;
    status = (status == KEEL_OK) ? until(&job->few, 2, &job->is_slow) : status;
    return (status == KEEL_OK) ? keel_put(win, 0, FOUND * sizeof(found), &found, sizeof(found)) : status;
}

static keel_status_t passed_phases(few_t *few, uint32_t rank, keel_win_h last)
{
    const keel_context_h ctx = few->ctx[rank];
    const uint64_t word = WORD, *own = keel_win_base(last);
    passed_t *job = (passed_t *)few;
    keel_status_t status = KEEL_OK;

    if (rank == 1) {
        status = until(few, rank, &job->has_found);
        status = (status == KEEL_OK)
                     ? keel_atomic(last, KEEL_ATOMIC_ADD, 0, COUNT * sizeof(word), sizeof(word), 1, 0, NULL)
                     : status;
    } else if (rank == 2) {
        status = passed_fetch(job, last);
    }
    status = (status == KEEL_OK) ? keel_gsync(ctx, 0) : status;
    if (status == KEEL_OK && rank == 0) {
        status = keel_put(last, 1, own[FOUND] * sizeof(word), &word, sizeof(word));
        status = (status == KEEL_OK) ? keel_flush(ctx, 1) : status;
        job->has_put |= status == KEEL_OK;
    }
    status = (status == KEEL_OK) ? keel_gsync(ctx, 0) : status;
    return (status == KEEL_OK && rank == 1 && own[0] + own[1] != WORD) ? KEEL_ERR_CORRUPT : status;
}

/* Messages under way from rank 2 to rank 1 may be lost with rank 2. */
static void passed_strike(few_t *few)
{
    const keel_context_h one = few->ctx[1];
    passed_t *job = (passed_t *)few;

    if (few->deaths > 0 || one == NULL) {
        return;
    }
    if (!job->is_slow && one->rec.arrived == 2) {
        job->is_slow = keel_sim_hang(few->sim, 1, SLOW_NS);
    } else if (job->has_put) {
        few_kill(few, 0);
        few_kill(few, 2);
    }
}

/* ---- waited ---- */

enum { X, FLAG, COPY, CAME }; /* words of each window */

typedef struct waited {
    few_t few;
    int is_over; /* rank 1 has put once more */
} waited_t;

static keel_status_t waited_put(few_t *few, uint32_t rank, keel_win_h win, uint32_t to, unsigned at, uint64_t word)
{
    keel_status_t status = keel_put(win, to, at * sizeof(word), &word, sizeof(word));

    return (status == KEEL_OK) ? keel_flush(few->ctx[rank], to) : status;
}

static keel_status_t waited_add(keel_win_h win, uint64_t what, uint64_t *found_p)
{
    return keel_atomic(win, KEEL_ATOMIC_ADD, 2, CAME * sizeof(what), sizeof(what), what, 0, found_p);
}

static keel_status_t waited_zero(few_t *few, keel_win_h win)
{
    const uint64_t *own = keel_win_base(win);
    keel_status_t status = keel_wait_until(win, FLAG * sizeof(*own), sizeof(*own), KEEL_COMPARE_EQ, 2);

    status = (status == KEEL_OK) ? waited_put(few, 0, win, 2, COPY, own[X]) : status;
    status = (status == KEEL_OK) ? waited_add(win, 1, NULL) : status;
    status = (status == KEEL_OK) ? keel_flush(few->ctx[0], 2) : status;
    return (status == KEEL_OK) ? few_await_deaths(few, 0, 1) : status;
}

static keel_status_t waited_one(few_t *few, keel_win_h win)
{
    keel_status_t status = waited_put(few, 1, win, 0, X, WORD);
    uint64_t found = 0;

    status = (status == KEEL_OK) ? waited_put(few, 1, win, 0, FLAG, 2) : status;
    while (status == KEEL_OK && found == 0) {
        status = few_progress(few, 1);
        status = (status == KEEL_OK) ? waited_add(win, 0, &found) : status;
    }
    status = (status == KEEL_OK) ? waited_put(few, 1, win, 0, X, WORD + 1) : status;
    ((waited_t *)few)->is_over |= status == KEEL_OK;
    return status;
}

/* The first wait, and an image behind the wait. */
static keel_status_t waited_begin(few_t *few, uint32_t rank, keel_win_h win)
{
    const keel_context_h ctx = few->ctx[rank];
    keel_status_t status = (rank == 0)   ? keel_wait_until(win, FLAG * 8, 8, KEEL_COMPARE_EQ, 1)
                           : (rank == 1) ? waited_put(few, 1, win, 0, FLAG, 1)
                                         : KEEL_OK;

    status = (status == KEEL_OK) ? keel_gsync(ctx, 0) : status;
    return (status == KEEL_OK) ? keel_checkpoint(ctx) : status;
}

static keel_status_t waited_phases(few_t *few, uint32_t rank, keel_win_h last)
{
    const keel_context_h ctx = few->ctx[rank];
    const uint64_t *own = keel_win_base(last);
    keel_status_t status = (ctx->ckpt.set.used.number == 0) ? waited_begin(few, rank, last) : KEEL_OK;

    if (status == KEEL_OK && rank < 2) {
        status = (rank == 0) ? waited_zero(few, last) : waited_one(few, last);
    }
    status = (status == KEEL_OK) ? keel_gsync(ctx, 0) : status;
    if (status == KEEL_ERR_ROLLED_BACK) {
        keel_sim_flaw(few->sim, "rank %u rolls back", rank);
    }
    return (status == KEEL_OK && rank == 2 && own[COPY] != WORD) ? KEEL_ERR_CORRUPT : status;
}

static void waited_strike(few_t *few)
{
    if (few->deaths == 0 && ((const waited_t *)few)->is_over) {
        few_kill(few, 0);
    }
}

int main(void)
{
    static const uint32_t apart[] = {0, 0, 1};
    static const few_play_t begun = {.ranks = 2,
                                     .deaths = 1,
                                     .windows = 1,
                                     .flags = KEEL_PARAM_FLAG_NONDETERMINISTIC,
                                     .ready = ready,
                                     .phases = phases,
                                     .strike = strike};
    static const few_play_t passed = {
        .ranks = 3, .deaths = 2, .windows = 1, .node = apart, .phases = passed_phases, .strike = passed_strike};
    static const few_play_t waited = {.ranks = 3,
                                      .deaths = 1,
                                      .windows = 1,
                                      .lanes = "KEEL_LANES=served",
                                      .phases = waited_phases,
                                      .strike = waited_strike};
    int status = few_main(&begun, sizeof(few_t), SEEDS);

    status |= few_main(&passed, sizeof(passed_t), SEEDS);
    status |= few_main(&waited, sizeof(waited_t), SEEDS);
    return status;
}
