/*
 * Two ranks call a function that completes at once, again and again, until the third rank has put a
 * word. The third rank dies before its put. No rank waits inside Keel, so the calls themselves must
 * notice the death, or a rank that hangs, and must take part in the recovery.
 */
#include "few_ranks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEEDS 6

typedef enum {
    POLL_GET_OWN,
    POLL_GET,
    POLL_GET_FLUSH,
    POLL_PUT,
    POLL_ATOMIC,
    POLL_ATOMIC_OWN,
    POLL_FENCE,
    POLL_FLUSH,
    POLL_FLUSH_ALL,
    POLL_TEST,
    POLL_LOCK_OWN,
    POLL_LOCK,
    POLL_LAST
} poll_t;

typedef struct polling {
    few_t few;
    poll_t poll;
    int is_hung; /* the victim hangs instead of dying, so only its silence shows */
    int is_struck;
    uint64_t polled; /* polls by rank 0 in its first life */
} polling_t;

#define WORD   0  /* word that rank 2 puts */
#define BESIDE 16 /* place of the polling accesses */

static keel_status_t call(const polling_t *p, uint32_t rank, keel_win_h win, keel_req_h req)
{
    const uint32_t other = rank ^ 1;
    keel_context_h ctx = p->few.ctx[rank];
    uint64_t word = 1;
    keel_status_t status;

    switch (p->poll) {
    case POLL_GET_OWN:
        return keel_get(win, rank, BESIDE, &word, sizeof(word));
    case POLL_GET:
        return keel_get(win, other, BESIDE, &word, sizeof(word));
    case POLL_GET_FLUSH:
        status = keel_get_nbx(win, other, BESIDE, &word, sizeof(word), NULL, NULL);
        return (status >= KEEL_OK) ? keel_flush(ctx, other) : status;
    case POLL_PUT:
        return keel_put(win, other, BESIDE + 8 * (1 + rank), &word, sizeof(word));
    case POLL_ATOMIC:
        return keel_atomic(win, KEEL_ATOMIC_ADD, other, BESIDE, sizeof(word), 1, 0, NULL);
    case POLL_ATOMIC_OWN:
        return keel_atomic(win, KEEL_ATOMIC_ADD, rank, BESIDE, sizeof(word), 1, 0, NULL);
    case POLL_FENCE:
        return keel_fence(ctx);
    case POLL_FLUSH:
        return keel_flush(ctx, other);
    case POLL_FLUSH_ALL:
        return keel_flush_all(ctx);
    case POLL_TEST:
        status = (req != NULL) ? keel_req_test(req) : keel_fence(ctx);
        return (status == KEEL_INPROGRESS) ? KEEL_OK : status;
    case POLL_LOCK_OWN:
    case POLL_LOCK:
    default:
        status = keel_lock(ctx, (p->poll == POLL_LOCK) ? other : rank);
        return (status == KEEL_OK) ? keel_unlock(ctx, (p->poll == POLL_LOCK) ? other : rank) : status;
    }
}

/* Looks as the program does: a program that polls by locks looks under its own lock. */
static keel_status_t look(const polling_t *p, uint32_t rank, keel_win_h win, uint64_t *word_p)
{
    const int is_locking = p->poll == POLL_LOCK || p->poll == POLL_LOCK_OWN;
    keel_status_t status = is_locking ? keel_lock(p->few.ctx[rank], rank) : KEEL_OK;

    *word_p = (status == KEEL_OK) ? __atomic_load_n((uint64_t *)keel_win_base(win), __ATOMIC_ACQUIRE) : 0;
    return (is_locking && status == KEEL_OK) ? keel_unlock(p->few.ctx[rank], rank) : status;
}

static keel_status_t poll_until_put(polling_t *p, uint32_t rank, keel_win_h win)
{
    keel_status_t status = KEEL_OK;
    uint64_t word = 0, beside;
    keel_req_h req = NULL;

    /* a get from the victim: the reply comes with the replacement, or at once */
    if (p->poll == POLL_TEST) {
        status = keel_get_nbx(win, 2, BESIDE, &beside, sizeof(beside), NULL, &req);
        status = (status == KEEL_INPROGRESS) ? KEEL_OK : status;
    }
    while (status == KEEL_OK && word == 0) {
        keel_sim_compute(p->few.sim, 1000);
        p->polled += rank == 0;
        status = call(p, rank, win, req);
        status = (status == KEEL_OK) ? look(p, rank, win, &word) : status;
    }
    if (req != NULL && status == KEEL_OK) {
        status = keel_req_wait(req);
    }
    return status;
}

static keel_status_t put_words(polling_t *p, keel_win_h win)
{
    const int is_locking = p->poll == POLL_LOCK || p->poll == POLL_LOCK_OWN;
    const uint64_t word = 1;
    keel_status_t status = KEEL_OK;

    keel_sim_compute(p->few.sim, 2000000);
    for (uint32_t r = 0; r < 2 && status == KEEL_OK; r++) {
        status = is_locking ? keel_lock(p->few.ctx[2], r) : KEEL_OK;
        status = (status == KEEL_OK) ? keel_put(win, r, WORD, &word, sizeof(word)) : status;
        status = (status == KEEL_OK && is_locking) ? keel_unlock(p->few.ctx[2], r) : status;
    }
    return (status == KEEL_OK) ? keel_flush_all(p->few.ctx[2]) : status;
}

static keel_status_t phases(few_t *few, uint32_t rank, keel_win_h last)
{
    polling_t *p = (polling_t *)few;
    const int is_locking = p->poll == POLL_LOCK || p->poll == POLL_LOCK_OWN;
    keel_status_t status = (rank == 2) ? put_words(p, last) : poll_until_put(p, rank, last);

    return (status == KEEL_OK && !is_locking) ? keel_gsync(few->ctx[rank], 0) : status;
}

/* Kills or hangs rank 2 while the others poll. */
static void strike(few_t *few)
{
    polling_t *p = (polling_t *)few;

    if (p->is_struck || p->polled < 5) {
        return;
    }
    p->is_struck = 1;
    if (p->is_hung) {
        (void)keel_sim_hang(few->sim, 2, UINT64_MAX);
    } else {
        few_kill(few, 2);
    }
}

static int run(poll_t poll, const char *lanes, int is_hung, uint64_t seed)
{
    const few_play_t play = {.ranks = 3,
                             .deaths = !is_hung,
                             .windows = 1,
                             .lanes = lanes,
                             .is_noticing = 1,
                             .phases = phases,
                             .strike = strike};
    polling_t p = {.poll = poll, .is_hung = is_hung};

    if (few_run(&p.few, &play, seed)) {
        return 1;
    }
    fprintf(stderr, "poll %u, %s, %s\n", (unsigned)poll, lanes, is_hung ? "hung" : "killed");
    return 0;
}

int main(void)
{
    static const char *const lanes[] = {"KEEL_LANES=direct", "KEEL_LANES=served"};
    int is_right = 1;

    setenv("KEEL_HEARTBEAT_INTERVAL", "200us", 1);
    setenv("KEEL_HEARTBEAT_TIMEOUT", "1ms", 1);
    for (unsigned poll = 0; poll < POLL_LAST && is_right; poll++) {
        for (uint64_t seed = 1; seed <= SEEDS && is_right; seed++) {
            for (unsigned lane = 0; lane < 2 && is_right; lane++) {
                is_right = run((poll_t)poll, lanes[lane], 0, seed) && run((poll_t)poll, lanes[lane], 1, seed);
            }
        }
    }
    return is_right ? EXIT_SUCCESS : EXIT_FAILURE;
}
