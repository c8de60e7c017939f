/*
 * Keel: groups of ranks and what they do together, out of puts and waits. Part of <keel/keel.h>, whose conventions hold.
 */
#ifndef KEEL_GROUPS_H_
#define KEEL_GROUPS_H_

#include <keel/keel.h>
#include <keel/ops.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct keel_group *keel_group_h;

/** Bytes that a group of @a count ranks needs in a window of each; @a piece: of data, how many go at a time, a multiple of 64. */
KEEL_API size_t keel_group_bytes(unsigned count, size_t piece);

/**
 * A group of @a count different ranks, the caller among them; all members create it with the same arguments. Local, and no wait for
 * the others. What it remembers lies in the window, keel_group_bytes() from @a offset on at each member: zeros at first, part of the
 * window's extents, of this group alone, and touched by nobody else. So a replacement, and who has rolled back, creates it again or
 * goes on with it, and is where the memory is.
 * @param [in]  offset   a multiple of 64.
 * @param [in]  ranks    copied; a member's place in it is its number in the group.
 * @param [out] group_p  freed by keel_group_free() or keel_finalize(); not used after its window.
 * @return KEEL_ERR_INVALID_PARAM, KEEL_ERR_ALIGNMENT, KEEL_ERR_RANK, KEEL_ERR_RANGE: it leaves the window, of a member where its calls
 *         are put to; KEEL_ERR_NO_MEMORY.
 */
KEEL_API keel_status_t keel_group_create(keel_win_h win, uint64_t offset, size_t piece, const uint32_t *ranks,
                                         unsigned count, keel_group_h *group_p);
KEEL_API void keel_group_free(keel_group_h group);

/*
 * Collective over the group: all members make the same calls, in one order, with the same arguments but for the buffers, which are
 * anywhere. Each, but of 0 bytes or elements, is a barrier, too: it ends when all members have begun it. Barrier, broadcast and reduce take as many steps one
 * after the other as @a count has bits, twice that where data is longer than a piece, for each piece; so do gathers and exchanges
 * of what is short: up to 1024 bytes to a root, 256 from each to each, any to all. What is longer is a message to each that needs it. Sums are built in one order, whenever members come: floating ones are always the same.
 *
 * Death: puts and keel_wait_until(), logged as these are: recovered locally in a program that waits and does nothing else
 * that costs a rollback. Others than members have no part in it. KEEL_PARAM_FLAG_WAITS spares a rollback in the first phase.
 * Each returns KEEL_ERR_INVALID_PARAM for a NULL or a @a root that is no member's number; with one member they copy.
 */

/** Before it the caller's accesses are complete everywhere, as by keel_flush_all(). */
KEEL_API keel_status_t keel_group_barrier(keel_group_h group);
/** @a buffer of member @a root goes to those of all others. */
KEEL_API keel_status_t keel_group_broadcast(keel_group_h group, unsigned root, void *buffer, size_t bytes);
/**
 * Element by element over all members; @a in and @a out are the same or apart.
 * @param [in]  op   as for keel_accumulate(), but REPLACE and NO_OP.
 * @param [out] out  at @a root; not written elsewhere, and may be NULL there.
 * @return KEEL_ERR_UNSUPPORTED for another operation or type.
 */
KEEL_API keel_status_t keel_group_reduce(keel_group_h group, unsigned root, keel_op_t op, keel_type_t type,
                                         const void *in, void *out, size_t count);
KEEL_API keel_status_t keel_group_allreduce(keel_group_h group, keel_op_t op, keel_type_t type, const void *in,
                                            void *out, size_t count);
/** @a bytes of each go to member @a root, in the order of their numbers; @a out, apart, as for reduce: count * @a bytes. */
KEEL_API keel_status_t keel_group_gather(keel_group_h group, unsigned root, const void *in, void *out, size_t bytes);
KEEL_API keel_status_t keel_group_allgather(keel_group_h group, const void *in, void *out, size_t bytes);
/** Part i, of @a bytes, of what member j has in @a in becomes part j in @a out, apart, of member i. */
KEEL_API keel_status_t keel_group_alltoall(keel_group_h group, const void *in, void *out, size_t bytes);

#ifdef __cplusplus
}
#endif
#endif
