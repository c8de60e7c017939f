/*
 * A rank with a gsync too many: extra_gsync. Rank 2 kills itself at step 10; the replacement is
 * recovered, and calls keel_gsync() while the other ranks are in keel_finalize(). The call fails,
 * and the replacement exits with status 1.
 */
#include "try.h"

#include <keel/keel.h>

#include <signal.h>

enum { EXIT_EXTRA = 1, EXIT_KEEL = 3, STEPS = 20 };

static keel_status_t run(keel_context_h ctx, uint64_t *step)
{
    if (keel_restarted(ctx)) {
        TRY(keel_restore(ctx));
    }
    while (*step < STEPS) {
        if (keel_rank(ctx) == 2 && keel_incarnation(ctx) == 0 && *step == STEPS / 2) {
            raise(SIGKILL);
        }
        (*step)++;
        TRY(keel_gsync(ctx, KEEL_GSYNC_SAFE));
    }
    return KEEL_OK;
}

int main(void)
{
    keel_context_h ctx;
    uint64_t step = 0;
    keel_win_h win;

    if (keel_init(NULL, &ctx) != KEEL_OK || keel_win_alloc(ctx, 64, NULL, &win) != KEEL_OK ||
        keel_protect(ctx, 0, &step, sizeof(step)) != KEEL_OK || run(ctx, &step) != KEEL_OK) {
        return EXIT_KEEL;
    }
    if (keel_rank(ctx) == 2 && keel_gsync(ctx, 0) != KEEL_OK) {
        return EXIT_EXTRA;
    }
    return (keel_finalize(ctx) == KEEL_OK) ? 0 : EXIT_KEEL;
}
