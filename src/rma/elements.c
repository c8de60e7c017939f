/*
 * Unlogged accumulates. A program that calls one mixes, so a death discards everything under way,
 * and completed accumulates need no log, number or mark: exactly once means once under one rollback
 * number. On mapped memory the caller combines. Otherwise a record among those of puts carries the
 * values and keeps the order; with a result, a message follows the records.
 */
#include "rma/elements.h"
#include "access/fragment.h"
#include "order/completion.h"
#include "rma/atomic_many.h"
#include "rma/exclude.h"
#include "access/unlogged.h"

#include "check/plant.h"
#include "rma/by_message.h"
#include "rma/get.h"
#include "engine/refuse.h"
#include "engine/request.h"
#include "oplog/put_send.h"
#include "peer/access.h"
#include "peer/combine.h"
#include "peer/issue.h"
#include "peer/store.h"

#include <string.h>

typedef struct accumulate {
    keel_record_accumulate_t head; /* of the next record */
    const char *values;            /* NULL: no operands */
    char *result;
    size_t size; /* of an element */
} accumulate_t;

/* ---- a served target ---- */

static void accumulate_write(keel_record_t *record, const accumulate_t *a)
{
    keel_record_accumulate_t *head = (keel_record_accumulate_t *)(record + 1);

    *head = a->head;
    if (a->values != NULL) {
        memcpy(head + 1, a->values, a->head.count * a->size);
    }
}

static size_t accumulate_length(const accumulate_t *a)
{
    return sizeof(a->head) + (a->values != NULL ? a->head.count * a->size : 0);
}

static keel_status_t accumulate_post(keel_context_h ctx, uint32_t rank, uint64_t where, const accumulate_t *a)
{
    const size_t length = accumulate_length(a);
    keel_record_t *record = keel_put_log_reserve(&ctx->puts, rank, length);
    keel_status_t status;

    if (record != NULL) {
        (void)keel_put_log_number(&ctx->puts, rank);
        keel_put_log_head(&ctx->puts, record, where, length);
        accumulate_write(record, a);
        return keel_put_log_gather(&ctx->puts, rank, length, 0, 0);
    }
    status = keel_bounce_take(ctx, rank, where, length, &record);
    if (status != KEEL_OK) {
        return status;
    }
    accumulate_write(record, a);
    return keel_bounce_send(ctx, rank, length);
}

/* sends a record alone to the service side, for a reply */
static keel_status_t accumulate_fetch_record(keel_win_h win, uint32_t rank, uint64_t where, const accumulate_t *a,
                                             keel_fetch_t *fetch)
{
    keel_context_h ctx = win->ctx;
    const size_t length = accumulate_length(a);
    keel_status_t status = KEEL_PLANT(elements_accumulate_overtakes) ? KEEL_OK : keel_put_log_send(&ctx->puts, rank);
    keel_record_t *record;

    if (status != KEEL_OK) {
        return status;
    }
    fetch->number = keel_put_log_count(&ctx->puts, rank);
    record = keel_put_log_reserve(&ctx->puts, rank, length);
    if (record != NULL) {
        (void)keel_put_log_number(&ctx->puts, rank);
        keel_put_log_head(&ctx->puts, record, where, length);
        keel_put_log_mark_sent(&ctx->puts, rank);
    } else {
        status = keel_by_message_take(win, rank, where, length, &record);
        /* records of callbacks in the wait */
        status = (status == KEEL_OK) ? keel_put_log_send(&ctx->puts, rank) : status;
        if (status != KEEL_OK) {
            return status;
        }
        fetch->number = keel_put_log_number_sent(&ctx->puts, rank);
    }
    accumulate_write(record, a);
    fetch->record = record;
    return KEEL_OK;
}

static keel_status_t accumulate_ask(keel_win_h win, uint32_t rank, const accumulate_t *a, const keel_fetch_t *fetch,
                                    struct keel_req *req)
{
    keel_context_h ctx = win->ctx;
    keel_fragment_t *fragment = keel_fragment_obtain(ctx);
    keel_status_t status;

    if (fragment == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    fragment->rank = rank;
    fragment->where = fetch->record->where;
    fragment->length = (uint32_t)(a->head.count * a->size);
    fragment->buffer = a->result;
    fragment->req = req;
    fragment->atomic = fetch->record; /* not requested again: the target's death is a rollback */
    fragment->record = NULL;
    req->fragments++;
    ctx->fragments_open[rank]++;
    keel_context_touch(ctx, rank); /* callbacks may have flushed since the first time */
    status =
        keel_lane_send_accumulate(&ctx->lane, rank, fetch, fragment->length, a->result, keel_fragment_done, fragment);
    if (status != KEEL_INPROGRESS) {
        keel_fragment_done(fragment, status);
    }
    return KEEL_OK;
}

static keel_status_t accumulate_fetch(keel_win_h win, uint32_t rank, uint64_t where, const accumulate_t *a,
                                      struct keel_req *req)
{
    keel_fetch_t fetch = {.phase = win->ctx->rec.phase};
    keel_status_t status = accumulate_fetch_record(win, rank, where, a, &fetch);

    return (status == KEEL_OK) ? accumulate_ask(win, rank, a, &fetch, req) : status;
}

static keel_status_t accumulate_by_message(keel_win_h win, uint32_t rank, uint64_t where, const accumulate_t *a,
                                           struct keel_req *req)
{
    keel_fetch_t fetch = {.phase = win->ctx->rec.phase, .is_unnumbered = 1};
    keel_record_t *record;
    keel_status_t status = keel_by_message_take(win, rank, where, accumulate_length(a), &record);

    if (status != KEEL_OK) {
        return status;
    }
    accumulate_write(record, a);
    if (a->result == NULL) {
        return keel_by_message_send(win, rank);
    }
    fetch.record = record;
    return accumulate_ask(win, rank, a, &fetch, req);
}

/* ---- any target ---- */

static int accumulate_is_combined(keel_route_t route)
{
    return route != KEEL_ROUTE_MESSAGE && route != KEEL_ROUTE_SERVED;
}

/* On own or mapped memory the caller then owns the area of the accumulates there. */
static keel_status_t accumulate_await(keel_win_h win, uint32_t rank)
{
    keel_status_t status = keel_unlogged_await(win, rank);
    unsigned rounds = 0;

    while (status == KEEL_OK && accumulate_is_combined(keel_route(win, rank)) &&
           !keel_exclude_begin_unlogged(win->ctx, rank)) {
        status = keel_context_wait(win->ctx, &rounds);
        status = (status == KEEL_OK) ? keel_unlogged_await(win, rank) : status;
    }
    return status;
}

static keel_status_t accumulate_record(keel_win_h win, uint32_t rank, uint64_t offset, const accumulate_t *a,
                                       struct keel_req *req)
{
    keel_context_h ctx = win->ctx;
    const uint64_t where = keel_where(offset, KEEL_RECORD_ACCUMULATE, win->region);
    keel_status_t status = accumulate_await(win, rank);

    if (status != KEEL_OK) {
        return status;
    }
    switch (keel_route(win, rank)) {
    case KEEL_ROUTE_MESSAGE:
        return accumulate_by_message(win, rank, where, a, req);
    case KEEL_ROUTE_SERVED:
        return (a->result != NULL) ? accumulate_fetch(win, rank, where, a, req) : accumulate_post(ctx, rank, where, a);
    default:
        keel_combine(&a->head, (char *)keel_access_at(&ctx->lane, rank, win->region) + offset, a->values, a->result);
        keel_exclude_end_unlogged(ctx, rank);
        keel_store_fence();
        keel_lane_ring(&ctx->lane, rank);
        return KEEL_OK;
    }
}

static keel_status_t accumulate_issue(keel_win_h win, uint32_t rank, uint64_t offset, accumulate_t *a, size_t count,
                                      struct keel_req *req)
{
    keel_context_h ctx = win->ctx;
    const size_t sent = (ctx->puts.record_max - sizeof(a->head)) / a->size, answered = ctx->gets.record_max / a->size;
    const size_t most = sent < answered ? sent : answered;
    keel_status_t status = KEEL_OK;

    if (rank != ctx->lane.rank) {
        keel_context_touch(ctx, rank);
    }
    while (count > 0 && status == KEEL_OK) {
        a->head.count = (uint32_t)(count < most ? count : most);
        status = accumulate_record(win, rank, offset, a, req);
        count -= a->head.count;
        offset += a->head.count * a->size;
        a->values = (a->values != NULL) ? a->values + a->head.count * a->size : NULL;
        a->result = (a->result != NULL) ? a->result + a->head.count * a->size : NULL;
    }
    return status;
}

static keel_status_t accumulate_run(keel_win_h win, uint32_t rank, uint64_t offset, accumulate_t *a, size_t count,
                                    const keel_rma_params_t *params, keel_req_h *req_p, const char *call)
{
    keel_status_t status = keel_win_check(win, rank, offset, count * a->size, win, params);
    struct keel_req *req;

    if (status == KEEL_OK) {
        status = keel_unlogged_begin(win, rank, offset, count * a->size, win, call);
    }
    if (status != KEEL_OK) {
        return (win != NULL) ? keel_win_end(win, status) : status;
    }
    req = keel_req_obtain(win->ctx, params);
    if (req == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    win->ctx->stats.atomics++;
    status = accumulate_issue(win, rank, offset, a, count, req);
    return keel_win_end(win, keel_request_finish(req, status, req_p));
}

keel_status_t keel_accumulate_elements(keel_win_h win, keel_op_t op, keel_type_t type, uint32_t rank, uint64_t offset,
                                       const void *buffer, size_t count, void *result, const keel_rma_params_t *params,
                                       keel_req_h *req_p)
{
    accumulate_t a = {.head = {.op = (uint8_t)op, .type = (uint8_t)type},
                      .values = (op != KEEL_OP_NO_OP) ? buffer : NULL,
                      .result = result,
                      .size = keel_type_size(type)};

    return accumulate_run(win, rank, offset, &a, count, params, req_p, "keel_accumulate");
}

static keel_op_t accumulate_op(unsigned op)
{
    static const uint8_t ops[KEEL_ATOMIC_LAST] = {
        [KEEL_ATOMIC_ADD] = KEEL_OP_SUM,        [KEEL_ATOMIC_AND] = KEEL_OP_BAND,
        [KEEL_ATOMIC_OR] = KEEL_OP_BOR,         [KEEL_ATOMIC_XOR] = KEEL_OP_BXOR,
        [KEEL_ATOMIC_SWAP] = KEEL_OP_REPLACE,   [KEEL_ATOMIC_CSWAP] = KEEL_COMBINE_CSWAP,
        [KEEL_ATOMIC_FETCH] = KEEL_OP_NO_OP,    [KEEL_ATOMIC_SET] = KEEL_OP_REPLACE,
        [KEEL_ATOMIC_MIN] = KEEL_OP_MIN,        [KEEL_ATOMIC_MAX] = KEEL_OP_MAX,
        [KEEL_ATOMIC_MIN_SIGNED] = KEEL_OP_MIN, [KEEL_ATOMIC_MAX_SIGNED] = KEEL_OP_MAX};

    return (keel_op_t)ops[op];
}

static keel_type_t accumulate_type(unsigned op, unsigned size)
{
    const int is_signed = op == KEEL_ATOMIC_MIN_SIGNED || op == KEEL_ATOMIC_MAX_SIGNED;
    const unsigned step = (size == 1) ? 0 : (size == 2) ? 1 : (size == 4) ? 2 : 3;

    return (keel_type_t)((is_signed ? KEEL_TYPE_INT8 : KEEL_TYPE_UINT8) + step);
}

keel_status_t keel_accumulate_word(keel_win_h win, uint32_t rank, uint64_t offset, const keel_record_atomic_t *atomic,
                                   void *result, const keel_rma_params_t *params, keel_req_h *req_p)
{
    const keel_op_t op = accumulate_op(atomic->op);
    const keel_type_t type = accumulate_type(atomic->op, atomic->size);
    accumulate_t a = {.head = {.op = (uint8_t)op, .type = (uint8_t)type, .compare = atomic->compare},
                      .values = (op != KEEL_OP_NO_OP) ? (const char *)&atomic->operand : NULL,
                      .result = result,
                      .size = atomic->size};

    if (result == NULL && (unsigned)op < KEEL_OP_LAST && op != KEEL_OP_NO_OP && keel_atomic_many_is_logged(win, rank)) {
        return keel_atomic_many(win, KEEL_ATOMIC_LAST, op, type, rank, offset, (const char *)&atomic->operand, 1,
                                params, req_p);
    }
    return accumulate_run(win, rank, offset, &a, 1, params, req_p, "keel_atomic");
}
