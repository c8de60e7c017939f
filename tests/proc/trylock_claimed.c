/*
 * A shared keel_win_trylock() passes a waiting exclusive lock. Rank 0 holds the lock of its window
 * shared and waits for a put of rank 2; rank 1 waits for the lock exclusively; rank 2 tries to lock
 * shared before its put. A refusal would make each rank wait for the next.
 */
#include <keel/winlock.h>

#include "try.h"

#include <stdio.h>
#include <unistd.h>

enum { ROUNDS = 3000, BEGUN = 8, DONE = 0 };

static keel_status_t run(keel_context_h ctx, keel_win_h win)
{
    const uint64_t one = 1;

    TRY(keel_gsync(ctx, 0));
    if (keel_rank(ctx) == 0) {
        TRY(keel_win_lock(win, 0, KEEL_LOCK_SHARED));
        TRY(keel_put(win, 1, BEGUN, &one, sizeof(one)));
        TRY(keel_put(win, 2, BEGUN, &one, sizeof(one)));
        TRY(keel_flush_all(ctx));
        TRY(keel_wait_until(win, DONE, sizeof(one), KEEL_COMPARE_EQ, 1));
        TRY(keel_win_unlock(win, 0));
    } else {
        TRY(keel_wait_until(win, BEGUN, sizeof(one), KEEL_COMPARE_EQ, 1));
    }
    if (keel_rank(ctx) == 1) {
        TRY(keel_win_lock(win, 0, KEEL_LOCK_EXCLUSIVE));
        TRY(keel_win_unlock(win, 0));
    }
    /* The claim of rank 1 comes meanwhile. */
    for (int i = 0; keel_rank(ctx) == 2 && i < ROUNDS; i++) {
        keel_status_t status;

        do {
            status = keel_win_trylock(win, 0, KEEL_LOCK_SHARED);
        } while (status == KEEL_INPROGRESS);
        TRY(status);
        TRY(keel_win_unlock(win, 0));
        usleep(100);
    }
    if (keel_rank(ctx) == 2) {
        TRY(keel_put(win, 0, DONE, &one, sizeof(one)));
        TRY(keel_flush_all(ctx));
    }
    return keel_gsync(ctx, 0);
}

int main(void)
{
    keel_context_h ctx;
    keel_win_h win;

    if (keel_init(NULL, &ctx) != KEEL_OK || keel_win_alloc(ctx, 16, NULL, &win) != KEEL_OK ||
        run(ctx, win) != KEEL_OK || keel_finalize(ctx) != KEEL_OK) {
        return 1;
    }
    return 0;
}
