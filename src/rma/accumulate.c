/*
 * Accumulates [F 2.1]. Where the logs can record each element as an atomic (rma/atomic), the
 * elements are atomics of that class, each applied exactly once across deaths: a few one by one,
 * more in records of many. Otherwise the program mixes (rma/elements).
 */
#include "rma/atomic_many.h"
#include "rma/elements.h"
#include "engine/threads.h"
#include "order/mix.h"
#include "access/target.h"

#include "rma/by_message.h"
#include "rma/device.h"
#include "engine/refuse.h"
#include "peer/combine.h"

#include <string.h>

/* Up to this many elements are atomics of their own, on the fast path. Both lanes cut alike,
 * because a re-execution on either lane numbers the same records. */
#define ACCUMULATE_FEW 4

/* the atomic of each element; KEEL_ATOMIC_LAST: none */
static keel_atomic_op_t accumulate_atomic(keel_op_t op, keel_type_t type)
{
    const int is_signed = type == KEEL_TYPE_INT32 || type == KEEL_TYPE_INT64;

    if (!is_signed && type != KEEL_TYPE_UINT32 && type != KEEL_TYPE_UINT64) {
        return KEEL_ATOMIC_LAST;
    }
    switch (op) {
    case KEEL_OP_SUM:
        return KEEL_ATOMIC_ADD;
    case KEEL_OP_MIN:
        return is_signed ? KEEL_ATOMIC_MIN_SIGNED : KEEL_ATOMIC_MIN;
    case KEEL_OP_MAX:
        return is_signed ? KEEL_ATOMIC_MAX_SIGNED : KEEL_ATOMIC_MAX;
    case KEEL_OP_BAND:
        return KEEL_ATOMIC_AND;
    case KEEL_OP_BOR:
        return KEEL_ATOMIC_OR;
    case KEEL_OP_BXOR:
        return KEEL_ATOMIC_XOR;
    case KEEL_OP_REPLACE:
        return KEEL_ATOMIC_SET;
    default:
        return KEEL_ATOMIC_LAST;
    }
}

static keel_status_t accumulate_few(keel_win_h win, keel_atomic_op_t atomic, size_t size, uint32_t rank,
                                    uint64_t offset, const char *values, size_t count, void *result,
                                    const keel_rma_params_t *params, keel_req_h *req_p)
{
    keel_status_t status = keel_win_check(win, rank, offset, count * size, values, params);
    uint64_t operand = 0;

    if (status != KEEL_OK) {
        return keel_win_end(win, status);
    }
    for (size_t i = 0; i < count && status == KEEL_OK; i++) {
        /* the request or callback belongs to the last element */
        const int is_last = i + 1 == count;

        memcpy(&operand, values + i * size, size);
        status = keel_atomic_nbx(win, atomic, rank, offset + i * size, size, operand, 0, result,
                                 is_last ? params : NULL, is_last ? req_p : NULL);
    }
    return status;
}

/* Whether the logs can record the elements as atomics. Several fetched elements would need
 * several requests, so they are not recorded. */
static int accumulate_is_atomics(keel_win_h win, keel_op_t op, keel_atomic_op_t atomic, uint32_t rank, size_t count,
                                 const void *result)
{
    const int has_records = (result == NULL) ? op != KEEL_OP_NO_OP : count == 1 && atomic != KEEL_ATOMIC_LAST;

    return has_records && keel_atomic_many_is_logged(win, rank);
}

/* ---- calls ---- */

static keel_status_t accumulate_check(keel_win_h win, keel_op_t op, keel_type_t type, uint32_t rank, uint64_t offset,
                                      const void *buffer, size_t count)
{
    const size_t size = keel_type_size(type);

    if (win == NULL || (buffer == NULL && count > 0 && op != KEEL_OP_NO_OP)) {
        return keel_refuse_null(win == NULL ? "the window" : "the buffer of an accumulate");
    }
    if ((unsigned)op >= KEEL_OP_LAST || !keel_combine_is_known((unsigned)op, (unsigned)type)) {
        keel_error_ctx(win->ctx, "there is no accumulate %u of type %u", (unsigned)op, (unsigned)type);
        return KEEL_ERR_UNSUPPORTED;
    }
    if (keel_win_is_for_device(win, rank)) {
        return keel_device_refuse(win, "keel_accumulate");
    }
    if (!keel_win_is_aligned(win, rank, offset, size)) {
        keel_error_ctx(win->ctx, "offset %lu of an accumulate is not aligned to its elements of %zu bytes",
                       (unsigned long)offset, size);
        return KEEL_ERR_ALIGNMENT;
    }
    if (count > KEEL_OFFSET_MAX / size) {
        keel_error_ctx(win->ctx, "%zu elements are more than any window has", count);
        return KEEL_ERR_RANGE;
    }
    return KEEL_OK;
}

keel_status_t keel_accumulate_nbx(keel_win_h win, keel_op_t op, keel_type_t type, uint32_t rank, uint64_t offset,
                                  const void *buffer, size_t count, void *result, const keel_rma_params_t *params,
                                  keel_req_h *req_p)
{
    KEEL_INSIDE_WIN(win);
    const keel_atomic_op_t atomic = accumulate_atomic(op, type);
    keel_status_t status = accumulate_check(win, op, type, rank, offset, buffer, count);

    if (status == KEEL_OK && count == 0) {
        return keel_win_end(win, keel_win_check(win, rank, offset, 0, win, params));
    }
    if (status != KEEL_OK) {
        return status;
    }
    if (!accumulate_is_atomics(win, op, atomic, rank, count, result)) {
        return keel_accumulate_elements(win, op, type, rank, offset, buffer, count, result, params, req_p);
    }
    return (count <= ACCUMULATE_FEW && atomic != KEEL_ATOMIC_LAST)
               ? accumulate_few(win, atomic, keel_type_size(type), rank, offset, buffer, count, result, params, req_p)
               : keel_atomic_many(win, atomic, op, type, rank, offset, buffer, count, params, req_p);
}

keel_status_t keel_accumulate(keel_win_h win, keel_op_t op, keel_type_t type, uint32_t rank, uint64_t offset,
                              const void *buffer, size_t count, void *result)
{
    keel_req_h req = NULL;
    keel_status_t status =
        keel_accumulate_nbx(win, op, type, rank, offset, buffer, count, result, NULL, (result != NULL) ? &req : NULL);

    return (status == KEEL_INPROGRESS && result != NULL) ? keel_req_wait(req) : status;
}
