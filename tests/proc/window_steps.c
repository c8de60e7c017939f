/*
 * Windows allocated in the steps of a program: window_steps ask|retry. Every third step allocates a
 * window, and rank 1 dies between two of these. The replacement queries the number of window calls
 * to repeat, or repeats calls until keel_restore() succeeds.
 */
#include <keel/keel.h>

#include <signal.h>
#include <stdio.h>
#include <string.h>

enum { STEPS = 14, DEATH = 10, WINDOWS = STEPS / 3 + 1 };

static keel_context_h ctx;
static keel_win_h wins[WINDOWS];
static unsigned here;       /* windows of this process */
static uint64_t step, made; /* protected */

static keel_status_t make_window(void)
{
    const keel_status_t status = keel_win_alloc(ctx, 64 * (here + 1), NULL, &wins[here]);

    here += (status == KEEL_OK);
    return status;
}

static keel_status_t restore(int asks)
{
    keel_status_t status;
    keel_stats_t stats;

    do {
        status = keel_stats(ctx, &stats, sizeof(stats));
        for (uint64_t i = 0; asks && status == KEEL_OK && i < stats.window_calls_due; i++) {
            status = make_window();
        }
        status = (status == KEEL_OK) ? keel_restore(ctx) : status;
        if (!asks && status == KEEL_ERR_STATE && here < WINDOWS && make_window() != KEEL_OK) {
            return status;
        }
    } while (status == KEEL_ERR_STATE && !asks);
    here = (unsigned)made; /* later windows than the image's are freed */
    return status;
}

static keel_status_t do_step(void)
{
    const uint32_t rank = keel_rank(ctx), size = keel_size(ctx), right = (rank + 1) % size;
    const uint64_t said = step * 100 + rank, expected = step * 100 + (rank + size - 1) % size;
    keel_status_t status = KEEL_OK;

    if (step % 3 == 0 && made == step / 3) {
        status = make_window();
        made += (status == KEEL_OK);
    }
    for (unsigned i = 0; i < made && status == KEEL_OK; i++) {
        status = keel_put(wins[i], right, 8 * (step % 2), &said, sizeof said);
    }
    if (status == KEEL_OK && step == DEATH && rank == 1 && keel_incarnation(ctx) == 0) {
        raise(SIGKILL);
    }
    status = (status == KEEL_OK) ? keel_gsync(ctx, 0) : status;
    for (unsigned i = 0; i < made && status == KEEL_OK; i++) {
        if (((const uint64_t *)keel_win_base(wins[i]))[step % 2] != expected) {
            printf("window_steps: rank %u: window %u is wrong in step %lu\n", rank, i, (unsigned long)step);
            return KEEL_ERR_CORRUPT;
        }
    }
    step += (status == KEEL_OK);
    return (status == KEEL_OK) ? keel_gsync(ctx, KEEL_GSYNC_SAFE) : status;
}

int main(int argc, char **argv)
{
    const int asks = argc > 1 && strcmp(argv[1], "ask") == 0;
    keel_status_t status = keel_init(NULL, &ctx);

    if (status != KEEL_OK || keel_protect(ctx, 0, &step, sizeof step) != KEEL_OK ||
        keel_protect(ctx, 1, &made, sizeof made) != KEEL_OK) {
        return 1;
    }
    do {
        status = keel_restarted(ctx) ? restore(asks) : KEEL_OK;
        while (status == KEEL_OK && step < STEPS) {
            status = do_step();
        }
        if (status == KEEL_OK) {
            printf("window_steps: rank %u, life %u: %lu windows\n", keel_rank(ctx), keel_incarnation(ctx),
                   (unsigned long)made);
            status = keel_finalize(ctx);
        }
    } while (status == KEEL_ERR_ROLLED_BACK);
    return status != KEEL_OK;
}
