/*
 * A rank tests a request between polls and tests of words, and callbacks test requests too. The
 * rank reports the number of vain tests to another rank and dies. Its replacement must count the
 * same number. Tests by callbacks, which have no determined moment, are not recorded.
 */
#include "few_ranks.h"

#include <stdio.h>
#include <stdlib.h>

#define SEEDS   60
#define LIVES   2
#define SLOW_NS 20000 /* longer than a few tests of the request */

/* offsets in each rank's window */
enum { A = 0, B = 8, REPORT = 16 };

typedef struct looking {
    few_t few;
    keel_req_h called; /* the callback of this request tests this request and the other */
    keel_req_h other;
    unsigned calls;
    uint64_t looks[LIVES]; /* number of vain tests by rank 0 */
    int is_reported;       /* the first life has reported to rank 1 */
    int is_asked, is_slow; /* both gets go to rank 2; rank 2 has hung */
} looking_t;

static void call_back(void *arg, keel_status_t status)
{
    looking_t *looking = arg;

    if (status == KEEL_OK && looking->called != NULL) {
        status = keel_req_test(looking->called);
    }
    if (status != KEEL_OK) {
        keel_sim_flaw(looking->few.sim, "a callback tests its own request: %s", keel_status_string(status));
    }
    if (looking->other != NULL) {
        (void)keel_req_test(looking->other);
    }
    looking->calls++;
}

static keel_status_t look_until(looking_t *looking, keel_win_h win, uint64_t *looks)
{
    const keel_context_h ctx = looking->few.ctx[0];
    keel_word_t word = {.win = win, .offset = B, .size = sizeof(uint64_t), .compare = KEEL_COMPARE_EQ, .value = 1};
    keel_status_t status, other;
    uint64_t polled;

    while ((status = keel_req_test(looking->other)) == KEEL_INPROGRESS) {
        ++*looks;
        other = keel_poll(win, 1, B, &polled, sizeof(polled));
        if (other == KEEL_OK && *looks % 3 == 0) {
            other = keel_test(ctx, KEEL_WAIT_ALL, &word, 1, NULL);
        }
        other = (other == KEEL_OK || other == KEEL_INPROGRESS) ? few_progress(&looking->few, 0) : other;
        if (other != KEEL_OK) {
            return other;
        }
    }
    return status;
}

static keel_status_t get_twice(looking_t *looking, keel_win_h win, uint64_t *got)
{
    const keel_rma_params_t params = {.field_mask = KEEL_RMA_PARAM_FIELD_CB, .cb = call_back, .user = looking};
    keel_status_t status;

    looking->called = looking->other = NULL;
    looking->calls = 0;
    status = keel_get_nbx(win, 2, A, &got[0], sizeof(got[0]), &params, &looking->called);
    if (status != KEEL_INPROGRESS) {
        return (status == KEEL_OK) ? KEEL_ERR_CORRUPT : status;
    }
    looking->is_asked = 1;
    status = keel_get_nbx(win, 2, A, &got[1], sizeof(got[1]), NULL, &looking->other);
    return (status == KEEL_OK) ? KEEL_ERR_CORRUPT : (status == KEEL_INPROGRESS) ? KEEL_OK : status;
}

static keel_status_t looker(looking_t *looking, keel_win_h win)
{
    const uint32_t life = keel_incarnation(looking->few.ctx[0]);
    uint64_t *looks = &looking->looks[life % LIVES], got[2] = {0, 0};
    /* announces to all other ranks that rank 0 polls */
    keel_status_t status = keel_poll(win, 1, B, &got[0], sizeof(got[0]));

    *looks = 0;
    status = (status == KEEL_OK) ? get_twice(looking, win, got) : status;
    status = (status == KEEL_OK) ? look_until(looking, win, looks) : status;
    if (status == KEEL_OK && looking->is_reported && looking->looks[0] != looking->looks[1]) {
        keel_sim_flaw(looking->few.sim, "rank 0 looked %lu times in vain, and its replacement %lu times",
                      (unsigned long)looking->looks[0], (unsigned long)looking->looks[1]);
    }
    status = (status == KEEL_OK) ? keel_put(win, 1, REPORT, looks, sizeof(*looks)) : status;
    status = (status == KEEL_OK) ? keel_flush(looking->few.ctx[0], 1) : status;
    looking->is_reported |= status == KEEL_OK;
    while (status == KEEL_OK && (looking->few.deaths == 0 || looking->calls == 0)) {
        status = few_progress(&looking->few, 0);
    }
    if (status == KEEL_OK && (got[0] != 12 || got[1] != 12 || looking->calls != 1)) {
        keel_sim_flaw(looking->few.sim, "rank 0 got %lu and %lu, and was called back %u times", (unsigned long)got[0],
                      (unsigned long)got[1], looking->calls);
    }
    keel_req_free(looking->called);
    keel_req_free(looking->other);
    return status;
}

static keel_status_t phases(few_t *few, uint32_t rank, keel_win_h win)
{
    const keel_context_h ctx = few->ctx[rank];
    keel_status_t status;

    *(uint64_t *)keel_win_base(win) = 10 + rank;
    status = keel_gsync(ctx, 0);
    if (status == KEEL_OK && rank == 0) {
        status = looker((looking_t *)few, win);
    }
    while (status == KEEL_OK && rank != 0 && few->deaths == 0) {
        status = few_progress(few, rank);
    }
    status = (status == KEEL_OK) ? keel_gsync(ctx, 0) : status;
    if (status == KEEL_ERR_ROLLED_BACK || (status == KEEL_OK && ctx->rec.rollbacks > 0)) {
        keel_sim_flaw(few->sim, "rank %u.%u rolls back", rank, keel_incarnation(ctx));
    }
    return status;
}

static void strike(few_t *few)
{
    looking_t *looking = (looking_t *)few;

    if (looking->is_asked && !looking->is_slow) {
        looking->is_slow = keel_sim_hang(few->sim, 2, SLOW_NS);
    }
    if (few->deaths == 0 && looking->is_reported && looking->calls > 0) {
        few_kill(few, 0);
    }
}

int main(void)
{
    static const char *const lanes[] = {"KEEL_LANES=served", "KEEL_LANES=direct"};
    uint64_t looks[2] = {0, 0};
    int is_right = 1;

    for (unsigned i = 0; i < 2; i++) {
        const few_play_t play = {.ranks = 3,
                                 .deaths = 1,
                                 .windows = 1,
                                 .flags = KEEL_PARAM_FLAG_WAITS,
                                 .lanes = lanes[i],
                                 .phases = phases,
                                 .strike = strike};

        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
            looking_t looking = {.is_reported = 0};

            is_right &= few_run(&looking.few, &play, seed);
            looks[i] += looking.looks[0];
        }
    }
    if (looks[0] < SEEDS || looks[1] != 0) {
        fprintf(stderr, "%lu looks in vain by messages, and %lu by loads\n", (unsigned long)looks[0],
                (unsigned long)looks[1]);
        return EXIT_FAILURE;
    }
    return is_right ? EXIT_SUCCESS : EXIT_FAILURE;
}
