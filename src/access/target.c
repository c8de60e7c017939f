/* What puts, gets and atomics share: checks, and the bounce buffer for a record that no log has
 * room for. */
#include "access/target.h"
#include "engine/threads.h"
#include "peer/region.h"
#include "engine/refuse.h"
#include "order/flush.h"
#include "order/announce.h"
#include "window/window.h"
#include "oplog/put_send.h"
#include "peer/access.h"
#include "peer/issue.h"
#include "recovery/rollback_request.h"
#include "recovery/shrink.h"

#include <string.h>

static keel_status_t access_refuse(keel_win_h win, uint32_t rank, uint64_t offset, size_t length,
                                   const keel_rma_params_t *params)
{
    keel_context_h ctx = win->ctx;
    const size_t size = keel_win_size(win, rank); /* 0 when there is no such rank */
    keel_status_t status;

    if (params != NULL && (params->field_mask & ~(uint64_t)KEEL_RMA_PARAM_FIELD_CB)) {
        keel_error_ctx(ctx, "keel_rma_params_t: unknown field 0x%lx", (unsigned long)params->field_mask);
        return KEEL_ERR_INVALID_PARAM;
    }
    if (rank >= ctx->lane.programs) {
        keel_error_ctx(ctx, "there is no rank %u in a job of %u", rank, ctx->lane.programs);
        return KEEL_ERR_RANK;
    }
    if (win->freed_call > 0) {
        return keel_win_refuse_freed(win);
    }
    if (keel_shrink_has_left(&ctx->rec, rank)) {
        status = keel_context_check(ctx);
        return (status == KEEL_OK) ? keel_refuse_gone(ctx, rank) : status;
    }
    if (offset > size || length > size - offset) {
        status = keel_context_check(ctx);
        if (status != KEEL_OK) {
            return status; /* before keel_restore() the sizes of others may be unknown */
        }
        keel_error_ctx(ctx, "%zu bytes at offset %lu leave window %u%s%s, which has %zu bytes at rank %u", length,
                       (unsigned long)offset, win->region - KEEL_REGION_WINDOW0, (win->name[0] != '\0') ? " " : "",
                       win->name, size, rank);
        return KEEL_ERR_RANGE;
    }
    return KEEL_OK;
}

/* checks arguments and state of any access, off the hot path */
keel_status_t keel_win_check(keel_win_h win, uint32_t rank, uint64_t offset, size_t length, const void *buffer,
                             const keel_rma_params_t *params)
{
    keel_status_t status;

    if (win == NULL || (buffer == NULL && length > 0)) {
        return keel_refuse_null(win == NULL ? "the window" : "the buffer of an access");
    }
    status = access_refuse(win, rank, offset, length, params);
    if (status == KEEL_OK) {
        status = keel_context_begin(win->ctx);
    }
    return status;
}

/* Served lane, the log is full. The flush forgets all records sent so far; then the record goes
 * through the bounce buffer, which is free once its previous target acknowledged. A callback in
 * one of the waits may use the buffer, too. */
keel_status_t keel_bounce_take(keel_context_h ctx, uint32_t rank, uint64_t where, size_t length,
                               keel_record_t **record_p)
{
    keel_record_t *record = (keel_record_t *)ctx->bounce.record;
    keel_status_t status = keel_flush_one(ctx, rank);

    while (status == KEEL_OK && !keel_lane_is_flushed(&ctx->lane, ctx->bounce.rank)) {
        status = keel_flush_one(ctx, ctx->bounce.rank);
    }
    if (status != KEEL_OK) {
        return status;
    }
    ctx->bounce.rank = rank;
    record->where = where;
    record->length = (uint32_t)length;
    record->epoch = 0;
    *record_p = record;
    return KEEL_OK;
}

keel_status_t keel_bounce_fill(keel_context_h ctx, uint32_t rank, uint64_t where, const void *payload, size_t length)
{
    keel_record_t *record;
    keel_status_t status = keel_bounce_take(ctx, rank, where, length, &record);

    if (status == KEEL_OK) {
        memcpy(record + 1, payload, length);
    }
    return status;
}

keel_status_t keel_put_bounce(keel_context_h ctx, uint32_t rank, uint64_t where, const void *buffer, size_t length)
{
    const keel_status_t status = keel_bounce_fill(ctx, rank, where, buffer, length);

    return (status == KEEL_OK) ? keel_bounce_send(ctx, rank, length) : status;
}

keel_status_t keel_bounce_send(keel_context_h ctx, uint32_t rank, size_t length)
{
    keel_status_t status;

    if (ctx->lane.peers[rank].mode != KEEL_PEER_LIVE) {
        return KEEL_OK; /* the target died: the lost record makes that a rollback */
    }
    status = keel_put_log_send(&ctx->puts, rank); /* records of callbacks in the wait */
    if (status != KEEL_OK) {
        return status;
    }
    return keel_lane_send_records(&ctx->lane, rank, ctx->rec.phase, keel_put_log_number_sent(&ctx->puts, rank),
                                  ctx->bounce.record, sizeof(keel_record_t) + keel_pad8(length));
}

/* Whether a live peer's memory could not be mapped: the peer has just died, and its death has
 * yet to be reported. */
static int win_is_unmapped(keel_win_h win, uint32_t rank)
{
    return keel_route(win, rank) == KEEL_ROUTE_STORED && keel_win_target(win, rank)->ptr == NULL;
}

keel_status_t keel_win_await_map(keel_win_h win, uint32_t rank)
{
    keel_context_h ctx = win->ctx;
    keel_status_t status;
    unsigned rounds = 0;

    /* Callbacks in the wait may add usage flags, and a replacement knows none. */
    while ((status = keel_announce_to(ctx, rank)) == KEEL_OK && win_is_unmapped(win, rank)) {
        status = keel_context_wait(ctx, &rounds);
        if (status != KEEL_OK) {
            return status;
        }
    }
    return status;
}

keel_status_t keel_win_await_logged(keel_win_h win, uint32_t rank)
{
    const keel_status_t status = keel_win_await_map(win, rank);

    return (status == KEEL_OK && keel_win_is_by_message(win, rank))
               ? keel_rollback_request(&win->ctx->rec, KEEL_ROLLBACK_MIXES)
               : status;
}

keel_status_t keel_word_check(keel_win_h win, uint64_t offset, size_t size, keel_compare_t compare)
{
    if (win == NULL) {
        return keel_refuse_null("the window");
    }
    if ((unsigned)compare >= KEEL_COMPARE_LAST || (size != 1 && size != 2 && size != 4 && size != 8)) {
        keel_error_ctx(win->ctx, "there is no comparison %u of %zu bytes", (unsigned)compare, size);
        return KEEL_ERR_UNSUPPORTED;
    }
    if (!keel_win_is_aligned(win, win->ctx->lane.rank, offset, size)) {
        keel_error_ctx(win->ctx, "offset %lu of a wait is not aligned to its size %zu", (unsigned long)offset, size);
        return KEEL_ERR_ALIGNMENT;
    }
    return keel_win_check(win, win->ctx->lane.rank, offset, size, win, NULL);
}

size_t keel_win_size(keel_win_h win, uint32_t rank)
{
    KEEL_INSIDE_WIN(win);

    if (win == NULL || win->freed_call > 0 || rank >= win->ctx->lane.programs) {
        return 0;
    }
    if (rank == win->ctx->lane.rank) {
        return win->size;
    }
    return keel_lane_region_size(&win->ctx->lane, rank, win->region);
}
