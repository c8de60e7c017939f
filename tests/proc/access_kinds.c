/*
 * An access of each kind to the rank ARGUMENT places after the caller. The test counts the records
 * of these accesses.
 */
#include "kernel.h"

/* Completes an access: @a status is the call's, @a req its request or NULL. */
static keel_status_t wait_for(keel_status_t status, keel_req_h req)
{
    return (status == KEEL_INPROGRESS) ? keel_req_wait(req) : status;
}

static keel_status_t access_all(keel_context_h ctx, keel_win_h win, uint32_t rank)
{
    uint64_t word = 1, old = 0;
    keel_req_h req = NULL;

    KERNEL_TRY(keel_put(win, rank, 0, &word, sizeof word));
    KERNEL_TRY(wait_for(keel_put_nbx(win, rank, 8, &word, sizeof word, NULL, &req), req));
    KERNEL_TRY(keel_get(win, rank, 16, &old, sizeof old));
    KERNEL_TRY(wait_for(keel_get_nbx(win, rank, 16, &old, sizeof old, NULL, &req), req));
    KERNEL_TRY(keel_atomic(win, KEEL_ATOMIC_ADD, rank, 24, sizeof word, word, 0, &old));
    KERNEL_TRY(wait_for(keel_atomic_nbx(win, KEEL_ATOMIC_ADD, rank, 24, sizeof word, word, 0, &old, NULL, &req), req));
    KERNEL_TRY(wait_for(keel_atomic_nbx(win, KEEL_ATOMIC_ADD, rank, 24, sizeof word, word, 0, NULL, NULL, &req), req));
    KERNEL_TRY(keel_put(win, rank, 0, &word, 0));
    KERNEL_TRY(keel_get(win, rank, 0, &old, 0));
    return keel_flush(ctx, rank);
}

int main(int argc, char **argv)
{
    unsigned long further;
    keel_context_h ctx;
    keel_status_t status;
    keel_win_h win;

    if ((argc != 2) || (kernel_parse_number(argv[1], 0, &further) != 0)) {
        return KERNEL_EXIT_USAGE;
    }
    status = keel_init(NULL, &ctx);
    if (status == KEEL_OK) {
        status = keel_win_alloc(ctx, 32, NULL, &win);
    }
    if (status == KEEL_OK) {
        status = access_all(ctx, win, (uint32_t)((keel_rank(ctx) + further) % keel_size(ctx)));
    }
    if (status == KEEL_OK) {
        status = keel_gsync(ctx, 0);
    }
    if (status == KEEL_OK) {
        status = keel_finalize(ctx);
    }
    return (status == KEEL_OK) ? KERNEL_EXIT_OK : kernel_keel_error("access_kinds", "run", status);
}
