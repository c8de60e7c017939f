/*
 * Keel: windows, the memory that other ranks may access, and protected regions. Part of
 * <keel/keel.h>; its conventions hold.
 */
#ifndef KEEL_WIN_H_
#define KEEL_WIN_H_

#include <keel/def.h>
#include <keel/status.h>

#ifdef __cplusplus
extern "C" {
#endif

enum keel_win_params_field {
    KEEL_WIN_PARAM_FIELD_NAME = KEEL_BIT(0),
    KEEL_WIN_PARAM_FIELD_ADDRESS = KEEL_BIT(1),
    KEEL_WIN_PARAM_FIELD_INITIAL = KEEL_BIT(2),
    KEEL_WIN_PARAM_FIELD_ATOMICS = KEEL_BIT(3),
    KEEL_WIN_PARAM_FIELD_ATTACH = KEEL_BIT(4)
};

/** The processor of keel_atomic() on the caller's part of a window. */
typedef enum {
    KEEL_WIN_ATOMICS_ANY, /**< the CPU of the caller or of the target */
    /**
     * The RDMA device, for all ranks including the owner, without the target's CPU. Needs
     * KEEL_TRANSPORT=verbs, ranks on more than one node, a device with atomics and lockable
     * memory (ulimit -l). Otherwise the atomics are carried out as with KEEL_WIN_ATOMICS_ANY.
     *
     * In either case the window supports ADD, CSWAP and FETCH of 8 bytes alone, and no
     * accumulates (KEEL_ERR_UNSUPPORTED). A device excludes neither stores nor atomic
     * instructions of CPUs: while atomics on a word may be outstanding, only keel_atomic() may
     * change the word. Order keel_put() and keel_get() of the word by a flush or gsync. A signal
     * that adds is such an atomic.
     *
     * Death: not logged. From the first such atomic on every death is a rollback
     * (contrib/doc/reexecution.md, "Calls outside the logs").
     */
    KEEL_WIN_ATOMICS_DEVICE,
    KEEL_WIN_ATOMICS_LAST
} keel_win_atomics_t;

/** Parameters of keel_win_alloc(); they may differ between ranks. keel_win_create() takes the name
 *  alone. */
typedef struct keel_win_params {
    uint64_t field_mask; /**< bits of keel_win_params_field: the valid fields below */
    const char *name;    /**< for messages; copied */
    /** Address of the caller's part, a multiple of the page size. Nothing may be mapped there, nor
     *  in replacements. */
    void *address;
    /** Initial contents of the caller's part, as many bytes as the part has; copied. Default:
     *  zeros. */
    const void *initial;
    keel_win_atomics_t atomics; /**< processor of the atomics on the caller's part */
    /** Nonzero: the program attaches memory of its own to the caller's part (keel_win_attach()).
     *  Memory that is not attached belongs to no image. A child of fork() does not have the part,
     *  with any KEEL_LANES. */
    int attach;
} keel_win_params_t;

/**
 * Makes a window: allocates @a bytes of zeroed memory that all ranks may access. Collective.
 * Sizes may differ between ranks and may be 0.
 *
 * Limits: 4,084 windows in one life, freed windows included. A window costs a file descriptor
 * (ulimit -n), a mapping in each rank of the node, and 16 bytes for each rank of the job.
 *
 * Death: a replacement gets the window at its predecessor's address. A window made after the
 * image of a rollback is gone after the rollback: calls refuse its handle
 * (KEEL_ERR_INVALID_PARAM) and the program makes the window again. A rollback to generation 0
 * restores the first contents. For KEEL_WIN_PARAM_FIELD_INITIAL Keel keeps a copy of them, as
 * large as the window, until the end.
 *
 * Failure: a failed call does not count as a window call, so replacements do not repeat it. If
 * the call fails in one rank for lack of memory, the other ranks wait for that rank; it should end
 * the job.
 * @param [in]  bytes   size of the caller's part.
 * @param [in]  params  may be NULL.
 * @param [out] win_p   freed by keel_win_free() or keel_finalize().
 * @return KEEL_ERR_NO_MEMORY: the machine or the control group lacks the memory (the call takes
 *         all of it), or something is mapped at the requested address; KEEL_ERR_ALIGNMENT: the
 *         requested address is no multiple of the page size; KEEL_ERR_LIMIT: no more windows.
 */
KEEL_API keel_status_t keel_win_alloc(keel_context_h ctx, size_t bytes, const keel_win_params_t *params,
                                      keel_win_h *win_p);

/**
 * Makes a window of the program's own memory: @a bytes at @a memory, of any length and alignment,
 * on the heap, the stack or among global variables. Collective, and otherwise as
 * keel_win_alloc(): one rank may call keel_win_alloc() where another calls keel_win_create().
 *
 * The memory keeps its contents. It belongs to the window until keel_win_free() or
 * keel_finalize(), which return it to the program with its contents. Until then the program must
 * not free, unmap or move it.
 *
 * Whole pages: if address and length are multiples of the page size, the memory is private and
 * KEEL_LANES is not served, shared memory replaces the pages, and the window is like any other.
 * The call needs as much memory again while it copies. No other thread may write to the pages
 * meanwhile. A child of fork() does not have them. They must not be registered with a device,
 * locked, or mapped by others.
 * All other memory: accesses are messages to the service thread of the owner. A put or posted
 * atomic takes a round trip, and keel_win_ptr() gives NULL. The addresses of words of atomics,
 * accumulates, signals and waits must be aligned.
 *
 * Death: a replacement passes its own memory, at any address, when it repeats the call. A
 * rollback to an image before keel_win_free() brings the window back. Its memory may be gone by
 * then, so keel_win_base() afterwards gives memory of Keel's. In generation 0 the window has the
 * contents that the memory had at the call. Accesses to memory that is not whole pages are logged
 * with KEEL_LANES=served alone. With other lanes, from the first such access on every death is a
 * rollback (contrib/doc/reexecution.md, "Calls outside the logs").
 * @param [in] params  may be NULL; of its fields the name alone.
 * @return as keel_win_alloc(); KEEL_ERR_INVALID_PARAM, also if some of the memory is a window's
 *         or protected.
 */
KEEL_API keel_status_t keel_win_create(keel_context_h ctx, void *memory, size_t bytes, const keel_win_params_t *params,
                                       keel_win_h *win_p);
/** Frees a window. Collective, with the effect of a gsync. */
KEEL_API keel_status_t keel_win_free(keel_win_h win);
/** Address of the caller's part of the window. NULL if the size of the part is 0. */
KEEL_API void *keel_win_base(keel_win_h win);
/** Size of @a rank's part of the window in bytes. 0: unknown rank, or freed window. */
KEEL_API size_t keel_win_size(keel_win_h win, uint32_t rank);

/**
 * Gives the address at which the window of @a rank is mapped in this process, for plain loads,
 * stores and atomic instructions. The window is mapped if @a rank is on the same node and
 * KEEL_LANES is not served. For the own rank the address is keel_win_base(). The address is valid
 * until the window is freed or gone.
 *
 * Order: @a rank sees stores at once, in the order of the machine. A gsync, an unlock or a flush
 * orders stores as it orders puts. keel_atomic() on mapped
 * words uses atomic instructions of the caller, so keel_atomic() and the program's own atomic
 * instructions exclude each other.
 *
 * Death: not logged. From the first call for another rank on every death is a rollback
 * (contrib/doc/reexecution.md, "Calls outside the logs"). The memory of a dead @a rank stays
 * mapped unchanged until the job has rolled back, so no load or store fails. After keel_restore()
 * the same address leads to the replacement's memory if the replacement is on this node.
 * Otherwise the address leads to no rank's memory and the call gives NULL: call again after
 * keel_restore().
 * @param [out] ptr_p  NULL if the memory is not mapped, or @a rank has no part of the window.
 * @return KEEL_ERR_RANK, KEEL_ERR_INVALID_PARAM.
 */
KEEL_API keel_status_t keel_win_ptr(keel_win_h win, uint32_t rank, void **ptr_p);

/** A range of a window. Programs make arrays of this struct, so no field is ever added. */
typedef struct keel_extent {
    uint64_t offset, length; /**< bytes of a window */
} keel_extent_t;

/**
 * Sets the extents of the caller's part of the window that belong to its images. Default: the
 * whole part, or attached memory alone (keel_win_attach()). Useful for a heap with little in use,
 * or for scratch memory that no later phase reads before writing. Local, without communication, at
 * any time. The image of a safe gsync has the extents set last.
 *
 * Death: keel_restore() restores the extents along with the image (in generation 0 the default).
 * Bytes outside the extents are not restored: after a death they are undefined.
 * @param [in] extents  copied; ascending, disjoint, none empty.
 * @param [in] count    0: nothing of the part belongs to images.
 * @return KEEL_ERR_INVALID_PARAM, KEEL_ERR_NO_MEMORY.
 */
KEEL_API keel_status_t keel_win_extents(keel_win_h win, const keel_extent_t *extents, unsigned count);

/**
 * Adds private memory to the images of this process; keel_restore() restores the memory. Not
 * collective. Protect all regions before the first checkpoint, in the same order in every life.
 * The memory must stay in place until keel_finalize().
 * @param [in] id  number of the region, different for each region.
 * @return KEEL_ERR_INVALID_PARAM for an id in use, @a bytes 0, or memory of a window.
 */
KEEL_API keel_status_t keel_protect(keel_context_h ctx, uint32_t id, void *address, size_t bytes);

#ifdef __cplusplus
}
#endif
#endif
