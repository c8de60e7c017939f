/*
 * Keel: accumulates, which combine an array with one in a window element by element [F 2.1]. Part
 * of <keel/keel.h>; its conventions hold.
 */
#ifndef KEEL_ACCUMULATE_H_
#define KEEL_ACCUMULATE_H_

#include <keel/keel.h>
#include <keel/ops.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Combines @a count elements of @a buffer with the elements at @a offset of @a rank's window:
 * element = element @a op value. The elements are contiguous and aligned to their size in the
 * window; @a buffer and @a result need no alignment. The buffer may be reused, and the effect is at
 * the target, as for keel_put_nbx(). When the request is complete, the result is valid and the
 * accumulate has taken effect at the target.
 *
 * Atomicity: each element is combined once, atomically against accumulates, and against
 * keel_atomic() on the same bytes as the same type, from every rank and both lanes. The elements
 * of a call are not atomic together. A call of more than four elements is not atomic against the
 * program's own atomic instructions (keel_win_ptr()). Accumulates and puts of a rank to a target
 * take effect in the order issued.
 * Cost: on mapped memory the caller's CPU combines. Elsewhere the target's service thread does,
 * without help of the target's program; a call larger than a message (some 60 KB) is several
 * messages.
 *
 * Death: by operation, type and result (contrib/doc/reexecution.md, "Accumulates"). Integers of 4
 * or 8 bytes with SUM, MIN, MAX, BAND, BOR or BXOR without a result are recovered as the
 * keel_atomic() of that name. A call with a result, except for a single such integer, is not
 * logged: from the first such call on every death is a rollback.
 * @param [in]  buffer  @a count elements; unused by NO_OP, and may be NULL then.
 * @param [in]  count   elements; may be 0.
 * @param [out] result  NULL, or room for @a count elements that does not overlap @a buffer: the
 *                      old elements.
 * @param [in]  params  NULL, or as for keel_put_nbx().
 * @param [out] req_p   NULL, or as for keel_put_nbx(). With NULL a result is valid after a flush
 *                      or gsync.
 * @return KEEL_OK, KEEL_INPROGRESS, KEEL_ERR_RANGE, KEEL_ERR_RANK, KEEL_ERR_INVALID_PARAM,
 *         KEEL_ERR_ALIGNMENT; KEEL_ERR_UNSUPPORTED: another type or operation, an operation on
 *         bits or truth values with a floating type, MIN or MAX of complex numbers, MINLOC or
 *         MAXLOC of anything but pairs, other operations on pairs. No element has more than 16
 *         bytes; a long double complex is summed and replaced as two elements.
 */
KEEL_API keel_status_t keel_accumulate_nbx(keel_win_h win, keel_op_t op, keel_type_t type, uint32_t rank,
                                           uint64_t offset, const void *buffer, size_t count, void *result,
                                           const keel_rma_params_t *params, keel_req_h *req_p);
/** Blocking keel_accumulate_nbx(): the result is valid on return. */
KEEL_API keel_status_t keel_accumulate(keel_win_h win, keel_op_t op, keel_type_t type, uint32_t rank, uint64_t offset,
                                       const void *buffer, size_t count, void *result);

#ifdef __cplusplus
}
#endif
#endif
