/*
 * A thread waits for a word that no rank writes, and the job is rolled back meanwhile. The main
 * thread calls keel_restore() at once, without waiting for the other thread. When keel_restore()
 * returns, the other thread's call has returned KEEL_ERR_ROLLED_BACK.
 */
#include "try.h"

#include <keel/keel.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { LOOKS = 200, LOOK_US = 10000, INSIDE_US = 100000 };

static keel_context_h ctx;
static keel_win_h win;
static keel_status_t ended = KEEL_INPROGRESS;
static int is_there; /* the thread is about to call */

static void *wait_for_nothing(void *unused)
{
    keel_status_t status;

    __atomic_store_n(&is_there, 1, __ATOMIC_RELEASE);
    status = keel_wait_until(win, 0, 8, KEEL_COMPARE_EQ, 1);
    __atomic_store_n(&ended, status, __ATOMIC_RELEASE);
    return unused;
}

/* Waits for the thread, which may be slow after its call. */
static keel_status_t await_end(void)
{
    for (unsigned i = 0; i < LOOKS && __atomic_load_n(&ended, __ATOMIC_ACQUIRE) == KEEL_INPROGRESS; i++) {
        usleep(LOOK_US);
    }
    return __atomic_load_n(&ended, __ATOMIC_ACQUIRE);
}

static keel_status_t run(void)
{
    keel_status_t status;
    pthread_t thread;

    TRY(keel_gsync(ctx, 0));
    if (pthread_create(&thread, NULL, wait_for_nothing, NULL) != 0) {
        return KEEL_ERR_NO_MEMORY;
    }
    while (!__atomic_load_n(&is_there, __ATOMIC_ACQUIRE)) {
        usleep(LOOK_US);
    }
    usleep(INSIDE_US);
    status = (keel_rank(ctx) == 0) ? keel_rollback(ctx) : keel_gsync(ctx, 0);
    if (status != KEEL_ERR_ROLLED_BACK) {
        return KEEL_ERR_STATE;
    }
    TRY(keel_restore(ctx));
    status = await_end();
    if (status != KEEL_ERR_ROLLED_BACK) {
        fprintf(stderr, "ended_calls: rank %u: behind keel_restore() the other thread's call is: %s\n", keel_rank(ctx),
                keel_status_string(status));
        exit(EXIT_FAILURE);
    }
    pthread_join(thread, NULL);
    return keel_gsync(ctx, 0);
}

int main(void)
{
    const keel_params_t params = {.field_mask = KEEL_PARAM_FIELD_FLAGS, .flags = KEEL_PARAM_FLAG_THREADS};
    keel_status_t status = keel_init(&params, &ctx);

    status = (status == KEEL_OK) ? keel_win_alloc(ctx, 64, NULL, &win) : status;
    if (status == KEEL_OK && keel_restarted(ctx)) {
        status = keel_restore(ctx);
    }
    status = (status == KEEL_OK) ? run() : status;
    if (status == KEEL_OK && keel_rank(ctx) == 0) {
        printf("ended_calls: right\n");
    }
    status = (status == KEEL_OK) ? keel_finalize(ctx) : status;
    if (status != KEEL_OK) {
        fprintf(stderr, "ended_calls: %s\n", keel_status_string(status));
    }
    return (status == KEEL_OK) ? EXIT_SUCCESS : EXIT_FAILURE;
}
