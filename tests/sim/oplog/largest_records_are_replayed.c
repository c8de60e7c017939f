/*
 * Puts of the largest record size, in programs that lock or wait. The target dies. The source sends
 * the puts to the replacement, and the replacement must replay them.
 */
#include "few_ranks.h"

#include <stdlib.h>
#include <string.h>

#define SEEDS 10
#define BYTES ((size_t)20 << 10)

typedef struct large {
    few_t few; /* must be the first member */
    int is_put;
    unsigned char bytes[BYTES];
} large_t;

static keel_status_t put_large(large_t *large, keel_win_h win, keel_win_h last, int locks)
{
    const uint64_t word = 1;
    keel_context_h ctx = large->few.ctx[0];
    keel_status_t status = locks ? keel_lock(ctx, 1) : KEEL_OK;

    memset(large->bytes, 9, BYTES);
    for (size_t at = 0; status == KEEL_OK && at < BYTES; at += ctx->puts.record_max) {
        const size_t rest = BYTES - at;

        status = keel_put(win, 1, at, large->bytes + at, rest < ctx->puts.record_max ? rest : ctx->puts.record_max);
    }
    status = (status == KEEL_OK) ? keel_flush(ctx, 1) : status;
    status = (status == KEEL_OK) ? keel_put(last, 1, 0, &word, sizeof(word)) : status;
    return (status == KEEL_OK && locks) ? keel_unlock(ctx, 1) : status;
}

static keel_status_t phases(few_t *few, uint32_t rank, keel_win_h last)
{
    const int locks = few->play->flags == 0;
    large_t *large = (large_t *)few;
    keel_win_h win, end;
    keel_status_t status = keel_win_alloc(few->ctx[rank], BYTES, NULL, &win); /* includes a gsync */

    if (status == KEEL_OK && rank == 0) {
        status = put_large(large, win, last, locks);
        large->is_put = 1;
    } else if (status == KEEL_OK && !locks) {
        status = keel_wait_until(last, 0, sizeof(uint64_t), KEEL_COMPARE_EQ, 1);
    }
    while (status == KEEL_OK && rank == 1 && few->deaths == 0) {
        status = few_progress(few, rank);
    }
    status = (status == KEEL_OK) ? keel_win_alloc(few->ctx[rank], 64, NULL, &end) : status;
    if (status == KEEL_OK && rank == 1 && memcmp(keel_win_base(win), large->bytes, BYTES) != 0) {
        status = KEEL_ERR_CORRUPT;
    }
    return status;
}

static void strike(few_t *few)
{
    large_t *large = (large_t *)few;

    if (large->is_put && few->deaths == 0) {
        few_kill(few, 1);
    }
}

int main(void)
{
    int status = EXIT_SUCCESS;

    for (unsigned waits = 0; waits < 2; waits++) {
        const few_play_t play = {.ranks = 2,
                                 .deaths = 1,
                                 .windows = 1,
                                 .flags = waits ? KEEL_PARAM_FLAG_WAITS : 0,
                                 .phases = phases,
                                 .strike = strike};

        status |= few_main(&play, sizeof(large_t), SEEDS);
    }
    return status;
}
