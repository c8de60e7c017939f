/*
 * Keel: stores, replicated data in the memory of the ranks. Part of <keel/keel.h>; its conventions
 * hold.
 *
 * Each rank submits blocks of data to a store, and any rank loads any of the blocks, one-sided:
 * no other rank takes part. Every block has copies at several ranks, in different failure domains
 * while there are enough (KEEL_TOPO_*). A store holds what every rank needs after some rank has
 * lost it: input data, tables, results of a step [R].
 *
 * Versions. A submit is collective and makes a new version of the whole store. Its last gsync
 * commits the version: a load before the submit gets the version before, a load after it gets the
 * new one. After a rollback a store has the version that it had at the image.
 *
 * Death. The data of a store is in no image and in no log. A replacement gets the copies that its
 * predecessor held from the other holders, in steps inside calls. Loads take no part in the order
 * of accesses and are not logged: each life loads the same bytes. A replacement that loads a
 * version which is overwritten by now rolls the job back. Blocks are lost when all ranks with a
 * copy die before a replacement has its copies again: loads return KEEL_ERR_LOST. So they do after
 * a restart from files (KEEL_FILE_DIR), which have no stores: submit again (a static one cannot).
 *
 * Fewer ranks (KEEL_SHRINK). After a shrink all ranks have the same newest version. The copies of
 * gone ranks return at other ranks, in steps inside calls; copies of a block stay in different
 * failure domains while there is room. Blocks that a gone rank submitted are loaded as before. A
 * submit has no blocks of ranks that are gone by then: their count is 0. An update keeps them.
 *
 * Memory at each rank, in shared memory: versions * copies * bytes, rounded up to whole ranges.
 * Each range takes 1/500 and 64 bytes more for checksums, and a store 4 KiB. A store has 3
 * versions: the newest one, the one of the newest checkpoint, and one in the making. With
 * KEEL_PROTECT=none there are 2, with KEEL_STORE_FLAG_STATIC 1. With KEEL_SHRINK the address space
 * is twice as large, and the second half takes memory for copies of gone ranks. This is enough
 * while half of the ranks remain; beyond that blocks may have fewer copies.
 *
 * Threads (KEEL_PARAM_FLAG_THREADS). The program orders loads and submits of a store: a load while
 * another thread of the process is in a submit of the store returns KEEL_ERR_STATE. A submit waits
 * until the loads of other threads that have begun are complete.
 *
 * Papers. [R] is Huebner, Hespe, Sanders and Stamatakis, ReStore: In-Memory REplicated STORagE for
 * Rapid Recovery in Fault-Tolerant Algorithms (FTXS'22).
 */
#ifndef KEEL_STORE_H_
#define KEEL_STORE_H_

#include <keel/keel.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct keel_store *keel_store_h;

enum keel_store_params_field {
    KEEL_STORE_PARAM_FIELD_BYTES = KEEL_BIT(0),
    KEEL_STORE_PARAM_FIELD_NAME = KEEL_BIT(1),
    KEEL_STORE_PARAM_FIELD_COPIES = KEEL_BIT(2),
    KEEL_STORE_PARAM_FIELD_BLOCK_BYTES = KEEL_BIT(3),
    KEEL_STORE_PARAM_FIELD_RANGE_BYTES = KEEL_BIT(4),
    KEEL_STORE_PARAM_FIELD_SEED = KEEL_BIT(5),
    KEEL_STORE_PARAM_FIELD_FLAGS = KEEL_BIT(6)
};

enum keel_store_flags {
    /** The store is submitted once. */
    KEEL_STORE_FLAG_STATIC = KEEL_BIT(0),
    /** The first copy of a block is at the rank that submits the block, and the other copies of
     *  all its blocks are at the same ranks. Default: ranges of blocks are permuted over all
     *  ranks, so that a load of one rank's blocks reads from many ranks. */
    KEEL_STORE_FLAG_CONSECUTIVE = KEEL_BIT(1)
};

/** Parameters of keel_store_create(); the same on all ranks. */
typedef struct keel_store_params {
    uint64_t field_mask; /**< bits of keel_store_params_field: the valid fields below */
    uint64_t bytes;      /**< most bytes that one rank submits; must be set */
    const char *name;    /**< for messages; copied */
    uint32_t copies;     /**< of each block, 1 to 32. Default 4; at most the number of ranks. */
    /** Size of a block; default 1. 0: blocks of different sizes (keel_store_submitv()). */
    uint64_t block_bytes;
    /** Bytes that are placed together, a multiple of 2048 up to 1 MiB. Default: 256 KiB, or less
     *  in a small store. */
    uint64_t range_bytes;
    uint64_t seed;  /**< of the permutation; default 0 */
    uint64_t flags; /**< bits of keel_store_flags */
} keel_store_params_t;

/**
 * Makes a store without data. Collective; a window call, which a replacement repeats as
 * keel_win_alloc() (contrib/doc/reexecution.md, "Window calls").
 *
 * Limits: a store counts as a window. It also takes 12 bytes for each rank of the job.
 * @param [out] store_p  freed by keel_store_free() or keel_finalize().
 * Wrong parameters, or a lack of memory, at some ranks end the job as in keel_store_submit().
 * Parameters that differ are noticed by the first submit.
 * @return as keel_win_alloc(); KEEL_ERR_INVALID_PARAM: a parameter is wrong, or missing, or the
 *         memory at a rank is 2^48 bytes or more.
 *         KEEL_ERR_UNSUPPORTED: the network's messages are smaller than 2048 bytes, or than 2112
 *         for range_bytes of 1 MiB, or the job goes on with fewer ranks (KEEL_SHRINK) and has
 *         checkpoints.
 */
KEEL_API keel_status_t keel_store_create(keel_context_h ctx, const keel_store_params_t *params, keel_store_h *store_p);

/**
 * Frees a store. Collective, with the effect of a gsync.
 *
 * Death: a rollback to an image before the call brings the store back without its data: loads
 * return KEEL_ERR_LOST.
 */
KEEL_API keel_status_t keel_store_free(keel_store_h store);

/**
 * Replaces the data of the store: each rank submits @a count blocks from @a buffer. Collective,
 * with the effect of two gsyncs that are not safe, or of three if the program has more than 64
 * windows and stores. The buffer may be reused on return.
 *
 * The call waits for a checkpoint that is being made.
 * Death: the call waits for the replacement of a dead rank, which submits the same blocks again.
 * A replacement that is behind the other ranks submits nothing: they have its data.
 * @param [in] buffer  @a count blocks; may be NULL if @a count is 0.
 * @param [in] count   may differ between ranks.
 * Wrong arguments: if all ranks refuse their arguments, the call has the effect of one gsync, and
 * the store keeps its version. If some ranks refuse, the job has failed: the call returns an error
 * at all ranks, and later calls return KEEL_ERR_INVALID_PARAM. A call without a store reaches no
 * other rank, so the others wait.
 * @return KEEL_ERR_RANGE: more bytes than the store has room for. KEEL_ERR_STATE: a static store
 *         has its data already, the ranks submit to different stores, or as keel_gsync().
 *         KEEL_ERR_UNSUPPORTED: the blocks of the store have different sizes;
 *         KEEL_ERR_INVALID_PARAM: also if the ranks' parameters differ, or if another rank
 *         refuses its arguments; KEEL_ERR_NO_MEMORY: as a wrong argument, and after a death the
 *         job has failed; KEEL_ERR_LIMIT; KEEL_ERR_ROLLED_BACK.
 */
KEEL_API keel_status_t keel_store_submit(keel_store_h store, const void *buffer, uint64_t count);

/** A block of any size, which may be 0. Programs make arrays of this struct, so no field is ever
 *  added. */
typedef struct keel_store_block {
    const void *buffer;
    uint64_t bytes;
} keel_store_block_t;

/**
 * keel_store_submit() for a store with blocks of different sizes. Each block takes 8 bytes of the
 * store beside its own, and each rank 8 bytes more.
 * @param [in] blocks  array of @a count; the buffer of a block without bytes may be NULL.
 * @return as keel_store_submit(); KEEL_ERR_UNSUPPORTED: the blocks of the store have one size.
 */
KEEL_API keel_status_t keel_store_submitv(keel_store_h store, const keel_store_block_t *blocks, uint64_t count);

/** Blocks that one rank submitted. Programs make arrays of this struct, so no field is ever
 *  added. */
typedef struct keel_store_part {
    uint32_t rank;         /**< that submitted the blocks */
    uint64_t first, count; /**< blocks, by their order there */
    void *buffer;          /**< count blocks, one behind the other */
    /** [out] KEEL_OK, or KEEL_ERR_LOST: some of the blocks are lost, and the buffer is undefined */
    keel_status_t status;
} keel_store_part_t;

/**
 * Replaces some blocks: makes a new version with these blocks and with all other blocks of the
 * version before. Collective, with the effect of two gsyncs, as keel_store_submit(): each load sees
 * the old version or the new one of all blocks. Holders copy the ranges that no rank changes, so
 * an update moves fewer bytes than a submit, in the same memory.
 *
 * Death: as keel_store_submit(). A range that has lost blocks stays as it is until a submit.
 * @param [in] parts  array of @a count; blocks that the caller submitted (rank: the caller). Later
 *                    parts replace blocks of earlier ones. The field status is not used.
 * @return as keel_store_submit(); KEEL_ERR_RANGE: the caller submitted fewer blocks;
 *         KEEL_ERR_RANK: blocks of another rank; KEEL_ERR_STATE: nothing was submitted yet, or the
 *         store is static; KEEL_ERR_UNSUPPORTED: the blocks of the store have different sizes.
 */
KEEL_API keel_status_t keel_store_update(keel_store_h store, const keel_store_part_t *parts, unsigned count);

/**
 * Loads blocks of the newest version. Local: no other rank takes part. Each block comes from the
 * caller's own copy or from another one, and is checked by its checksum; on a mismatch the next
 * copy is taken.
 *
 * Death: the next copy is taken in place of a dead rank's. Where no other copy is left the call
 * waits until replacements have the copies that they can get.
 * @param [in,out] parts  array of @a count.
 * @return KEEL_ERR_LOST: the status of each part tells which blocks are lost, all others are
 *         loaded, and a message names the first lost block. KEEL_ERR_RANGE: the rank submitted
 *         fewer blocks; KEEL_ERR_RANK. KEEL_ERR_STATE: nothing was submitted yet, or another
 *         thread is in a submit of the store. KEEL_ERR_LIMIT: more than 2^32 / 3 parts, with
 *         blocks of different sizes; KEEL_ERR_NO_MEMORY, KEEL_ERR_INVALID_PARAM,
 *         KEEL_ERR_ROLLED_BACK.
 */
KEEL_API keel_status_t keel_store_load(keel_store_h store, keel_store_part_t *parts, unsigned count);

/**
 * keel_store_load() that goes on in later calls of Keel. A loop of keel_req_test() also has to call
 * keel_progress(): the test alone moves no load on. @a parts and the buffers belong to the load
 * until its end; keel_req_test() and keel_req_wait() return the status. A submit of the store
 * waits for the load. With blocks of different sizes the call itself reads the directory.
 *
 * Death: as keel_store_load(). If the job rolls back first, the load ends with
 * KEEL_ERR_ROLLED_BACK, no later than in keel_restore().
 * @param [in]  params  NULL, or a completion callback, as for keel_put_nbx().
 * @param [out] req_p   the request, for keel_req_free(). NULL: the next submit completes the load.
 * @return KEEL_INPROGRESS, or an error of keel_store_load().
 */
KEEL_API keel_status_t keel_store_load_nbx(keel_store_h store, keel_store_part_t *parts, unsigned count,
                                           const keel_rma_params_t *params, keel_req_h *req_p);

/**
 * Sizes of blocks of the newest version, of a store with blocks of different sizes. Statuses as
 * those of keel_store_load(); KEEL_ERR_UNSUPPORTED: the blocks of the store have one size.
 * @param [out] bytes  array of @a count.
 */
KEEL_API keel_status_t keel_store_sizes(keel_store_h store, uint32_t rank, uint64_t first, uint64_t count,
                                        uint64_t *bytes);

/**
 * Number of blocks that @a rank submitted to the newest version. A load of a few bytes; statuses
 * as those of keel_store_load().
 */
KEEL_API keel_status_t keel_store_count(keel_store_h store, uint32_t rank, uint64_t *count_p);

#ifdef __cplusplus
}
#endif
#endif
