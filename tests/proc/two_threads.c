/*
 * Two threads take turns inside calls, as the thread rule requires: the first makes progress and
 * queries statistics while the second, the program's, is between its calls. In every third step a
 * third thread makes the accesses. Rank 1 dies in a step, rank 0 requests a rollback in a later
 * step.
 */
#include "try.h"

#include <keel/keel.h>

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 30, CKPT_EVERY = 7, DEATH_STEP = 11, ASK_STEP = 18, BLOCK = 3000 };

static pthread_mutex_t inside = PTHREAD_MUTEX_INITIALIZER;
static keel_context_h ctx;
static keel_win_h win; /* a block put by the preceding rank, and a block that it gets */
static uint64_t step;  /* protected */
static unsigned turns, called;
static int is_over, has_asked;
static unsigned char got[BLOCK], sent[BLOCK];

static unsigned char byte_of(uint32_t rank, uint64_t when)
{
    return (unsigned char)(7 * when + rank + 1);
}

static void *make_progress(void *unused)
{
    keel_stats_t stats;
    int goes_on = 1;

    while (goes_on) {
        pthread_mutex_lock(&inside);
        goes_on = !is_over;
        if (goes_on) {
            (void)keel_progress(ctx);
            (void)keel_stats(ctx, &stats, sizeof(stats));
            turns++;
        }
        pthread_mutex_unlock(&inside);
    }
    return unused;
}

/* Gives the other thread at least one turn. */
static void give_turn(void)
{
    const unsigned before = turns;
    unsigned now;

    do {
        pthread_mutex_unlock(&inside);
        sched_yield();
        pthread_mutex_lock(&inside);
        now = turns;
    } while (now == before);
}

static void on_got(void *user, keel_status_t status)
{
    called += status == KEEL_OK && user == got;
}

static keel_status_t access_others(void)
{
    const keel_rma_params_t params = {.field_mask = KEEL_RMA_PARAM_FIELD_CB, .cb = on_got, .user = got};
    const uint32_t rank = keel_rank(ctx), size = keel_size(ctx);
    keel_status_t status;

    memset(sent, byte_of(rank, step), BLOCK);
    TRY(keel_put(win, (rank + 1) % size, 0, sent, BLOCK));
    status = keel_get_nbx(win, (rank + 1) % size, BLOCK, got, BLOCK, &params, NULL);
    called += status == KEEL_OK;
    return (status == KEEL_INPROGRESS) ? KEEL_OK : status;
}

static void *access_others_elsewhere(void *arg)
{
    *(keel_status_t *)arg = access_others();
    return NULL;
}

static keel_status_t do_accesses(void)
{
    keel_status_t status = KEEL_ERR_IO;
    pthread_t thread;

    called = 0;
    if (step % 3 != 0) {
        return access_others();
    }
    if (pthread_create(&thread, NULL, access_others_elsewhere, &status) == 0) {
        (void)pthread_join(thread, NULL);
    }
    return status;
}

static keel_status_t await_callback(void)
{
    while (called == 0) {
        TRY(keel_progress(ctx));
        give_turn();
    }
    return (called == 1) ? KEEL_OK : KEEL_ERR_CORRUPT;
}

static int is_all(const unsigned char *bytes, unsigned char value)
{
    return bytes[0] == value && memcmp(bytes, bytes + 1, BLOCK - 1) == 0;
}

static keel_status_t do_step(void)
{
    const uint32_t rank = keel_rank(ctx), size = keel_size(ctx);
    unsigned char *own = keel_win_base(win);

    memset(own + BLOCK, byte_of(rank, step), BLOCK);
    TRY(keel_gsync(ctx, 0));
    give_turn();
    TRY(do_accesses());
    give_turn();
    if (step == DEATH_STEP && rank == 1 && keel_incarnation(ctx) == 0) {
        raise(SIGKILL);
    }
    if (step == ASK_STEP && rank == 0 && !has_asked) {
        has_asked = 1;
        return keel_rollback(ctx);
    }
    TRY(await_callback());
    TRY(keel_gsync(ctx, 0));
    if (!is_all(own, byte_of((rank + size - 1) % size, step)) || !is_all(got, byte_of((rank + 1) % size, step))) {
        return KEEL_ERR_CORRUPT;
    }
    step++;
    return (step % CKPT_EVERY == 0) ? keel_checkpoint(ctx) : keel_gsync(ctx, KEEL_GSYNC_SAFE);
}

/* Runs with the turn taken; a jump comes back here with the turn. */
static keel_status_t run(void)
{
    static keel_status_t status;

    KEEL_RESTART_POINT(ctx);
    do {
        status = keel_restarted(ctx) ? keel_restore(ctx) : KEEL_OK;
        while (status == KEEL_OK && step < STEPS) {
            status = do_step();
        }
    } while (status == KEEL_ERR_ROLLED_BACK); /* the status of another thread's call */
    keel_restart_clear(ctx);
    return status;
}

/* The death was recovered locally, and the job was rolled back once. */
static keel_status_t check_deaths(void)
{
    const int is_new = keel_rank(ctx) == 1;
    keel_stats_t stats;

    TRY(keel_stats(ctx, &stats, sizeof(stats)));
    return (keel_incarnation(ctx) == (uint32_t)is_new && stats.deaths == (uint64_t)!is_new && stats.rollbacks == 1)
               ? KEEL_OK
               : KEEL_ERR_STATE;
}

int main(void)
{
    keel_status_t status;
    pthread_t thread;

    if (keel_init(NULL, &ctx) != KEEL_OK || pthread_mutex_lock(&inside) != 0 ||
        pthread_create(&thread, NULL, make_progress, NULL) != 0) {
        return EXIT_FAILURE;
    }
    status = keel_win_alloc(ctx, (size_t)2 * BLOCK, NULL, &win);
    if (status == KEEL_OK) {
        status = keel_protect(ctx, 1, &step, sizeof step);
    }
    if (status == KEEL_OK) {
        status = run();
    }
    if (status == KEEL_OK) {
        status = check_deaths();
    }
    is_over = 1;
    pthread_mutex_unlock(&inside);
    (void)pthread_join(thread, NULL);
    if (status == KEEL_OK) {
        status = keel_finalize(ctx);
    }
    if (status != KEEL_OK) {
        fprintf(stderr, "two_threads: step %lu: %s\n", (unsigned long)step, keel_status_string(status));
    }
    return (status == KEEL_OK) ? EXIT_SUCCESS : EXIT_FAILURE;
}
