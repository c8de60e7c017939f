/*
 * Accumulates [F 2.1]. Where each element is an atomic that logs have records of (api/atomic), and these are few, that is what is done:
 * one after another, each once whoever dies, and of its class. Else the program mixes (api/elements).
 */
#include "api/elements.h"
#include "api/inside.h"
#include "api/mix.h"
#include "api/target.h"

#include "api/by_message.h"
#include "api/device.h"
#include "api/flush.h"
#include "api/refuse.h"
#include "peer/combine.h"

#include <string.h>

#define ACCUMULATE_ATOMICS 256 /* at most, in one call: in the log each takes 48 bytes, and the accumulate its values */

#define ACCUMULATE_SENT \
    64 /* elements of a call that are sent at once where the target is served, and not with what follows */

/* that each element is one of; KEEL_ATOMIC_LAST: none */
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

/* 1: the elements are atomics, and *status_p is what became of them. Several that are fetched are not: they would be several requests. */
static int accumulate_by_atomics(keel_win_h win, keel_op_t op, keel_type_t type, uint32_t rank, uint64_t offset,
                                 const char *values, size_t count, void *result, const keel_rma_params_t *params,
                                 keel_req_h *req_p, keel_status_t *status_p)
{
    const keel_atomic_op_t atomic = accumulate_atomic(op, type);
    const size_t size = keel_type_size(type);
    uint64_t operand = 0;

    if (atomic == KEEL_ATOMIC_LAST || count > (result != NULL ? 1 : ACCUMULATE_ATOMICS) || keel_may_mix(win->ctx) ||
        (rank < win->ctx->lane.programs && keel_win_is_by_message(win, rank))) {
        return 0;
    }
    *status_p = keel_win_check(win, rank, offset, count * size, values, params);
    if (*status_p != KEEL_OK) {
        *status_p = keel_win_end(win, *status_p);
    }
    for (size_t i = 0; i < count && *status_p == KEEL_OK; i++) {
        const int is_last = i + 1 == count; /* which the request, or the callback, is for */

        memcpy(&operand, values + i * size, size);
        *status_p = keel_atomic_nbx(win, atomic, rank, offset + i * size, size, operand, 0, result,
                                    is_last ? params : NULL, is_last ? req_p : NULL);
    }
    if (*status_p == KEEL_OK && count >= ACCUMULATE_SENT) {
        *status_p = keel_win_end(win, keel_flush_start(win->ctx, rank)); /* as an accumulate would be on its way */
    }
    return 1;
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
    keel_status_t status = accumulate_check(win, op, type, rank, offset, buffer, count);

    if (status == KEEL_OK && count == 0) {
        return keel_win_end(win, keel_win_check(win, rank, offset, 0, win, params));
    }
    if (status == KEEL_OK &&
        accumulate_by_atomics(win, op, type, rank, offset, buffer, count, result, params, req_p, &status)) {
        return status;
    }
    return (status == KEEL_OK)
               ? keel_accumulate_elements(win, op, type, rank, offset, buffer, count, result, params, req_p)
               : status;
}

keel_status_t keel_accumulate(keel_win_h win, keel_op_t op, keel_type_t type, uint32_t rank, uint64_t offset,
                              const void *buffer, size_t count, void *result)
{
    keel_req_h req = NULL;
    keel_status_t status =
        keel_accumulate_nbx(win, op, type, rank, offset, buffer, count, result, NULL, (result != NULL) ? &req : NULL);

    return (status == KEEL_INPROGRESS && result != NULL) ? keel_req_wait(req) : status;
}
