/* Atomics that the target's service side carries out, their fate when the target dies, and
 * atomics that a record answers. */
#include "rma/atomic_record.h"
#include "access/fragment.h"
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
        keel_atomic_found(record, call->atomic, old);
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
    keel_fragment_t *fragment;

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
        fetch.record = (keel_record_t *)ctx->bounce.record;
        fetch.number = keel_put_log_number_sent(&ctx->puts, rank);
    } else if (!atomic->fetches) { /* a posted atomic goes with the records around it */
        return (call->many != NULL) ? keel_put_log_gather(&ctx->puts, rank, keel_atomic_length(call), 0, 0) : KEEL_OK;
    } else {
        fetch.record = record;
        keel_put_log_mark_sent(&ctx->puts, rank);
    }
    fragment = keel_fragment_obtain(ctx);
    if (fragment == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    fragment->rank = rank;
    fragment->where = where;
    fragment->length = call->is_ordered ? sizeof(keel_fetched_t) : atomic->size;
    fragment->buffer = call->is_ordered ? (void *)&call->req->fetched : call->result;
    fragment->req = call->req;
    fragment->atomic = fetch.record;
    fragment->logged = record;
    fragment->record = keel_get_log_reserve(&ctx->gets, rank, where, fragment->length, &fragment->index);
    fetch.index = fragment->index;
    call->req->fragments++;
    ctx->fragments_open[rank]++;
    keel_context_touch_again(ctx, rank); /* callbacks may have flushed since the first time */
    status = keel_lane_send_atomic(&ctx->lane, rank, &fetch, fragment->buffer, keel_fragment_done, fragment);
    if (status != KEEL_INPROGRESS) {
        keel_fragment_done(fragment, status);
    }
    return KEEL_OK;
}

/* Requests gets that were issued before the fragment: records lie at the target in issue order. */
static void fragments_send_before(keel_context_h ctx, const keel_fragment_t *fragment)
{
    keel_fragment_t *get, *next;
    keel_status_t status;

    ucs_list_for_each_safe(get, next, &ctx->fragments.deferred, list)
    {
        if (get == fragment) {
            break;
        }
        if (get->rank == fragment->rank) {
            ucs_list_del(&get->list);
            status = keel_fragment_send(get);
            if (status != KEEL_INPROGRESS) {
                keel_fragment_done(get, status);
            }
        }
    }
}

static keel_fragment_t *fragment_awaiting(keel_context_h ctx, uint32_t rank, const keel_record_t *record)
{
    keel_fragment_t *fragment;

    ucs_list_for_each(fragment, &ctx->fragments.deferred, list)
    {
        if (fragment->rank == rank && fragment->atomic != NULL && (fragment->atomic == record || record == NULL)) {
            return fragment;
        }
    }
    return NULL;
}

int keel_atomic_again(void *arg, uint32_t rank, const keel_fetch_t *fetch, const keel_fetched_t *found)
{
    keel_context_h ctx = arg;
    keel_fragment_t *fragment = fragment_awaiting(ctx, rank, fetch->record);
    keel_fetch_t again = *fetch;
    keel_status_t status;

    if (fragment == NULL) {
        return 0;
    }
    if (found == NULL) {
        fragments_send_before(ctx, fragment);
    }
    ucs_list_del(&fragment->list);
    if (found != NULL) {
        memcpy(fragment->buffer, found, fragment->length);
        keel_fragment_done(fragment, KEEL_OK);
        return 1;
    }
    again.index = fragment->index;
    again.is_logged = fragment->record != NULL;
    again.is_clocked = fragment->length == sizeof(keel_fetched_t);
    status = keel_lane_send_atomic(&ctx->lane, rank, &again, fragment->buffer, keel_fragment_done, fragment);
    if (status != KEEL_INPROGRESS) {
        keel_fragment_done(fragment, status);
    }
    return 1;
}
