/*
 * Keel: groups of ranks and their collective calls, built from puts and waits. Part of
 * <keel/keel.h>; its conventions hold.
 *
 * All members of a group make the same calls in the same order with the same arguments, except
 * for buffers, which may be anywhere. Each call, except with 0 bytes or elements, is also a
 * barrier: the call ends when all members have begun it.
 * Cost: barrier, broadcast and reduce take as many steps as @a count has bits. Data longer than a
 * chunk (the argument @a piece) takes twice as many, for each chunk. Gathers and exchanges of
 * short data do so too: up to 1024 bytes to a root, 256 bytes from each to each, any size to all.
 * Longer data is a message to each member that needs the data. Sums are built in a fixed order,
 * so floating sums are always the same.
 * Death: the calls are puts and keel_wait_until(), and are logged as such. In a program that only
 * waits they are recovered locally. Ranks outside the group take no part. KEEL_PARAM_FLAG_WAITS
 * spares a rollback in the first phase.
 * Statuses: KEEL_ERR_INVALID_PARAM for a NULL pointer, or a @a root that is no member's number.
 * In a group of one member the calls copy.
 */
#ifndef KEEL_GROUPS_H_
#define KEEL_GROUPS_H_

#include <keel/keel.h>
#include <keel/ops.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct keel_group *keel_group_h;

/**
 * Bytes of window memory that a group needs at each member.
 * @param [in] count  number of members.
 * @param [in] piece  size of a chunk: bytes of data sent at a time, a multiple of 64.
 */
KEEL_API size_t keel_group_bytes(unsigned count, size_t piece);

/**
 * Makes a group of @a count different ranks, the caller among them. All members call with the
 * same arguments. Local: no wait for the others.
 *
 * The state of the group is window memory, keel_group_bytes() from @a offset on at each member.
 * The program zeroes the memory first, includes it in the window's extents, and uses it for this
 * group alone.
 * Death: since the state is in the window, a replacement, or a survivor after a rollback, makes
 * the group again or keeps its handle, and continues where the memory is.
 * @param [in]  offset   a multiple of 64.
 * @param [in]  piece    size of a chunk, a multiple of 64, as for keel_group_bytes().
 * @param [in]  ranks    copied; the index of a rank is its member number.
 * @param [out] group_p  freed by keel_group_free() or keel_finalize(); not used after its window
 *                       is freed.
 * @return KEEL_ERR_INVALID_PARAM, KEEL_ERR_ALIGNMENT, KEEL_ERR_RANK; KEEL_ERR_RANGE: the memory
 *         leaves the window of a member that the calls put to; KEEL_ERR_NO_MEMORY.
 */
KEEL_API keel_status_t keel_group_create(keel_win_h win, uint64_t offset, size_t piece, const uint32_t *ranks,
                                         unsigned count, keel_group_h *group_p);
/** Frees a group at the caller. Local. The memory of its state may be used for another group. */
KEEL_API void keel_group_free(keel_group_h group);

/** Waits for all members. Completes the caller's earlier accesses everywhere first, as
 *  keel_flush_all() does. */
KEEL_API keel_status_t keel_group_barrier(keel_group_h group);
/** Copies @a buffer of member @a root to @a buffer of all other members. */
KEEL_API keel_status_t keel_group_broadcast(keel_group_h group, unsigned root, void *buffer, size_t bytes);
/**
 * Combines the arrays of all members element by element. @a in and @a out are equal or do not
 * overlap.
 * @param [in]  op   as for keel_accumulate(), except for REPLACE and NO_OP.
 * @param [out] out  at @a root; unused elsewhere, and may be NULL there.
 * @return KEEL_ERR_UNSUPPORTED: another operation or type.
 */
KEEL_API keel_status_t keel_group_reduce(keel_group_h group, unsigned root, keel_op_t op, keel_type_t type,
                                         const void *in, void *out, size_t count);
/** keel_group_reduce() with the result at all members. */
KEEL_API keel_status_t keel_group_allreduce(keel_group_h group, keel_op_t op, keel_type_t type, const void *in,
                                            void *out, size_t count);
/** Collects @a bytes of each member at @a root, in the order of member numbers. @a out has count
 *  * @a bytes, does not overlap @a in, and may be NULL elsewhere. */
KEEL_API keel_status_t keel_group_gather(keel_group_h group, unsigned root, const void *in, void *out, size_t bytes);
/** keel_group_gather() with the result at all members. */
KEEL_API keel_status_t keel_group_allgather(keel_group_h group, const void *in, void *out, size_t bytes);
/** Copies part i, of @a bytes, of member j's @a in to part j of member i's @a out. The arrays do
 *  not overlap. */
KEEL_API keel_status_t keel_group_alltoall(keel_group_h group, const void *in, void *out, size_t bytes);

#ifdef __cplusplus
}
#endif
#endif
