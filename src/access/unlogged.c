/* The start of an access that no log contains. */
#include "access/unlogged.h"
#include "access/admit.h"

keel_status_t keel_unlogged_await(keel_win_h win, uint32_t rank)
{
    keel_context_h ctx = win->ctx;
    keel_status_t status = keel_win_await_map(win, rank);
    unsigned rounds = 0;

    while (status == KEEL_OK && ctx->lane.peers[rank].mode != KEEL_PEER_LIVE) {
        status = keel_context_wait(ctx, &rounds);
        status = (status == KEEL_OK) ? keel_win_await_map(win, rank) : status;
    }
    return status;
}

keel_status_t keel_unlogged_begin(keel_win_h win, uint32_t rank, uint64_t offset, size_t length, const void *buffer,
                                  const char *call)
{
    keel_status_t status = keel_win_check(win, rank, offset, length, buffer, NULL);

    if (status == KEEL_OK) {
        status = keel_access_admit(win, rank, KEEL_ACCESS_UNLOGGED, call);
    }
    return (status == KEEL_OK) ? keel_unlogged_await(win, rank) : status;
}
