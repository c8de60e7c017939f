/*
 * Fragments: pending gets and pending fetching parts of atomics, each at most one message long. A
 * load, a one-sided read or a request to the target completes a fragment. While the target is down,
 * the fragment waits in context->deferred for the replacement.
 */
#include "access/piece.h"
#include "engine/request.h"

#include "check/plant.h"
#include "check/reached.h"
#include "oplog/get_remote.h"
#include "oplog/put_send.h"
#include "peer/access.h"
#include "peer/apply.h"
#include "peer/issue.h"
#include "recovery/rollback_request.h"
#include "recovery/hand_over_check.h"
#include "recovery/recovery_status.h"

#include <string.h>

/* notes the old value that an atomic fetched; a clock may follow the value in the buffer */
static void piece_found(const keel_piece_t *piece)
{
    uint64_t old = 0;

    memcpy(&old, piece->buffer, piece->length < sizeof(old) ? piece->length : sizeof(old));
    keel_atomic_found(piece->logged, old);
}

void keel_piece_done(void *arg, keel_status_t status)
{
    keel_piece_t *piece = arg;

    if (status == KEEL_ERR_UNREACHABLE) {
        /* the target died: its replacement will answer */
        ucs_list_add_tail(&piece->ctx->deferred, &piece->list);
        return;
    }
    if (status == KEEL_OK && piece->ops != NULL) {
        piece->ops->answered(piece);
    }
    if (status == KEEL_OK && piece->record != NULL) {
        keel_get_log_complete(piece->record, piece->buffer);
    }
    if (status == KEEL_OK && piece->logged != NULL) {
        piece_found(piece);
    }
    if (status == KEEL_ERR_RANGE && piece->atomic != NULL) {
        status = keel_hand_over_fetch_refused(&piece->ctx->rec, piece->rank);
    }
    piece->ctx->pieces_open[piece->rank]--;
    keel_req_piece_done(piece->req, status);
    keel_piece_release(piece);
}

keel_status_t keel_piece_send(keel_piece_t *piece)
{
    keel_context_h ctx = piece->ctx;
    keel_get_record_t record = {
        .phase = ctx->gets.phase, .index = piece->index, .where = piece->where, .length = piece->length};

    if (piece->ops != NULL) {
        return piece->ops->send(piece, &record);
    }
    return keel_lane_read_window(&ctx->lane, piece->rank, &record, !ctx->gets.is_off, piece->buffer, keel_piece_done,
                                 piece);
}

/* keel_lane_done_cb_t of a one-sided read into the record */
static void piece_fetched(void *arg, keel_status_t status)
{
    keel_piece_t *piece = arg;
    keel_get_record_t *record = piece->record;

    if (status == KEEL_OK) {
        memcpy(piece->buffer, record + 1, piece->length);
        piece->record = NULL; /* the record is complete */
    } else if (status == KEEL_ERR_UNREACHABLE) {
        /* keeps the incomplete record from the target: the log is about to be emptied */
        keel_get_log_cancel_fetch(record);
    }
    keel_piece_done(piece, status);
}

/* Reads by a one-sided operation. Returns KEEL_ERR_UNSUPPORTED or KEEL_ERR_BUDGET when the
 * target has to be asked instead. */
static keel_status_t piece_fetch(keel_piece_t *piece)
{
    keel_context_h ctx = piece->ctx;
    keel_status_t status;

    if (piece->record == NULL || !keel_put_log_is_put(&ctx->puts)) {
        return KEEL_ERR_UNSUPPORTED;
    }
    keel_put_log_register_memory(&ctx->puts);
    status = keel_put_log_send_puts(&ctx->puts, piece->rank);
    if (status != KEEL_OK) {
        return status;
    }
    status = keel_get_log_fetch(&ctx->gets, piece->rank, piece->record, piece_fetched, piece);
    if (status == KEEL_OK) {
        piece_fetched(piece, status);
    }
    return status;
}

void keel_piece_stored(keel_piece_t *piece)
{
    keel_context_h ctx = piece->ctx;
    const uint32_t rank = piece->rank;

    keel_piece_done(piece, KEEL_OK);
    /* record the get at the target before another rank can see its effect */
    if (keel_gate_has(ctx, KEEL_GATE_WAITS)) {
        keel_get_log_push(&ctx->gets, rank);
    }
    if (!keel_get_log_is_pushed(&ctx->gets, rank)) {
        keel_gate_set(ctx, KEEL_GATE_GETS);
    }
}

/* Carries out the fragment at a live target: complete or under way on return. @a is_again: the
 * fragment was meant for a predecessor that died. */
static void piece_issue(keel_piece_t *piece, int is_again)
{
    keel_context_h ctx = piece->ctx;
    const uint32_t rank = piece->rank;
    const char *ptr = keel_access_at(&ctx->lane, rank, keel_where_region(piece->where));
    keel_status_t status, fetched = KEEL_ERR_UNSUPPORTED;

    if (ptr != NULL && piece->ops != NULL) {
        piece->ops->stored(piece, ptr + keel_where_offset(piece->where));
        return;
    }
    if (ptr != NULL) {
        memcpy(piece->buffer, ptr + keel_where_offset(piece->where), piece->length);
        keel_piece_stored(piece);
        return;
    }
    if (!is_again && piece->ops == NULL) {
        fetched = piece_fetch(piece);
        if (fetched == KEEL_OK || fetched == KEEL_INPROGRESS) {
            return;
        }
    }
    /* Earlier puts of this epoch have no order with the get; sending them first keeps one queue. */
    status = keel_put_log_send(&ctx->puts, rank);
    if (status == KEEL_OK) {
        status = keel_piece_send(piece);
    }
    if (status != KEEL_INPROGRESS) {
        keel_piece_done(piece, status);
    } else if (fetched == KEEL_ERR_BUDGET) {
        keel_get_log_note_room_spent(&ctx->gets, rank, keel_recovery_now(&ctx->rec));
    }
}

void keel_piece_issue(keel_piece_t *piece)
{
    piece_issue(piece, 0);
}

keel_status_t keel_get_is_missing(keel_context_h ctx, uint32_t rank)
{
    keel_status_t status = KEEL_OK;
    unsigned rounds = 0;

    /* A further death during a replay of critical sections loses records: wait for the decision. */
    while (status == KEEL_OK && keel_recovery_is_frozen(&ctx->rec) && keel_sync_steers(&ctx->sync)) {
        status = keel_context_wait(ctx, &rounds);
    }
    if (status != KEEL_OK) {
        return status;
    }
    keel_error_ctx(ctx,
                   "no record of the get at rank %u in phase %u, which it has left: is the program deterministic, "
                   "and all memory protected that it goes on from?",
                   rank, ctx->rec.phase);
    return keel_rollback_request(&ctx->rec, KEEL_ROLLBACK_DIFFERS);
}

keel_status_t keel_get_replayed(keel_context_h ctx, uint32_t rank, keel_status_t status)
{
    if (ctx->lane.peers[rank].mode == KEEL_PEER_AHEAD) {
        KEEL_REACHED(get_recorded_ahead);
    } else {
        KEEL_REACHED(get_recorded_same);
    }
    keel_recovery_count_gets(&ctx->rec, status == KEEL_OK);
    return (status == KEEL_OK) ? KEEL_OK : keel_rollback_request(&ctx->rec, KEEL_ROLLBACK_DIFFERS);
}

keel_status_t keel_get_make_piece(keel_context_h ctx, uint32_t rank, uint64_t where, uint32_t length,
                                  struct keel_req *req, keel_piece_t **piece_p)
{
    keel_piece_t *piece;

    if (ctx->lane.peers[rank].mode == KEEL_PEER_AHEAD) {
        return keel_get_is_missing(ctx, rank);
    }
    piece = keel_piece_obtain(ctx);
    if (piece == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    piece->rank = rank;
    piece->where = where;
    piece->length = length;
    piece->req = req;
    piece->atomic = NULL;
    piece->record = keel_get_log_reserve(&ctx->gets, rank, where, length, &piece->index);
    req->is_new |= (uint8_t)keel_waits_note_new(&ctx->sync, rank);
    *piece_p = piece;
    return KEEL_OK;
}

void keel_get_start_piece(keel_piece_t *piece)
{
    keel_context_h ctx = piece->ctx;
    const uint32_t rank = piece->rank;

    piece->req->pieces++;
    ctx->pieces_open[rank]++;
    keel_context_touch(ctx, rank); /* callbacks may have flushed since the first time */
    if (ctx->lane.peers[rank].mode == KEEL_PEER_LIVE) {
        if (keel_recovery_state(&ctx->rec) == KEEL_RANK_RECOVERING) {
            KEEL_REACHED(get_done);
        }
        piece_issue(piece, 0);
    } else {
        KEEL_REACHED(get_waits);
        ucs_list_add_tail(&ctx->deferred, &piece->list);
    }
}

void keel_access_progress(keel_context_h ctx)
{
    ucs_list_link_t waiting;
    keel_piece_t *piece;

    if (keel_get_log_is_room_spent(&ctx->gets)) {
        keel_get_log_report_room_spent(&ctx->gets, keel_recovery_now(&ctx->rec));
    }
    if (ucs_list_is_empty(&ctx->deferred)) {
        return;
    }
    ucs_list_head_init(&waiting);
    ucs_list_splice_tail(&waiting, &ctx->deferred);
    ucs_list_head_init(&ctx->deferred);
    while (!ucs_list_is_empty(&waiting)) {
        piece = ucs_list_extract_head(&waiting, keel_piece_t, list);
        if (ctx->lane.peers[piece->rank].mode == KEEL_PEER_LIVE && piece->atomic == NULL) {
            piece_issue(piece, 1);
        } else {
            ucs_list_add_tail(&ctx->deferred, &piece->list);
        }
    }
}

void keel_access_drop(keel_context_h ctx, keel_status_t status)
{
    while (!ucs_list_is_empty(&ctx->deferred)) {
        keel_piece_done(ucs_list_extract_head(&ctx->deferred, keel_piece_t, list), status);
    }
}

void keel_access_mute(keel_context_h ctx)
{
    keel_lane_mute(&ctx->lane, keel_piece_done);
    keel_lane_mute(&ctx->lane, piece_fetched);
}
