/*
 * One thread at a time is in a collective call. Two threads of rank 0 call keel_gsync(); rank 1 is
 * not there yet, so one call waits and the other is refused. The refused thread's other collective
 * calls are refused, too, and its put goes through: rank 1 awaits the put before its gsync. After
 * the gsync every collective call works again.
 */
#include "try.h"

#include <keel/keel.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { BYTES = 64 };

static keel_context_h ctx;
static keel_win_h win;

static keel_status_t expect_refusal(keel_status_t status)
{
    return (status == KEEL_ERR_STATE) ? KEEL_OK : KEEL_ERR_CORRUPT;
}

/* In the refused thread. */
static keel_status_t call_others(void)
{
    const uint64_t one = 1;
    keel_win_h other;

    TRY(expect_refusal(keel_gsync(ctx, KEEL_GSYNC_SAFE)));
    TRY(expect_refusal(keel_checkpoint(ctx)));
    TRY(expect_refusal(keel_win_alloc(ctx, BYTES, NULL, &other)));
    TRY(expect_refusal(keel_win_free(win)));
    TRY(expect_refusal(keel_finalize(ctx)));
    TRY(keel_put(win, 1, 0, &one, sizeof(one)));
    return keel_flush_all(ctx);
}

/* *arg: 1: the gsync was refused; 0: the gsync was passed; -1: an error */
static void *gsync_or_put(void *arg)
{
    const keel_status_t status = keel_gsync(ctx, 0);

    *(int *)arg = (status == KEEL_OK) ? 0 : (status == KEEL_ERR_STATE && call_others() == KEEL_OK) ? 1 : -1;
    return NULL;
}

static keel_status_t pass_first_gsync(void)
{
    int mine, others = -1;
    pthread_t thread;

    if (keel_rank(ctx) != 0) {
        TRY(keel_wait_until(win, 0, sizeof(uint64_t), KEEL_COMPARE_EQ, 1));
        return keel_gsync(ctx, 0);
    }
    if (pthread_create(&thread, NULL, gsync_or_put, &others) != 0) {
        return KEEL_ERR_NO_MEMORY;
    }
    gsync_or_put(&mine);
    (void)pthread_join(thread, NULL);
    return (mine + others == 1 && mine * others == 0) ? KEEL_OK : KEEL_ERR_CORRUPT;
}

static keel_status_t run(void)
{
    keel_win_h other;

    TRY(keel_win_alloc(ctx, BYTES, NULL, &win));
    TRY(pass_first_gsync());
    TRY(keel_gsync(ctx, KEEL_GSYNC_SAFE));
    TRY(keel_checkpoint(ctx));
    TRY(keel_win_alloc(ctx, BYTES, NULL, &other));
    TRY(keel_win_free(other));
    return keel_finalize(ctx);
}

int main(void)
{
    const keel_params_t params = {.field_mask = KEEL_PARAM_FIELD_FLAGS, .flags = KEEL_PARAM_FLAG_THREADS};
    keel_status_t status = keel_init(&params, &ctx);

    if (status == KEEL_OK) {
        status = run();
    }
    if (status != KEEL_OK) {
        fprintf(stderr, "collective_turn: %s\n", keel_status_string(status));
    }
    return (status == KEEL_OK) ? EXIT_SUCCESS : EXIT_FAILURE;
}
