/*
 * Keel: accumulates, which combine an array with one in a window element by element [F 2.1]. Part of <keel/keel.h>, whose conventions hold.
 */
#ifndef KEEL_ACCUMULATE_H_
#define KEEL_ACCUMULATE_H_

#include <keel/keel.h>
#include <keel/ops.h>

#ifdef __cplusplus
extern "C" {
#endif

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
 * Death: without a result each element is an atomic, and a call a record of 32 bytes and its values in the log for each message; who dies amid
 * those to mapped memory is in doubt. Integers of 4 or 8 bytes with SUM, MIN, MAX, BAND, BOR or BXOR are each a keel_atomic() of the same name. All
 * others (floating types, smaller ones, pairs, other operations) are like swaps: on mapped memory the log has by how much each changed, so a target that
 * dies is recovered with the same bits, sums of floating types too; elsewhere its death is a rollback. With a result that is so of one such
 * integer alone; all others no log has, so a program that calls them mixes, as keel_lock() has it: from its first such call on every death is a rollback.
 * @param [in]  buffer  @a count elements; not read by NO_OP, and may be NULL then.
 * @param [out] result  NULL, or room for as many elements, apart from @a buffer: what they were before.
 * @return KEEL_OK, KEEL_INPROGRESS, KEEL_ERR_RANGE, KEEL_ERR_RANK, KEEL_ERR_INVALID_PARAM, KEEL_ERR_ALIGNMENT, KEEL_ERR_UNSUPPORTED: another
 *         type or operation, an operation on bits or truth with a floating type, MIN or MAX of complex numbers, or MINLOC or MAXLOC of what
 *         is no pair, and other sums of pairs. There are no elements of more than 16 bytes; a long double complex is summed and replaced as two, each by itself.
 */
KEEL_API keel_status_t keel_accumulate_nbx(keel_win_h win, keel_op_t op, keel_type_t type, uint32_t rank,
                                           uint64_t offset, const void *buffer, size_t count, void *result,
                                           const keel_rma_params_t *params, keel_req_h *req_p);
/** Blocking: the result is there when it returns. */
KEEL_API keel_status_t keel_accumulate(keel_win_h win, keel_op_t op, keel_type_t type, uint32_t rank, uint64_t offset,
                                       const void *buffer, size_t count, void *result);

#ifdef __cplusplus
}
#endif
#endif
