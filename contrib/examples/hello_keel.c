/* A ring of sums: each rank adds its left neighbour's. Kill a rank: the sums are the same. */
#include <keel/keel.h>
#include <stdio.h>
#include <unistd.h>

int main(void)
{
    keel_context_h ctx;
    keel_win_h win;
    uint64_t step = 0, sum = 1; /* protected; with the window the whole state of a rank */
    keel_status_t status = KEEL_OK;

    if (keel_init(NULL, &ctx) != KEEL_OK || keel_win_alloc(ctx, 2 * sizeof sum, NULL, &win) != KEEL_OK ||
        keel_protect(ctx, 0, &step, sizeof step) != KEEL_OK || keel_protect(ctx, 1, &sum, sizeof sum) != KEEL_OK)
        return 1;
    do {
        if (keel_restarted(ctx))
            status = keel_restore(ctx);
        while (status == KEEL_OK && step < 20) {
            sum += ((uint64_t *)keel_win_base(win))[(step + 1) % 2]; /* put in the previous step */
            status = keel_put(win, (keel_rank(ctx) + 1) % keel_size(ctx), step % 2 * sizeof sum, &sum, sizeof sum);
            usleep(50000);
            step++; /* before the gsync: a checkpoint taken there continues from here */
            if (status == KEEL_OK)
                status = keel_gsync(ctx, KEEL_GSYNC_SAFE);
        }
        if (status == KEEL_OK) {
            printf("rank %u, life %u: %llu\n", keel_rank(ctx), keel_incarnation(ctx), (unsigned long long)sum);
            status = keel_finalize(ctx);
        }
    } while (status == KEEL_ERR_ROLLED_BACK);
    return status != KEEL_OK;
}
