/*
 * Rank 0 stores to its window while the others read the window. The words got are of different
 * moments, but each word is old or new, and the job goes on.
 */
#include "try.h"

#include <keel/keel.h>

#include <stdint.h>
#include <stdio.h>

enum { WORDS = 2048, GETS = 300 };

static keel_context_h ctx;
static keel_win_h win;

static keel_status_t store_until_stopped(void)
{
    volatile uint64_t *words = keel_win_base(win);
    const uint32_t others = keel_size(ctx) - 1;

    for (uint64_t round = 1; words[WORDS] + words[WORDS + 1] < others; round++) {
        for (unsigned i = 0; i < WORDS; i++) {
            words[i] = round * 0x100000001ull; /* both halves are equal */
        }
    }
    return KEEL_OK;
}

static keel_status_t read_again_and_again(void)
{
    const uint64_t done = 1;
    uint64_t got[WORDS];

    for (unsigned i = 0; i < GETS; i++) {
        TRY(keel_get(win, 0, 0, got, sizeof(got)));
        TRY(keel_flush(ctx, 0));
        for (unsigned k = 0; k < WORDS; k++) {
            if (got[k] >> 32 != (got[k] & UINT32_MAX)) {
                fprintf(stderr, "raced_get: a word is neither old nor new: %lx\n", got[k]);
                return KEEL_ERR_CORRUPT;
            }
        }
    }
    TRY(keel_put(win, 0, (WORDS + keel_rank(ctx) - 1) * sizeof(done), &done, sizeof(done)));
    return keel_flush(ctx, 0);
}

static keel_status_t run(void)
{
    TRY(keel_init(NULL, &ctx));
    TRY(keel_win_alloc(ctx, (WORDS + 2) * sizeof(uint64_t), NULL, &win));
    TRY(keel_gsync(ctx, 0));
    TRY((keel_rank(ctx) == 0) ? store_until_stopped() : read_again_and_again());
    TRY(keel_gsync(ctx, 0));
    return keel_finalize(ctx);
}

int main(void)
{
    const keel_status_t status = run();

    if (status != KEEL_OK) {
        fprintf(stderr, "raced_get: %s\n", keel_status_string(status));
    }
    return (status == KEEL_OK) ? 0 : 1;
}
