/*
 * Accesses to given memory, which no other process maps: the owner's service thread carries them
 * out.
 *
 * Other memory of the same rank may be mapped here, and the caller numbers and logs the stores
 * there; messages to the rank have no place among these numbers. No log therefore contains the
 * messages: the first one makes the program mix, and every death is a rollback. The rollback's
 * number drops pending messages. Each access is complete at the owner when the call returns, so
 * flushes, fences, gsyncs and later accesses by stores find it complete. A wait for the owner
 * depends on its service thread only, and ends with the report of its death.
 */
#include "rma/by_message.h"
#include "access/fragment.h"
#include "rma/get.h"
#include "engine/request.h"
#include "access/target.h"
#include "access/unlogged.h"
#include "peer/issue.h"

#include <string.h>

keel_status_t keel_by_message_take(keel_win_h win, uint32_t rank, uint64_t where, size_t length,
                                   keel_record_t **record_p)
{
    keel_status_t status;

    do { /* again if the rank died in the wait */
        status = keel_unlogged_await(win, rank);
        status = (status == KEEL_OK) ? keel_bounce_take(win->ctx, rank, where, length, record_p) : status;
    } while (status == KEEL_OK && win->ctx->lane.peers[rank].mode != KEEL_PEER_LIVE);
    return status;
}

keel_status_t keel_by_message_send(keel_win_h win, uint32_t rank)
{
    keel_context_h ctx = win->ctx;
    keel_status_t status = keel_lane_send_unnumbered(&ctx->lane, rank, (const keel_record_t *)ctx->bounce.record);
    unsigned rounds = 0;

    while (status == KEEL_OK && !keel_lane_is_flushed(&ctx->lane, rank)) {
        status = keel_context_wait(ctx, &rounds);
    }
    return status;
}

keel_status_t keel_by_message_put(keel_win_h win, uint32_t rank, uint64_t offset, const void *buffer, size_t length)
{
    keel_context_h ctx = win->ctx;
    keel_status_t status = KEEL_OK;
    const char *from = buffer;
    keel_record_t *record;
    size_t fragment;

    keel_context_touch(ctx, rank);
    for (; length > 0 && status == KEEL_OK; length -= fragment, from += fragment, offset += fragment) {
        fragment = (length < ctx->puts.record_max) ? length : ctx->puts.record_max;
        status = keel_by_message_take(win, rank, keel_where(offset, KEEL_RECORD_PUT, win->region), fragment, &record);
        if (status == KEEL_OK) {
            memcpy(record + 1, from, fragment);
            status = keel_by_message_send(win, rank);
        }
    }
    return status;
}

keel_status_t keel_by_message_get(keel_win_h win, uint32_t rank, uint64_t offset, void *buffer, uint32_t length,
                                  struct keel_req *req)
{
    keel_context_h ctx = win->ctx;
    keel_status_t status = keel_unlogged_await(win, rank);
    keel_fragment_t *fragment;

    if (status != KEEL_OK) {
        return status;
    }
    fragment = keel_fragment_obtain(ctx);
    if (fragment == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    fragment->rank = rank;
    fragment->where = keel_where(offset, KEEL_RECORD_PUT, win->region);
    fragment->length = length;
    fragment->buffer = buffer;
    fragment->req = req;
    fragment->atomic = NULL;
    fragment->record = NULL;
    req->fragments++;
    ctx->fragments_open[rank]++;
    keel_context_touch(ctx, rank); /* callbacks may have flushed since the first time */
    status = keel_lane_read(&ctx->lane, rank, win->region, offset, buffer, length, keel_fragment_done, fragment);
    if (status != KEEL_INPROGRESS) {
        keel_fragment_done(fragment, status);
    }
    return KEEL_OK;
}
