/* Atomics of adjacent elements: one record for as many as fit in a message. */
#include "rma/atomic_many.h"
#include "order/completion.h"
#include "access/admit.h"
#include "rma/atomic_issue.h"

#include "base/memory.h"
#include "rma/by_message.h"
#include "rma/get.h"
#include "order/mix.h"
#include "engine/request.h"

int keel_atomic_many_is_logged(keel_win_h win, uint32_t rank)
{
    return keel_sync_may_be_local(&win->ctx->sync) &&
           !(rank < win->ctx->lane.programs && keel_win_is_by_message(win, rank));
}

/* elements of the next record, out of @a count */
static size_t elements_most(const keel_atomic_call_t *call, size_t count)
{
    const size_t most = (call->win->ctx->puts.record_max - sizeof(*call->many)) / call->atomic->size;

    return (count < most) ? count : most;
}

/* One buffer is enough: no other record comes between the operation and its change. */
static keel_status_t changes_make(keel_context_h ctx)
{
    ctx->changes = keel_alloc(2 * ctx->puts.record_max, "what accumulates change");
    return (ctx->changes == NULL) ? KEEL_ERR_NO_MEMORY : KEEL_OK;
}

/* A re-execution numbers the same records on either lane, so the cut does not depend on the
 * lane. */
static keel_status_t elements_issue(keel_atomic_call_t *call, uint64_t offset, keel_record_accumulate_t *head,
                                    size_t count)
{
    const size_t size = call->atomic->size;
    keel_status_t status = KEEL_OK;

    while (count > 0 && status == KEEL_OK) {
        head->count = (uint32_t)elements_most(call, count);
        call->where = keel_where(offset, KEEL_RECORD_ATOMICS, call->win->region);
        status = keel_atomic_issue(call);
        count -= head->count;
        offset += head->count * size;
        call->values += head->count * size;
    }
    return status;
}

keel_status_t keel_atomic_many(keel_win_h win, keel_atomic_op_t atomic, keel_op_t op, keel_type_t type, uint32_t rank,
                               uint64_t offset, const char *values, size_t count, const keel_rma_params_t *params,
                               keel_req_h *req_p)
{
    const int may_change = atomic == KEEL_ATOMIC_LAST || keel_atomic_may_change(atomic);
    keel_record_accumulate_t head = {.op = (uint8_t)op, .type = (uint8_t)type, .may_change = (uint8_t)may_change};
    const keel_record_atomic_t one = {.op = (uint8_t)(may_change ? KEEL_ATOMIC_SET : atomic),
                                      .size = (uint8_t)keel_type_size(type)};
    keel_atomic_call_t call = {.win = win, .rank = rank, .atomic = &one, .many = &head, .values = values};
    keel_status_t status = keel_win_check(win, rank, offset, count * one.size, win, params);

    status = (status == KEEL_OK) ? keel_access_admit(win, rank, KEEL_ACCESS_PUT, "keel_accumulate") : status;
    if (status != KEEL_OK) {
        return keel_win_end(win, status);
    }
    call.req = keel_req_obtain(win->ctx, params);
    if (call.req == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    if (may_change && win->ctx->changes == NULL) {
        status = changes_make(win->ctx);
    }
    win->ctx->stats.atomics++;
    status = (status == KEEL_OK) ? elements_issue(&call, offset, &head, count) : status;
    return keel_win_end(win, keel_request_finish(call.req, status, req_p));
}
