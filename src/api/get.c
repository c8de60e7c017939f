/*
 * Get: pieces that are answered from a record, by a load, by a request, or later when the target is back.
 *
 * Hot path on the direct lane, like a put's: what was derived from the peers' states still holds, nothing is to be answered
 * from records, then one append to the get log fused with the copy to the caller. The record goes to the target when the
 * epoch closes, or before the next put there, which the gate sends the general way.
 */
#include "api/get.h"
#include "api/atomic_record.h"
#include "api/inside.h"
#include "api/target.h"

#include "base/memory.h"
#include "check/plant.h"
#include "api/by_message.h"
#include "api/lock.h"
#include "api/mix.h"
#include "api/request.h"
#include "api/wait.h"
#include "oplog/get_remote.h"
#include "oplog/put_send.h"
#include "peer/access.h"
#include "peer/issue.h"
#include "peer/region.h"
#include "recovery/ask.h"
#include "recovery/handed_over.h"
#include "recovery/say.h"

#include <string.h>

/* of an atomic: what there was, with or without a clock behind it */
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
        ucs_list_add_tail(&piece->ctx->deferred, &piece->list); /* the target died: its replacement will answer */
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
        status = keel_handed_over_refused(&piece->ctx->rec, piece->rank);
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

/* keel_lane_done_cb_t of a piece whose record is what was read */
static void piece_fetched(void *arg, keel_status_t status)
{
    keel_piece_t *piece = arg;
    keel_get_record_t *record = piece->record;

    if (status == KEEL_OK) {
        memcpy(piece->buffer, record + 1, piece->length);
        piece->record = NULL; /* it is complete */
    } else if (status == KEEL_ERR_UNREACHABLE) {
        keel_get_log_unfetch(record); /* else it may be on its way to the target, and the log is about to be emptied */
    }
    keel_piece_done(piece, status);
}

/* by an operation of this process alone; else it has to be asked for */
static keel_status_t piece_fetch(keel_piece_t *piece)
{
    keel_context_h ctx = piece->ctx;
    keel_status_t status;

    if (piece->record == NULL || !keel_put_log_is_put(&ctx->puts)) {
        return KEEL_ERR_UNSUPPORTED;
    }
    keel_put_log_lend(&ctx->puts);
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
    if (keel_context_is_shut(ctx, KEEL_GATE_WAITS)) { /* before anybody can be told that it was read */
        keel_get_log_push(&ctx->gets, rank);
    }
    if (!keel_get_log_is_pushed(&ctx->gets, rank)) {
        keel_context_shut(ctx, KEEL_GATE_GETS);
    }
}

/* a live target: the piece is done or under way when this returns. @a is_again: it was meant for a process that died */
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
    /* puts before it in this epoch are not ordered with it; sending them first keeps the queue one */
    status = keel_put_log_send(&ctx->puts, rank);
    if (status == KEEL_OK) {
        status = keel_piece_send(piece);
    }
    if (status != KEEL_INPROGRESS) {
        keel_piece_done(piece, status);
    } else if (fetched == KEEL_ERR_BUDGET) {
        keel_get_log_spent(&ctx->gets, rank, keel_recovery_now(&ctx->rec));
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

    /* a further death in a replay of critical sections takes records with it: what that means is decided, not guessed */
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
    return keel_recovery_ask(&ctx->rec, KEEL_ERR_CORRUPT);
}

keel_status_t keel_get_replayed(keel_context_h ctx, uint32_t rank, keel_status_t status)
{
    if (ctx->lane.peers[rank].mode == KEEL_PEER_AHEAD) {
        KEEL_REACHED(get_recorded_ahead);
    } else {
        KEEL_REACHED(get_recorded_same);
    }
    keel_recovery_count_gets(&ctx->rec, status == KEEL_OK);
    return (status == KEEL_OK) ? KEEL_OK : keel_recovery_ask(&ctx->rec, status);
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

static keel_status_t get_piece(keel_win_h win, uint32_t rank, uint64_t offset, char *buffer, uint32_t length,
                               struct keel_req *req)
{
    keel_context_h ctx = win->ctx;
    const uint64_t where = keel_where(offset, KEEL_RECORD_PUT, win->region);
    keel_status_t status;
    keel_piece_t *piece;

    if (keel_win_is_by_message(win, rank)) {
        return keel_by_message_get(win, rank, offset, buffer, length, req);
    }
    status = keel_get_log_replay(&ctx->gets, rank, where, length, buffer);
    if (status != KEEL_INPROGRESS) {
        if (KEEL_PLANT(get_live) && status == KEEL_OK && ctx->lane.peers[rank].mode == KEEL_PEER_LIVE &&
            keel_access_at(&ctx->lane, rank, win->region) != NULL) {
            memcpy(buffer, (char *)keel_access_at(&ctx->lane, rank, win->region) + offset, length);
        }
        return keel_get_replayed(ctx, rank, status);
    }
    status = keel_get_make_piece(ctx, rank, where, length, req, &piece);
    if (status == KEEL_OK) {
        piece->buffer = buffer;
        keel_get_start_piece(piece);
    }
    return status;
}

keel_status_t keel_get_issue(keel_win_h win, uint32_t rank, uint64_t offset, char *buffer, size_t length,
                             struct keel_req *req)
{
    const keel_poll_ops_t *polls = win->ctx->polls;

    return (polls != NULL && length > 0 && rank != win->ctx->lane.rank)
               ? polls->issue(win, rank, offset, buffer, length, "keel_get", req)
               : keel_get_pieces(win, rank, offset, buffer, length, req);
}

keel_status_t keel_get_pieces(keel_win_h win, uint32_t rank, uint64_t offset, char *buffer, size_t length,
                              struct keel_req *req)
{
    keel_context_h ctx = win->ctx;
    keel_status_t status = KEEL_OK;
    const keel_block_t block = {.offset = offset, .length = length, .buffer = buffer};
    uint32_t piece;

    if (rank == ctx->lane.rank) {
        return ctx->own_get(win, &(keel_gather_t){.list = &block, .count = 1});
    }
    keel_context_touch(ctx, rank);
    for (; length > 0 && status == KEEL_OK; length -= piece, buffer += piece, offset += piece) {
        piece = length < ctx->gets.piece_max ? (uint32_t)length : ctx->gets.piece_max;
        status = get_piece(win, rank, offset, buffer, piece, req);
    }
    return status;
}

/* ends the issuing call's hold on the request and says what the call returns; who is told of it by records has a request in any case */
keel_status_t keel_request_finish(struct keel_req *req, keel_status_t status, keel_req_h *req_p)
{
    const int is_given = req->looked != 0 && status == KEEL_OK && req->status == KEEL_OK && !KEEL_PLANT(get_ungiven);

    if (req->pieces > 1 || is_given) {
        if (status != KEEL_OK) {
            req->status = status; /* the pieces after were not issued */
        }
        if (req_p != NULL) {
            *req_p = req;
        } else {
            req->is_released = 1;
        }
        keel_req_piece_done(req, KEEL_OK);
        return KEEL_INPROGRESS;
    }
    req->pieces = 0;
    status = (status == KEEL_OK) ? req->status : status;
    if (status == KEEL_OK && req->is_new) {
        status = keel_wait_new(req->ctx);
    }
    keel_req_free(req);
    return status;
}

/* what was told before is settled, but for what the next answer may repeat */
keel_status_t keel_get_admit(keel_context_h ctx, uint32_t rank)
{
    return (ctx->polls != NULL || rank == ctx->lane.rank) ? keel_mix_poll(ctx, rank) : keel_mix_access(ctx, rank);
}

/* any get; out of line, so that the hot path keeps its registers */
static __attribute__((noinline)) keel_status_t get_any(keel_win_h win, uint32_t rank, uint64_t offset, void *buffer,
                                                       size_t length, const keel_rma_params_t *params,
                                                       keel_req_h *req_p)
{
    KEEL_INSIDE_WIN(win);
    keel_status_t status = keel_win_check(win, rank, offset, length, buffer, params);
    struct keel_req *req;

    if (status != KEEL_OK) {
        return keel_win_end(win, status);
    }
    status = keel_lock_admit(win->ctx, rank, 0);
    if (status == KEEL_OK) {
        status = keel_get_admit(win->ctx, rank);
    }
    status = (status == KEEL_OK) ? keel_by_message_begin(win, rank, "keel_get") : status;
    if (status != KEEL_OK) {
        return keel_win_end(win, status);
    }
    win->ctx->stats.gets++;
    win->ctx->stats.get_bytes += length;
    if (rank == win->ctx->lane.rank) { /* without a request: it may leave by a jump to the restart point */
        return keel_win_end(win, keel_get_pieces(win, rank, offset, buffer, length, NULL));
    }
    req = keel_req_obtain(win->ctx, params);
    if (req == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    keel_req_begin_looks(req, rank, length);
    status = keel_get_issue(win, rank, offset, buffer, length, req);
    return keel_win_end(win, keel_request_finish(req, status, req_p));
}

/* Programs that wait: what is read is recorded there later (keel_wait_settle_reads()), but for what was read at other ranks. 0: it is not. */
static __attribute__((noinline)) int get_is_read_later(keel_context_h ctx, uint32_t rank, uint32_t gate)
{
    if ((gate & ~(uint32_t)(KEEL_GATE_WAITS | KEEL_GATE_READ)) != 0 || ctx->polls != NULL || keel_fork_is_child(ctx)) {
        return 0;
    }
    if (ctx->read_rank != rank && !KEEL_PLANT(read_elsewhere)) {
        keel_wait_settle_reads(ctx);
    }
    KEEL_REACHED(get_waiting);
    ctx->read_rank = rank;
    keel_context_shut(ctx, KEEL_GATE_READ);
    return 1;
}

/* one piece of a live, mapped target, done when it returns 1; 0: it goes the general way. An empty get has no record. */
static inline __attribute__((always_inline)) int get_fast(keel_win_h win, uint32_t rank, uint64_t offset, void *buffer,
                                                          size_t length, int is_blocking)
{
    const char *from = keel_win_reach(win, rank, offset, length);
    keel_context_h ctx;
    uint32_t index, gate;

    if (__builtin_expect(from == NULL, 0)) {
        return 0;
    }
    ctx = win->ctx;
    gate = keel_context_gate_rma(ctx, KEEL_GATE_GETS);
    if (__builtin_expect(length - 1 >= ctx->gets.piece_max ||
                             (keel_get_log_has_replay(&ctx->gets, rank) && !KEEL_PLANT(fast_in_replay)) ||
                             buffer == NULL || (gate != 0 && !(is_blocking && get_is_read_later(ctx, rank, gate))),
                         0)) {
        return 0;
    }
    KEEL_REACHED(get_fast);
    ctx->stats.gets++;
    ctx->stats.get_bytes += length;
    if (gate == 0 &&
        !keel_context_is_shut(ctx, KEEL_GATE_GETS)) { /* a store of a byte would stall the next load of the word */
        keel_context_shut(ctx, KEEL_GATE_GETS);
    }
    keel_context_touch(ctx, rank);
    keel_get_log_read(keel_get_log_reserve(&ctx->gets, rank, keel_where(offset, KEEL_RECORD_PUT, win->region),
                                           (uint32_t)length, &index),
                      buffer, from, length);
    return 1;
}

keel_status_t keel_get_nbx(keel_win_h win, uint32_t rank, uint64_t offset, void *buffer, size_t length,
                           const keel_rma_params_t *params, keel_req_h *req_p)
{
    if (__builtin_expect(params == NULL && get_fast(win, rank, offset, buffer, length, 0), 1)) {
        return KEEL_OK;
    }
    return get_any(win, rank, offset, buffer, length, params, req_p);
}

static __attribute__((noinline)) keel_status_t get_any_wait(keel_win_h win, uint32_t rank, uint64_t offset,
                                                            void *buffer, size_t length)
{
    keel_req_h req = NULL;
    keel_status_t status = get_any(win, rank, offset, buffer, length, NULL, &req);

    return (status == KEEL_INPROGRESS) ? keel_req_wait(req) : status;
}

keel_status_t keel_get(keel_win_h win, uint32_t rank, uint64_t offset, void *buffer, size_t length)
{
    if (__builtin_expect(get_fast(win, rank, offset, buffer, length, 1), 1)) {
        return KEEL_OK;
    }
    return get_any_wait(win, rank, offset, buffer, length);
}

void keel_access_progress(keel_context_h ctx)
{
    ucs_list_link_t waiting;
    keel_piece_t *piece;

    if (keel_get_log_is_spent(&ctx->gets)) {
        keel_get_log_say_spent(&ctx->gets, keel_recovery_now(&ctx->rec));
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
