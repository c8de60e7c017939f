/*
 * Keel: accumulates, which combine an array with one in a window element by element [F 2.1]. Part of <keel/keel.h>, whose conventions hold.
 */
#ifndef KEEL_ACCUMULATE_H_
#define KEEL_ACCUMULATE_H_

#include <keel/keel.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
    KEEL_TYPE_INT8,
    KEEL_TYPE_INT16,
    KEEL_TYPE_INT32,
    KEEL_TYPE_INT64,
    KEEL_TYPE_UINT8,
    KEEL_TYPE_UINT16,
    KEEL_TYPE_UINT32,
    KEEL_TYPE_UINT64,
    KEEL_TYPE_FLOAT,
    KEEL_TYPE_DOUBLE,
    KEEL_TYPE_LAST
} keel_type_t;

typedef enum {
    KEEL_OP_SUM, /**< integers: modulo 2^bits, PROD too */
    KEEL_OP_PROD,
    KEEL_OP_MIN,
    KEEL_OP_MAX,
    KEEL_OP_BAND, /**< bit by bit; this one and those up to LXOR of integers only */
    KEEL_OP_BOR,
    KEEL_OP_BXOR,
    KEEL_OP_LAND, /**< not 0 is true; writes 1 or 0 */
    KEEL_OP_LOR,
    KEEL_OP_LXOR,
    KEEL_OP_REPLACE,
    KEEL_OP_NO_OP, /**< leaves the element: with a result it is an atomic get */
    KEEL_OP_LAST
} keel_op_t;

/**
 * Combines each of @a count elements of @a type in @a buffer with one of those from @a offset of @a rank's window on, as
 * element = element @a op value. The elements lie side by side and are aligned to their size in the window; in @a buffer and
 * @a result they may lie anyhow. What is there when the call has returned, and when the buffer is free, is as for keel_put_nbx(); a
 * result is valid when the request is complete, and so is then what was done at the target.
 *
 * Each element is combined once, and by itself: atomic against other accumulates, fetching ones too, and against keel_atomic() on
 * the same bytes as the same type, from every rank and both lanes; the elements of one call are not one with each other. Accumulates and
 * puts of one rank to one target take effect in the order issued. On mapped memory the caller's CPU does it, elsewhere the target's
 * service side, without the target's help; a call of more than a message (some 60 KB) is several. @a count may be 0.
 *
 * Death: no log has it, so a program that calls this mixes, as keel_lock() has it: from its first such call on every death is a
 * rollback.
 * @param [in]  buffer  @a count elements; not read by NO_OP, and may be NULL then.
 * @param [out] result  NULL, or room for as many elements, apart from @a buffer: what they were before.
 * @return KEEL_OK, KEEL_INPROGRESS, KEEL_ERR_RANGE, KEEL_ERR_RANK, KEEL_ERR_INVALID_PARAM, KEEL_ERR_ALIGNMENT, KEEL_ERR_UNSUPPORTED: another
 *         type or operation, or an operation on bits or truth with a floating type. There are no elements of more than 8 bytes.
 */
KEEL_API keel_status_t keel_accumulate_nbx(keel_win_h win, keel_op_t op, keel_type_t type, uint32_t rank,
                                           uint64_t offset, const void *buffer, size_t count, void *result,
                                           const keel_rma_params_t *params, keel_req_h *req_p);
/** Blocking: the result is there when it returns. */
KEEL_API keel_status_t keel_accumulate(keel_win_h win, keel_op_t op, keel_type_t type, uint32_t rank, uint64_t offset,
                                       const void *buffer, size_t count, void *result);

KEEL_API size_t keel_type_size(keel_type_t type); /**< bytes; 0: there is no such type */

#ifdef __cplusplus
}
#endif
#endif
