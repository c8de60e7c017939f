/*
 * Fragments: pending gets and pending fetching parts of atomics, each at most one message long. A
 * load, a one-sided read or a request to the target completes a fragment. While the target is down,
 * the fragment waits in context->fragments.deferred for the replacement.
 */
#include "access/fragment.h"
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
static void fragment_found(const keel_fragment_t *fragment)
{
    uint64_t old = 0;

    memcpy(&old, fragment->buffer, fragment->length < sizeof(old) ? fragment->length : sizeof(old));
    keel_atomic_found(fragment->logged, (const keel_record_atomic_t *)(fragment->logged + 1), old);
}

void keel_fragment_done(void *arg, keel_status_t status)
{
    keel_fragment_t *fragment = arg;

    if (status == KEEL_ERR_UNREACHABLE) {
        /* the target died: its replacement will answer */
        ucs_list_add_tail(&fragment->ctx->fragments.deferred, &fragment->list);
        return;
    }
    if (status == KEEL_OK && fragment->ops != NULL) {
        fragment->ops->answered(fragment);
    }
    if (status == KEEL_OK && fragment->record != NULL) {
        keel_get_log_complete(fragment->record, fragment->buffer);
    }
    if (status == KEEL_OK && fragment->logged != NULL) {
        fragment_found(fragment);
    }
    if (status == KEEL_ERR_RANGE && fragment->atomic != NULL) {
        status = keel_hand_over_fetch_refused(&fragment->ctx->rec, fragment->rank);
    }
    fragment->ctx->fragments_open[fragment->rank]--;
    keel_req_fragment_done(fragment->req, status);
    keel_fragment_release(fragment);
}

keel_status_t keel_fragment_send(keel_fragment_t *fragment)
{
    keel_context_h ctx = fragment->ctx;
    keel_get_record_t record = {
        .phase = ctx->gets.phase, .index = fragment->index, .where = fragment->where, .length = fragment->length};

    if (fragment->ops != NULL) {
        return fragment->ops->send(fragment, &record);
    }
    return keel_lane_read_window(&ctx->lane, fragment->rank, &record, !ctx->gets.is_off, fragment->buffer,
                                 keel_fragment_done, fragment);
}

/* keel_lane_done_cb_t of a one-sided read into the record */
static void fragment_fetched(void *arg, keel_status_t status)
{
    keel_fragment_t *fragment = arg;
    keel_get_record_t *record = fragment->record;

    if (status == KEEL_OK) {
        memcpy(fragment->buffer, record + 1, fragment->length);
        fragment->record = NULL; /* the record is complete */
    } else if (status == KEEL_ERR_UNREACHABLE) {
        /* keeps the incomplete record from the target: the log is about to be emptied */
        keel_get_log_cancel_fetch(record);
    }
    keel_fragment_done(fragment, status);
}

/* Reads by a one-sided operation. Returns KEEL_ERR_UNSUPPORTED or KEEL_ERR_BUDGET when the
 * target has to be asked instead. */
static keel_status_t fragment_fetch(keel_fragment_t *fragment)
{
    keel_context_h ctx = fragment->ctx;
    keel_status_t status;

    if (fragment->record == NULL || !keel_put_log_is_put(&ctx->puts)) {
        return KEEL_ERR_UNSUPPORTED;
    }
    keel_put_log_register_memory(&ctx->puts);
    status = keel_put_log_send_puts(&ctx->puts, fragment->rank);
    if (status != KEEL_OK) {
        return status;
    }
    status = keel_get_log_fetch(&ctx->gets, fragment->rank, fragment->record, fragment_fetched, fragment);
    if (status == KEEL_OK) {
        fragment_fetched(fragment, status);
    }
    return status;
}

void keel_fragment_stored(keel_fragment_t *fragment)
{
    keel_context_h ctx = fragment->ctx;
    const uint32_t rank = fragment->rank;

    keel_fragment_done(fragment, KEEL_OK);
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
static void fragment_issue(keel_fragment_t *fragment, int is_again)
{
    keel_context_h ctx = fragment->ctx;
    const uint32_t rank = fragment->rank;
    const char *ptr = keel_access_at(&ctx->lane, rank, keel_where_region(fragment->where));
    keel_status_t status, fetched = KEEL_ERR_UNSUPPORTED;

    if (ptr != NULL && fragment->ops != NULL) {
        fragment->ops->stored(fragment, ptr + keel_where_offset(fragment->where));
        return;
    }
    if (ptr != NULL) {
        memcpy(fragment->buffer, ptr + keel_where_offset(fragment->where), fragment->length);
        keel_fragment_stored(fragment);
        return;
    }
    if (!is_again && fragment->ops == NULL) {
        fetched = fragment_fetch(fragment);
        if (fetched == KEEL_OK || fetched == KEEL_INPROGRESS) {
            return;
        }
    }
    /* Earlier puts of this epoch have no order with the get; sending them first keeps one queue. */
    status = keel_put_log_send(&ctx->puts, rank);
    if (status == KEEL_OK) {
        status = keel_fragment_send(fragment);
    }
    if (status != KEEL_INPROGRESS) {
        keel_fragment_done(fragment, status);
    } else if (fetched == KEEL_ERR_BUDGET) {
        keel_get_log_note_room_spent(&ctx->gets, rank, keel_recovery_now(&ctx->rec));
    }
}

void keel_fragment_issue(keel_fragment_t *fragment)
{
    fragment_issue(fragment, 0);
}

keel_status_t keel_get_is_missing(keel_context_h ctx, uint32_t rank)
{
    keel_status_t status = KEEL_OK;
    unsigned rounds = 0;

    /* A further death during a replay of critical sections loses records: wait for the decision. */
    while (status == KEEL_OK && keel_recovery_is_frozen(&ctx->rec) &&
           keel_sync_replays(&ctx->sync) == KEEL_STYLE_LOCKS) {
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

keel_status_t keel_get_make_fragment(keel_context_h ctx, uint32_t rank, uint64_t where, uint32_t length,
                                     struct keel_req *req, keel_fragment_t **fragment_p)
{
    keel_fragment_t *fragment;

    if (ctx->lane.peers[rank].mode == KEEL_PEER_AHEAD) {
        return keel_get_is_missing(ctx, rank);
    }
    fragment = keel_fragment_obtain(ctx);
    if (fragment == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    fragment->rank = rank;
    fragment->where = where;
    fragment->length = length;
    fragment->req = req;
    fragment->atomic = NULL;
    fragment->record = keel_get_log_reserve(&ctx->gets, rank, where, length, &fragment->index);
    req->is_new |= (uint8_t)keel_waits_note_unrecorded(&ctx->sync, rank);
    *fragment_p = fragment;
    return KEEL_OK;
}

void keel_get_start_fragment(keel_fragment_t *fragment)
{
    keel_context_h ctx = fragment->ctx;
    const uint32_t rank = fragment->rank;

    fragment->req->fragments++;
    ctx->fragments_open[rank]++;
    keel_context_touch(ctx, rank); /* callbacks may have flushed since the first time */
    if (ctx->lane.peers[rank].mode == KEEL_PEER_LIVE) {
        if (keel_recovery_state(&ctx->rec) == KEEL_RANK_RECOVERING) {
            KEEL_REACHED(get_done);
        }
        fragment_issue(fragment, 0);
    } else {
        KEEL_REACHED(get_waits);
        ucs_list_add_tail(&ctx->fragments.deferred, &fragment->list);
    }
}

void keel_access_progress(keel_context_h ctx)
{
    ucs_list_link_t waiting;
    keel_fragment_t *fragment;

    if (keel_get_log_is_room_spent(&ctx->gets)) {
        keel_get_log_report_room_spent(&ctx->gets, keel_recovery_now(&ctx->rec));
    }
    if (ucs_list_is_empty(&ctx->fragments.deferred)) {
        return;
    }
    ucs_list_head_init(&waiting);
    ucs_list_splice_tail(&waiting, &ctx->fragments.deferred);
    ucs_list_head_init(&ctx->fragments.deferred);
    while (!ucs_list_is_empty(&waiting)) {
        fragment = ucs_list_extract_head(&waiting, keel_fragment_t, list);
        if (ctx->lane.peers[fragment->rank].mode == KEEL_PEER_LIVE && fragment->atomic == NULL) {
            fragment_issue(fragment, 1);
        } else {
            ucs_list_add_tail(&ctx->fragments.deferred, &fragment->list);
        }
    }
}

void keel_access_drop(keel_context_h ctx, keel_status_t status)
{
    while (!ucs_list_is_empty(&ctx->fragments.deferred)) {
        keel_fragment_done(ucs_list_extract_head(&ctx->fragments.deferred, keel_fragment_t, list), status);
    }
}

void keel_access_mute(keel_context_h ctx)
{
    keel_lane_mute(&ctx->lane, keel_fragment_done);
    keel_lane_mute(&ctx->lane, fragment_fetched);
}
