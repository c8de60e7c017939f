/* Atomics that the target's service side carries out, their fate when the target dies, and
 * atomics that a record answers. */
#include "rma/atomic_record.h"
#include "access/piece.h"
#include "rma/atomic_served.h"
#include "rma/atomic.h"
#include "access/target.h"
#include "check/plant.h"
#include "oplog/put_send.h"
#include "peer/access.h"
#include "peer/apply.h"
#include "peer/issue.h"
#include "rma/get.h"
#include "epoch/lock.h"
#include "order/mix.h"
#include "rma/put_record.h"
#include "engine/refuse.h"
#include "engine/request.h"

#include "recovery/rollback_request.h"
#include "recovery/position.h"

#include <string.h>

keel_status_t keel_atomic_replayed(const keel_atomic_call_t *call)
{
    const keel_context_h ctx = call->win->ctx;
    const uint32_t rank = call->rank;
    keel_status_t status = KEEL_OK;
    keel_record_t *record;
    uint64_t old = 0;

    if (call->is_ordered) {
        old = call->req->fetched.old;
    } else {
        memcpy(&old, call->result, call->atomic->size);
    }
    keel_recovery_count_gets(&ctx->rec, 1);
    if (ctx->lane.peers[rank].mode == KEEL_PEER_AHEAD) {
        KEEL_REACHED(fetched_recorded_ahead);
    } else {
        KEEL_REACHED(fetched_recorded_same);
    }
    record = keel_atomic_log(call, 1);
    if (record != NULL) {
        keel_atomic_found(record, old);
        return KEEL_OK;
    }
    if (ctx->lane.peers[rank].mode == KEEL_PEER_BEHIND) {
        /* the target's only copy would be lost */
        return keel_rollback_request(&ctx->rec, KEEL_ROLLBACK_NO_ROOM);
    }
    if (keel_access_is_stored(&ctx->lane, rank)) {
        (void)keel_put_log_number(&ctx->puts, rank); /* the first life numbered the atomic, too */
        return KEEL_OK;
    }
    if (ctx->lane.peers[rank].mode == KEEL_PEER_LIVE) {
        status = keel_put_log_send(&ctx->puts, rank);
    }
    (void)keel_put_log_number_sent(&ctx->puts, rank);
    return status;
}

keel_status_t keel_atomic_served(const keel_atomic_call_t *call)
{
    keel_context_h ctx = call->win->ctx;
    const keel_record_atomic_t *atomic = call->atomic;
    const uint32_t rank = call->rank;
    const uint64_t where = call->where;
    keel_fetch_t fetch = {.phase = ctx->rec.phase, .is_logged = !ctx->gets.is_off, .is_clocked = call->is_ordered};
    unsigned rounds = 0;
    keel_status_t status;
    keel_record_t *record;
    keel_piece_t *piece;

    if (atomic->fetches) {
        status = keel_put_log_send(&ctx->puts, rank); /* send the earlier records first */
        if (status != KEEL_OK) {
            return status;
        }
    }
    fetch.number = keel_put_log_count(&ctx->puts, rank);
    record = keel_atomic_log(call, atomic->fetches);
    if (record == NULL) {
        if (!atomic->fetches) {
            return keel_atomic_bounce(call);
        }
        status = keel_bounce_fill(ctx, rank, where, atomic, sizeof(*atomic));
        while (status == KEEL_OK && ctx->lane.peers[rank].mode != KEEL_PEER_LIVE) {
            /* the target died: the lost record makes that a rollback */
            status = keel_context_wait(ctx, &rounds);
        }
        if (status == KEEL_OK) {
            status = keel_put_log_send(&ctx->puts, rank); /* records of callbacks in the wait */
        }
        if (status != KEEL_OK) {
            return status;
        }
        fetch.record = (keel_record_t *)ctx->bounce;
        fetch.number = keel_put_log_number_sent(&ctx->puts, rank);
    } else if (!atomic->fetches) { /* a posted atomic goes with the records around it */
        return (call->many != NULL) ? keel_put_log_gather(&ctx->puts, rank, keel_atomic_length(call), 0, 0) : KEEL_OK;
    } else {
        fetch.record = record;
        keel_put_log_mark_sent(&ctx->puts, rank);
    }
    piece = keel_piece_obtain(ctx);
    if (piece == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    piece->rank = rank;
    piece->where = where;
    piece->length = call->is_ordered ? sizeof(keel_fetched_t) : atomic->size;
    piece->buffer = call->is_ordered ? (void *)&call->req->fetched : call->result;
    piece->req = call->req;
    piece->atomic = fetch.record;
    piece->logged = record;
    piece->record = keel_get_log_reserve(&ctx->gets, rank, where, piece->length, &piece->index);
    fetch.index = piece->index;
    call->req->pieces++;
    ctx->pieces_open[rank]++;
    keel_context_touch_again(ctx, rank); /* callbacks may have flushed since the first time */
    status = keel_lane_send_atomic(&ctx->lane, rank, &fetch, piece->buffer, keel_piece_done, piece);
    if (status != KEEL_INPROGRESS) {
        keel_piece_done(piece, status);
    }
    return KEEL_OK;
}

/* Requests gets that were issued before the fragment: records lie at the target in issue order. */
static void pieces_send_before(keel_context_h ctx, const keel_piece_t *piece)
{
    keel_piece_t *get, *next;
    keel_status_t status;

    ucs_list_for_each_safe(get, next, &ctx->deferred, list)
    {
        if (get == piece) {
            break;
        }
        if (get->rank == piece->rank) {
            ucs_list_del(&get->list);
            status = keel_piece_send(get);
            if (status != KEEL_INPROGRESS) {
                keel_piece_done(get, status);
            }
        }
    }
}

static keel_piece_t *piece_awaiting(keel_context_h ctx, uint32_t rank, const keel_record_t *record)
{
    keel_piece_t *piece;

    ucs_list_for_each(piece, &ctx->deferred, list)
    {
        if (piece->rank == rank && piece->atomic != NULL && (piece->atomic == record || record == NULL)) {
            return piece;
        }
    }
    return NULL;
}

int keel_atomic_again(void *arg, uint32_t rank, const keel_fetch_t *fetch, const keel_fetched_t *found)
{
    keel_context_h ctx = arg;
    keel_piece_t *piece = piece_awaiting(ctx, rank, fetch->record);
    keel_fetch_t again = *fetch;
    keel_status_t status;

    if (piece == NULL) {
        return 0;
    }
    if (found == NULL) {
        pieces_send_before(ctx, piece);
    }
    ucs_list_del(&piece->list);
    if (found != NULL) {
        memcpy(piece->buffer, found, piece->length);
        keel_piece_done(piece, KEEL_OK);
        return 1;
    }
    again.index = piece->index;
    again.is_logged = piece->record != NULL;
    again.is_clocked = piece->length == sizeof(keel_fetched_t);
    status = keel_lane_send_atomic(&ctx->lane, rank, &again, piece->buffer, keel_piece_done, piece);
    if (status != KEEL_INPROGRESS) {
        keel_piece_done(piece, status);
    }
    return 1;
}
