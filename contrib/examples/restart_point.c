/*
 * The ring of hello_keel.c with a restart point: no call needs a test for a rollback. The program
 * declares itself nondeterministic, so each death is a rollback; with an argument, rank 0 requests
 * a rollback once by itself, as a program would after finding its own data wrong.
 */
#include <keel/keel.h>
#include <stdio.h>
#include <unistd.h>

#define STEPS 20

int main(int argc, char **argv)
{
    const keel_params_t params = {.field_mask = KEEL_PARAM_FIELD_FLAGS, .flags = KEEL_PARAM_FLAG_NONDETERMINISTIC};
    static uint64_t step, sum = 1; /* changing locals would have to be volatile, see setjmp(3) */
    static int has_asked;          /* not protected: survives a rollback */
    keel_context_h ctx;
    keel_status_t status;
    keel_win_h win;

    if (keel_init(&params, &ctx) != KEEL_OK || keel_win_alloc(ctx, 2 * sizeof sum, NULL, &win) != KEEL_OK ||
        keel_protect(ctx, 0, &step, sizeof step) != KEEL_OK || keel_protect(ctx, 1, &sum, sizeof sum) != KEEL_OK) {
        return 1;
    }

    KEEL_RESTART_POINT(ctx);
    if (keel_restarted(ctx) && keel_restore(ctx) != KEEL_OK) {
        return 1;
    }
    while (step < STEPS) {
        sum += ((uint64_t *)keel_win_base(win))[(step + 1) % 2];
        status = keel_put(win, (keel_rank(ctx) + 1) % keel_size(ctx), step % 2 * sizeof sum, &sum, sizeof sum);
        usleep(20000);
        step++;
        if (status == KEEL_OK) {
            status = (step == STEPS / 2) ? keel_checkpoint(ctx) : keel_gsync(ctx, KEEL_GSYNC_SAFE);
        }
        if (status != KEEL_OK) {
            return 1;
        }
        if (argc > 1 && keel_rank(ctx) == 0 && step == STEPS - 5 && !has_asked) {
            has_asked = 1;
            keel_rollback(ctx);
        }
    }
    printf("rank %u, life %u: %llu\n", keel_rank(ctx), keel_incarnation(ctx), (unsigned long long)sum);
    return keel_finalize(ctx) != KEEL_OK;
}
