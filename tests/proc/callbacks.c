/*
 * Callbacks that issue accesses with waits inside. A put without space in the log is issued when
 * all earlier accesses are complete; a blocking get returns with its value. So progress is made
 * while a callback runs.
 */
#include <keel/keel.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCKS 400u
#define BLOCK  4096u

static keel_win_h win; /* blocks to get, then blocks to put */
static unsigned char got[BLOCKS][BLOCK];
static uint32_t rank, peer;
static unsigned called, wrong;

static unsigned char is_at(uint32_t where, size_t block)
{
    return (unsigned char)(3 * block + where);
}

static void on_got(void *user, keel_status_t status)
{
    const size_t block = (size_t)(uintptr_t)user;
    unsigned char again[BLOCK];

    wrong += status != KEEL_OK;
    wrong += keel_put(win, peer, (BLOCKS + block) * BLOCK, got[block], BLOCK) != KEEL_OK;
    wrong += keel_get(win, peer, block * BLOCK, again, BLOCK) != KEEL_OK;
    wrong += memcmp(again, got[block], BLOCK) != 0;
    called++;
}

static keel_status_t exchange(keel_context_h ctx)
{
    unsigned done = 0;

    for (size_t block = 0; block < BLOCKS; block++) {
        const keel_rma_params_t params = {
            .field_mask = KEEL_RMA_PARAM_FIELD_CB, .cb = on_got, .user = (void *)(uintptr_t)block};
        const keel_status_t status = keel_get_nbx(win, peer, block * BLOCK, got[block], BLOCK, &params, NULL);

        if (status != KEEL_OK && status != KEEL_INPROGRESS) {
            return status;
        }
        done += status == KEEL_OK;
    }
    while (called + done < BLOCKS) {
        const keel_status_t status = keel_progress(ctx);

        if (status != KEEL_OK) {
            return status;
        }
    }
    wrong += done > 0; /* these ranks share no memory */
    return keel_gsync(ctx, 0);
}

int main(void)
{
    const keel_params_t params = {.field_mask = KEEL_PARAM_FIELD_FLAGS, .flags = KEEL_PARAM_FLAG_NONDETERMINISTIC};
    keel_status_t status;
    keel_context_h ctx;
    unsigned char *own;

    if (keel_init(&params, &ctx) != KEEL_OK || keel_win_alloc(ctx, (size_t)2 * BLOCKS * BLOCK, NULL, &win) != KEEL_OK) {
        return EXIT_FAILURE;
    }
    rank = keel_rank(ctx);
    peer = 1 - rank;
    own = keel_win_base(win);
    for (size_t block = 0; block < BLOCKS; block++) {
        memset(own + block * BLOCK, is_at(rank, block), BLOCK);
    }
    status = keel_gsync(ctx, 0);
    if (status == KEEL_OK) {
        status = exchange(ctx);
    }
    /* the other rank has put back the bytes got here */
    for (size_t i = 0; i < (size_t)BLOCKS * BLOCK; i++) {
        wrong += own[(size_t)BLOCKS * BLOCK + i] != is_at(rank, i / BLOCK);
    }
    if (status != KEEL_OK || wrong > 0) {
        fprintf(stderr, "rank %u: %s, %u wrong, %u of %u called\n", rank, keel_status_string(status), wrong, called,
                BLOCKS);
        return EXIT_FAILURE;
    }
    return (keel_finalize(ctx) == KEEL_OK) ? EXIT_SUCCESS : EXIT_FAILURE;
}
