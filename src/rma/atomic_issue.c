/* Carries out one admitted atomic: in own memory, from a record, in the log alone, or at the
 * target, as the state of the target requires. */
#include "rma/atomic_issue.h"
#include "access/fragment.h"
#include "rma/atomic_record.h"
#include "rma/atomic_served.h"
#include "rma/atomic_stored.h"
#include "rma/exclude.h"
#include "order/announce.h"
#include "rma/fetch.h"
#include "access/target.h"
#include "engine/request.h"

#include "check/plant.h"
#include "peer/access.h"
#include "peer/apply.h"
#include "rma/get.h"
#include "rma/put_record.h"
#include "recovery/rollback_request.h"
#include "recovery/position.h"

/* True if critical sections order the atomic. Else it is announced, and a fetch needs a record. */
static int is_ordered_by_locks(const keel_atomic_call_t *call)
{
    return keel_sync_style(&call->win->ctx->sync) == KEEL_STYLE_LOCKS;
}

static keel_status_t atomic_own(const keel_atomic_call_t *call)
{
    const keel_win_h win = call->win;
    const uint64_t offset = keel_where_offset(call->where);
    const keel_record_atomic_t *atomic = call->atomic;
    keel_status_t status = KEEL_OK;
    unsigned rounds = 0;

    while (status == KEEL_OK && call->many == NULL && !keel_exclude_begin(call)) {
        status = keel_context_wait(win->ctx, &rounds);
    }
    if (status == KEEL_OK && keel_fetch_is_recorded(win->ctx, atomic)) {
        return keel_fetch_own(win, offset, atomic, call->result);
    }
    status = (status == KEEL_OK) ? keel_fetch_own_first(win->ctx, atomic) : status;
    while (status == KEEL_OK &&
           (keel_position_blocks_atomic(&win->ctx->rec, win->ctx->lane.rank, atomic->op, atomic->fetches) ||
            !keel_exclude_begin(call))) {
        status = keel_context_wait(win->ctx, &rounds);
    }
    if (status != KEEL_OK) {
        return status;
    }
    if (atomic->fetches && !is_ordered_by_locks(call)) {
        keel_get_log_note_missing(&win->ctx->gets); /* accesses to own memory have no records */
    }
    if (call->many != NULL) {
        keel_exclude_combine(call, (char *)win->base + offset, NULL);
        keel_exclude_end(call);
    } else {
        keel_atomic_store_result(call->result, atomic->size, keel_apply_atomic((char *)win->base + offset, atomic));
    }
    return KEEL_OK;
}

static keel_status_t atomic_replay(const keel_atomic_call_t *call)
{
    keel_context_h ctx = call->win->ctx;
    keel_status_t status = KEEL_INPROGRESS;

    if (call->atomic->fetches) {
        status =
            call->is_ordered
                ? keel_get_log_replay(&ctx->gets, call->rank, call->where, sizeof(keel_fetched_t), &call->req->fetched)
                : keel_get_log_replay(&ctx->gets, call->rank, call->where, call->atomic->size, call->result);
    }
    return (status == KEEL_ERR_CORRUPT) ? keel_rollback_request(&ctx->rec, KEEL_ROLLBACK_DIFFERS) : status;
}

/* Records lie at the target in the order of the accesses: gets meant for its predecessor come
 * first. */
static int atomic_awaits_gets(const keel_atomic_call_t *call)
{
    const keel_context_h ctx = call->win->ctx;

    return (call->is_ordered || (call->atomic->fetches && !is_ordered_by_locks(call))) &&
           keel_access_is_stored(&ctx->lane, call->rank) && ctx->fragments_open[call->rank] > 0;
}

/* The last condition: with mapped memory the caller then excludes others. */
static int atomic_may_begin(const keel_atomic_call_t *call)
{
    return !keel_access_is_stored(&call->win->ctx->lane, call->rank) || keel_exclude_begin(call);
}

/* Carries out the atomic at a live target. */
static keel_status_t atomic_live(const keel_atomic_call_t *call)
{
    const keel_context_h ctx = call->win->ctx;
    const int is_stored = keel_access_is_stored(&ctx->lane, call->rank);
    keel_status_t status;

    keel_context_touch_again(ctx, call->rank); /* callbacks may have flushed */
    /* the predecessor's memory was not for a device */
    if (keel_access_is_by_device(&ctx->lane, call->rank, call->win->region)) {
        status = keel_rollback_request(&ctx->rec, KEEL_ROLLBACK_MIXES);
    } else {
        if (call->is_ordered) {
            call->req->is_new |= (uint8_t)keel_waits_note_unrecorded(&ctx->sync, call->rank);
        }
        status = is_stored ? keel_atomic_stored(call) : keel_atomic_served(call);
    }
    if (is_stored) {
        keel_exclude_end(call);
    }
    return status;
}

keel_status_t keel_atomic_issue(const keel_atomic_call_t *call)
{
    keel_win_h win = call->win;
    keel_context_h ctx = win->ctx;
    const keel_record_atomic_t *atomic = call->atomic;
    const uint32_t rank = call->rank;
    const int is_own = rank == ctx->lane.rank;
    keel_status_t status = KEEL_OK;
    unsigned rounds = 0;

    if (!is_ordered_by_locks(call)) {
        if (atomic->fetches) {
            keel_announce_fetch(ctx, is_own && !keel_fetch_is_recorded(ctx, atomic));
        }
        keel_announce_classes(ctx, keel_classes_bit(atomic->op, is_own) | (atomic->fetches ? KEEL_CLASS_FETCHES : 0));
        status = keel_announce_to(ctx, rank);
    }
    if (status != KEEL_OK) {
        return status;
    }
    if (is_own) {
        return atomic_own(call);
    }
    keel_context_touch(ctx, rank);
    status = keel_put_clock(win, rank);
    if (status != KEEL_OK) {
        return status;
    }
    keel_case_access(ctx, rank, 1);
    status = atomic_replay(call);
    if (status != KEEL_INPROGRESS) {
        return (status == KEEL_OK) ? keel_atomic_replayed(call) : status;
    }
    while ((status = keel_win_await_logged(win, rank)) == KEEL_OK &&
           (ctx->lane.peers[rank].mode != KEEL_PEER_LIVE || atomic_awaits_gets(call) ||
            keel_position_blocks_atomic(&ctx->rec, rank, atomic->op, atomic->fetches) || !atomic_may_begin(call))) {
        if (ctx->lane.peers[rank].mode != KEEL_PEER_LIVE && !atomic->fetches &&
            !keel_position_blocks_atomic(&ctx->rec, rank, atomic->op, 0) &&
            !keel_position_blocks_puts(&ctx->rec, rank)) {
            const int is_logged = keel_atomic_log(call, 0) != NULL;

            if (is_logged || ctx->lane.peers[rank].mode == KEEL_PEER_AHEAD) {
                if (!is_logged) {
                    (void)keel_put_log_number_sent(&ctx->puts, rank);
                }
                return KEEL_OK; /* the target has applied the atomic, or will be handed it */
            }
        }
        if (ctx->lane.peers[rank].mode == KEEL_PEER_AHEAD && atomic->fetches) {
            return keel_get_is_missing(ctx, rank);
        }
        status = keel_context_wait(ctx, &rounds);
        if (status != KEEL_OK) {
            return status;
        }
    }
    return (status == KEEL_OK) ? atomic_live(call) : status;
}
