/*
 * Keel: one-sided communication that survives the death of processes.
 *
 * Conventions. Offsets and lengths are bytes, counted from the window's base. A call that returns
 * keel_status_t returns KEEL_OK or an error; what is said of each call comes on top of these, which any
 * communicating call may return: KEEL_ERR_ROLLED_BACK (the job returns to a checkpoint: call
 * keel_restore() and go on from the restored state) and KEEL_ERR_CATASTROPHIC (memory is lost; a message
 * names the ranks and groups), and KEEL_ERR_ISOLATED (this process was declared dead or is cut off from most of the job: it
 * should end). The death of a peer is otherwise invisible: the call completes.
 * Every call that communicates, one on the own rank's memory and keel_req_test() too, notices deaths and takes part in recovery
 * when there is news, and about every tenth of a second besides; so a program may poll, by calls that all complete at once. One
 * that polls its own memory by loads races with others' puts: it says KEEL_PARAM_FLAG_NONDETERMINISTIC, and calls keel_progress().
 *
 * Threads. One thread at a time may be inside calls on one context (serialized), or several, with KEEL_PARAM_FLAG_THREADS.
 *
 * Children. A child of fork() has no part in the job: calls on a context that its parent had return KEEL_ERR_STATE, and windows that
 * others of the node map (KEEL_LANES other than served) are not there, so that touching one ends the child (SIGSEGV). It may exit
 * and run other programs.
 *
 * What else a process has. Windows and protected regions come back, and nothing else. A replacement is a new process that runs main() again
 * and does again what its predecessor did since the image; after a rollback a survivor goes on as the process that it is, and nothing of what
 * follows is undone in it. More in contrib/doc/reexecution.md.
 *
 *                                      in a replacement                          so
 *   heap, stack, globals               as main() makes them                      protect them, or compute them after keel_restore()
 *   a file opened with "w"             empty again                               open it with "r+" and seek to a protected offset
 *   a file opened with "a"             has lines twice                           truncate it to a protected length after keel_restore()
 *   what stdio buffers                 lost, but flushed when an image is taken  fflush() what others must not miss
 *   standard output, error             once, under keelrun
 *   standard input                     empty, or read on                         read it before the first image, into protected memory
 *   sockets, pipes, locks of files     closed                                    connect again
 *   clocks, /dev/urandom, addresses    others                                    none of them decides what is accessed, or is put
 *   rand(), drand48()                  begin with their seed again               protect their state
 *   getpid(), gettid(), host name      others                                    keel_rank()
 *   environment, arguments             the launcher's, with KEEL_INCARNATION     setenv() is called again
 *   signal handlers, directory, umask  as main() sets them                       set them before keel_restore()
 *   threads                            none; in a survivor they run on           stop them before keel_restore(), make them after it
 *   children                           made again
 *
 * Papers. [F] is Besta and Hoefler, Fault Tolerance for Remote Memory Access Programming Models (HPDC'14).
 */
#ifndef KEEL_H_
#define KEEL_H_

#include <keel/def.h>
#include <keel/status.h>
#include <keel/version.h>

#include <setjmp.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- context ---------------------------------------------------------------------------------------- */

enum keel_params_field {
    KEEL_PARAM_FIELD_FLAGS = KEEL_BIT(0),
    KEEL_PARAM_FIELD_ENV = KEEL_BIT(1),
    KEEL_PARAM_FIELD_SIGNAL = KEEL_BIT(2)
};

enum keel_params_flags {
    /** The program is not access deterministic [F 3.2.1]: a death is always answered by a rollback, and nothing is logged. Without it, a replacement that
     *  is found to do otherwise than its predecessor did is an error message and a rollback; not all that differs is found: on mapped memory
     *  little but how many accesses there were. keelrun --rehearse looks at more. */
    KEEL_PARAM_FLAG_NONDETERMINISTIC = KEEL_BIT(0),
    /** For runtimes: keel_init() returns KEEL_ERR_CHECKSUM where it would end the process of a rank that held parity. */
    KEEL_PARAM_FLAG_CHECKSUM_RETURNS = KEEL_BIT(1),
    /** The program calls keel_wait_until(); the same in all ranks. Otherwise that is found out in the phase of its first wait, in
     *  which a death is a rollback. */
    KEEL_PARAM_FLAG_WAITS = KEEL_BIT(2),
    /** Several threads may be inside calls at once; the same in all ranks. Calls of one process then take turns, and each gives the others
     *  theirs while it waits, so that a call of one thread may wait for what another one does. What threads do has no order that could be
     *  done again: as with KEEL_PARAM_FLAG_NONDETERMINISTIC every death is a rollback. No access takes its fast path. Callbacks run one at a time, in any
     *  thread that is in a call. Collective calls, keel_restore() among them, are made by one thread at a time
     *  (KEEL_ERR_STATE), while others may access and wait; at a safe gsync no other thread is amid anything that the image is to have. Locks
     *  are the process's: a thread that wants what another has locked gets KEEL_ERR_STATE, and of keel_lock() and keel_lock_all() one is
     *  asked for at a time. In a rollback each call that waits returns KEEL_ERR_ROLLED_BACK, and keel_restore() waits until they have: a
     *  thread that computes is not told, so the program stops its others before it. keel_finalize() is the last call of all. */
    KEEL_PARAM_FLAG_THREADS = KEEL_BIT(3),
    /** The program may go on by what its gets bring, its own memory's too: they are polls, as keel_poll() is; the same in all ranks. It counts
     *  as one that waits (KEEL_PARAM_FLAG_WAITS). Without it a program that looks by gets alone, and never waits, for a value that
     *  is put over in the same phase may wait for it for ever in a replacement. */
    KEEL_PARAM_FLAG_POLLS = KEEL_BIT(4)
};

typedef struct keel_params {
    uint64_t field_mask;    /**< which of the fields below are valid */
    uint64_t flags;         /**< keel_params_flags */
    const char *const *env; /**< "NAME=VALUE" strings, NULL at the end, read before the environment */
    int signal; /**< for runtimes that hold all threads of a process: the one that Keel's own thread does not block */
} keel_params_t;

/**
 * Joins the job: connects to the runtime (PMIx by default), reads KEEL_* once, meets the other ranks. Without a launcher it is a
 * job of one; KEEL_ERR_RUNTIME where a launcher that does not speak PMIx has started several processes (PMI_SIZE, SLURM_NTASKS).
 * Collective over the job. In a replacement it returns when the survivors have agreed on the recovery.
 * With KEEL_PARITY=dedicated the last ranks of the job hold parity [F 6] and do not run the program: in them the call serves
 * until the others have left keel_finalize(), and then exits the process, with status 0 when the job went well.
 * The last KEEL_SPARES processes that the launcher started are no ranks yet: the call waits until one is needed, and returns
 * in it as in any replacement, with the rank that it took; when the job comes to its end without it, the process exits with
 * status 0 inside the call.
 * With KEEL_SPAWN a dead rank's place is taken by a process that the launcher is asked to start (PMIx_Spawn): with this
 * program, the arguments as they are in memory then, this directory, and the variables KEEL_* and UCX_*.
 * @param [in]  params  may be NULL.
 * @param [out] ctx_p   the context; freed by keel_finalize().
 * @return KEEL_ERR_INVALID_PARAM, KEEL_ERR_NO_MEMORY, KEEL_ERR_GROUPS, KEEL_ERR_RUNTIME, KEEL_ERR_TRANSPORT; KEEL_ERR_BUDGET
 *         also when the process may not open as many files as it needs (ulimit -n): two for each other rank, and some 70.
 * A process joins its job once: KEEL_ERR_STATE while it has a context, and after keel_finalize() where there is a launcher.
 * A peer's death: before all ranks have met the job fails; afterwards the call waits for the replacement.
 */
KEEL_API keel_status_t keel_init(const keel_params_t *params, keel_context_h *ctx_p);

/**
 * Leaves the job: the last gsync [F 2.2]; after it nothing is recovered, and a launcher may end the ranks that are left when one dies:
 * results are to be written, and output flushed, before it; what stdio buffers still is flushed when all have come to it. Collective. Frees all windows and @a ctx.
 * With KEEL_ERR_ROLLED_BACK the context stays: restore, go on, and finalize again.
 * Keel changes no signal, limit, locale or working directory of the process, nor the log level of UCX. After this call its thread
 * has ended, its files are closed and the environment is as it was before keel_init(), but for variables PMIX_MCA_* that PMIx sets.
 */
KEEL_API keel_status_t keel_finalize(keel_context_h ctx);

/** A status of a job that asks to be started anew: for programs that a rollback would take to their start. */
#define KEEL_EXIT_AGAIN 75

/**
 * Ends the job, all ranks of it, with @a status (0 to 255) as its status, from one rank; 0 too. Does not return. The caller's output is
 * flushed, no exit handler runs, nothing is recovered; the other ranks are killed wherever they are. Asynchronous signal handlers
 * must not call it. Where several ranks call it the first that the launcher hears of decides. keelrun starts a job that ends with
 * KEEL_EXIT_AGAIN anew, KEEL_JOB_RESTARTS times (1); under other launchers the status is what they make of PMIx_Abort().
 * In a child of fork() it ends the child alone.
 */
KEEL_API void keel_abort(keel_context_h ctx, int status) __attribute__((noreturn));

/**
 * keel_abort() with a reason. keelrun prints the reason of the first rank that it hears of, once a job; under other launchers each rank
 * that ends the job prints its own.
 *
 * @param reason  one line of text, of which 400 bytes are printed; NULL for none.
 */
KEEL_API void keel_abort_because(keel_context_h ctx, int status, const char *reason) __attribute__((noreturn));

/**
 * For a runtime that learns from its program, at its start, what keel_init() has to know: ends the job like keel_abort(), and keelrun starts
 * it anew with @a setting (NAME=VALUE, at most 255 bytes) in its environment, which KEEL_JOB_RESTARTS does not count. Nothing of the job is kept, and
 * what was to be killed and was not yet still is. Does not return but
 * @return KEEL_ERR_STATE where the variable is set already; KEEL_ERR_UNSUPPORTED under other launchers; KEEL_ERR_INVALID_PARAM.
 */
KEEL_API keel_status_t keel_start_with(keel_context_h ctx, const char *setting);

KEEL_API uint32_t keel_rank(keel_context_h ctx); /**< 0 .. size-1; survives the process; of NULL UINT32_MAX */
KEEL_API uint32_t keel_size(keel_context_h ctx); /**< number of ranks that run the program */
KEEL_API uint32_t
keel_incarnation(keel_context_h ctx); /**< 0 in the first process of a rank, larger in each later one */
/**
 * The same of another rank, so who has died since it was asked before. Local; what this process has heard of, which after KEEL_ERR_ROLLED_BACK,
 * and in a replacement after keel_init(), is the same in all ranks that go on from there until another one dies. 0 of a rank that is none.
 */
KEEL_API uint32_t keel_rank_incarnation(keel_context_h ctx, uint32_t rank);

/**
 * True when keel_restore() has to be called: in a replacement, and after KEEL_ERR_ROLLED_BACK.
 * Where it is first false, or at the first access, the program's start ends: windows made later are not part of generation 0. So
 * it is asked at the same place in all ranks.
 */
KEEL_API int keel_restarted(keel_context_h ctx);

/**
 * Puts the newest usable image into the windows and protected regions and sets the place in the computation:
 * after it the program continues from its protected state. In generation 0, the program's start, windows hold what they
 * held when they were made, zeros if nothing else was said, and protected regions what they held at keel_protect(). Collective after a rollback, local in a replacement.
 * The windows of the image must have been allocated and the regions protected before, as in the first life: all window calls
 * that the image was taken after are repeated, in their order, with their sizes, those of windows freed by then too. A program that
 * makes windows in its steps asks keel_stats() how many calls (window_calls_due), or repeats one and tries again as long as it gets
 * KEEL_ERR_STATE, which does no harm; a further death may change the number meanwhile.
 * @return KEEL_ERR_STATE when nothing is to be restored or a window or region is missing; KEEL_ERR_CORRUPT.
 */
KEEL_API keel_status_t keel_restore(keel_context_h ctx);

/**
 * Reads what keel_restore() is going to put into the caller's part of a window: for a program that needs some of it on its way there, and
 * whose start writes to the window. In a replacement, before keel_restore(), for which others wait meanwhile. It takes what it takes to rebuild
 * the image. What a further death makes of the generation before keel_restore() is another matter: that restores what holds then.
 * @param [in]  offset, length  within one extent of the image (keel_win_extents()).
 * @return KEEL_ERR_STATE where nothing is to be restored, or no image: in generation 0; KEEL_ERR_RANGE; KEEL_ERR_CORRUPT. Never
 *         KEEL_ERR_ROLLED_BACK.
 */
KEEL_API keel_status_t keel_image_get(keel_win_h win, uint64_t offset, void *buffer, size_t length);

/**
 * Asks for a rollback of the job: for a program that finds its own data wrong. Local; the others learn of it from their calls.
 * Writes off what was done since the newest checkpoint, on all ranks.
 * @return KEEL_ERR_ROLLED_BACK: call keel_restore(); KEEL_ERR_STATE where nothing can be rolled back (KEEL_PROTECT=none): the
 *         job goes on as if the call had not been made.
 */
KEEL_API keel_status_t keel_rollback(keel_context_h ctx);

/**
 * Marks where the program goes on after a rollback: a call that would return KEEL_ERR_ROLLED_BACK jumps there instead, and
 * the program asks keel_restarted() and calls keel_restore() there, as a replacement does. As an expression statement:
 *
 *     KEEL_RESTART_POINT(ctx);
 *     if (keel_restarted(ctx)) {
 *         keel_restore(ctx);
 *     }
 *
 * The rules of setjmp() hold: the function must not return while the point is set, and its local variables that changed since
 * are lost unless protected or volatile. No jump leaves a callback, keel_restore() or a thread that did not set the point.
 */
#define KEEL_RESTART_POINT(_ctx) (void)setjmp(*keel_restart_buffer(_ctx))

KEEL_API jmp_buf *keel_restart_buffer(keel_context_h ctx); /**< for KEEL_RESTART_POINT(); NULL: no point is set */
KEEL_API void keel_restart_clear(keel_context_h ctx);      /**< calls return KEEL_ERR_ROLLED_BACK again */

/** Makes communication progress, sends what was put and is not flushed yet, and takes part in recovery; never blocks. */
KEEL_API keel_status_t keel_progress(keel_context_h ctx);

/**
 * From here on the program may do what no log determines, such as looking at its memory by loads while others put there, or going on by a
 * clock: every death is a rollback, as with KEEL_PARAM_FLAG_NONDETERMINISTIC. One rank may say it, before it does any of that;
 * others are told, with a message to each. Again it does nothing.
 *
 * Death: where a replacement may just be doing again what its predecessor did, or does it itself, the job rolls back first
 * (KEEL_ERR_ROLLED_BACK).
 */
KEEL_API keel_status_t keel_set_nondeterministic(keel_context_h ctx);

/* ---- windows and protected regions ------------------------------------------------------------------ */

enum keel_win_params_field {
    KEEL_WIN_PARAM_FIELD_NAME = KEEL_BIT(0),
    KEEL_WIN_PARAM_FIELD_ADDRESS = KEEL_BIT(1),
    KEEL_WIN_PARAM_FIELD_INITIAL = KEEL_BIT(2),
    KEEL_WIN_PARAM_FIELD_ATOMICS = KEEL_BIT(3),
    KEEL_WIN_PARAM_FIELD_ATTACH = KEEL_BIT(4)
};

/** Who carries out keel_atomic() on the caller's part of a window. */
typedef enum {
    KEEL_WIN_ATOMICS_ANY, /**< the CPU of the caller or of the target */
    /**
     * With KEEL_TRANSPORT=verbs, where ranks run on more than one node: the RDMA device, for all ranks, the owner among them; no CPU takes
     * part at the target. Elsewhere, and where the device cannot or the memory is not locked (ulimit -l), as KEEL_WIN_ATOMICS_ANY. Whichever it
     * is, there are ADD, CSWAP and FETCH of 8 bytes and no others, no accumulates either (KEEL_ERR_UNSUPPORTED). Stores and atomic instructions of
     * CPUs are not excluded by a device: such words are changed by keel_atomic() alone, as long as atomics on them may be under way; keel_put() and
     * keel_get() of them are ordered by a flush or gsync. A signal that adds is such an atomic.
     *
     * Death: no log has what a device did. Who issues one mixes, as keel_lock() has it, and from then on every death is a rollback.
     */
    KEEL_WIN_ATOMICS_DEVICE,
    KEEL_WIN_ATOMICS_LAST
} keel_win_atomics_t;

typedef struct keel_win_params {
    uint64_t field_mask;
    const char *name; /**< for messages; copied */
    /** keel_win_alloc(): where the caller's part is to be, a multiple of the page size at which nothing is mapped, in replacements neither. Each
     *  rank may give another one. */
    void *address;
    /** keel_win_alloc(): as many bytes as the caller's part has, which are its first contents instead of zeros; copied. */
    const void *initial;
    keel_win_atomics_t atomics; /**< keel_win_alloc(); each rank may give another one */
    /** keel_win_alloc(): not 0: the program attaches memory of its own to the caller's part (keel_win_attach()). A child of fork() does not have
     *  that, with any KEEL_LANES, and what is not attached belongs to no image; each rank may give another one */
    int attach;
} keel_win_params_t;

/**
 * Allocates @a bytes of zeroed memory that all ranks may access. Collective; sizes may differ between ranks, also 0.
 * A replacement gets the window at the address its predecessor had. Windows made after the image that a rollback returns to
 * are gone with it: calls refuse their handles (KEEL_ERR_INVALID_PARAM) and the program makes them again. At most 4,084 windows
 * can be made in one life, freed ones included; each takes a file descriptor (ulimit -n), a mapping in each rank of the node, and 16 bytes for each rank of the job.
 * What a window of generation 0 holds at first comes back in a rollback to it: with KEEL_WIN_PARAM_FIELD_INITIAL Keel keeps a copy, as large as the window, to the end.
 * A rank whose call fails for want of memory leaves the others waiting: it should end the job. A call that failed is no window call: a
 * replacement does not repeat it.
 * @param [in]  params may be NULL.
 * @param [out] win_p  freed by keel_win_free() or keel_finalize().
 * @return KEEL_ERR_NO_MEMORY when the machine or the control group has not got the memory: all of it is taken here, and not
 *         more than is there; when something is mapped at the address asked for; KEEL_ERR_ALIGNMENT of such an address; KEEL_ERR_LIMIT: as many windows were made as can be.
 */
KEEL_API keel_status_t keel_win_alloc(keel_context_h ctx, size_t bytes, const keel_win_params_t *params,
                                      keel_win_h *win_p);

/**
 * Makes a window of memory that the program has: @a bytes at @a memory, as long as it likes and aligned or not, on the heap, the stack
 * or among global variables. Otherwise as keel_win_alloc(): collective, and a call of keel_win_alloc() in one rank goes together with one of this in another.
 * What the memory holds stays; of a window of generation 0 it is kept, and comes back with that, as KEEL_WIN_PARAM_FIELD_INITIAL has it. It is the window's until
 * keel_win_free() or keel_finalize(), which leave it to the program with its contents; till then the program must not
 * free, unmap or move it. A replacement gives its own memory, at whatever address, in the call that it repeats.
 *
 * Whole pages (address and length are multiples of the page size) of private memory are replaced by shared memory, with
 * KEEL_LANES other than served, and are then a window like any other. It takes their size once more while the call copies them, and no other thread may write
 * there meanwhile; a child of fork() does not have them; they must not be registered with a device, locked, or mapped by others.
 *
 * Of all other memory others' accesses are messages, which the service thread of its owner answers: a put and a posted atomic take a round trip, keel_win_ptr()
 * gives NULL. With KEEL_LANES=served they are recovered like any others; else no log has them: who issues one mixes, as
 * keel_lock() has it, and from then on every death is a rollback. Words of atomics, accumulates, signals and waits have to be
 * aligned by their address.
 *
 * A rollback to an image of before keel_win_free() brings the window back, but its memory may be gone: what keel_win_base() gives
 * after keel_restore() is then memory of Keel's.
 * @param [in] params  may be NULL; of its fields the name alone.
 * @return KEEL_ERR_INVALID_PARAM also when some of the memory is a window's or protected; else as keel_win_alloc().
 */
KEEL_API keel_status_t keel_win_create(keel_context_h ctx, void *memory, size_t bytes, const keel_win_params_t *params,
                                       keel_win_h *win_p);
KEEL_API keel_status_t keel_win_free(keel_win_h win);         /**< Collective; a gsync of its own kind. */
KEEL_API void *keel_win_base(keel_win_h win);                 /**< own memory; NULL when its size is 0 */
KEEL_API size_t keel_win_size(keel_win_h win, uint32_t rank); /**< bytes at @a rank; 0: unknown rank, or freed */

/**
 * Where the window of @a rank is mapped in this process, for loads, stores and atomic instructions of its own: of a rank on the same
 * node, with KEEL_LANES other than served; of the own rank keel_win_base().
 * The address is good until the window is freed or gone. What this process stored is seen there at once, in the order that the
 * machine has; a gsync, an unlock or a flush and what another rank learns after it order it like a put. keel_atomic() on
 * words that are mapped are atomic instructions of the caller, so they and the program's own exclude each other.
 *
 * Death: nothing of it is logged, so a program that asks for the address of another rank mixes, as keel_lock() has it: from
 * the first such call on every death is a rollback. When @a rank dies its memory stays where it is, as it left it, until the job has
 * rolled back: no load or store fails. Behind keel_restore() the same address leads to the memory of its replacement, where that
 * is on this node; otherwise to none of any rank, and the call gives NULL: ask again after keel_restore().
 * @param [out] ptr_p  NULL where the memory is not mapped, or @a rank has none of the window.
 * @return KEEL_ERR_RANK, KEEL_ERR_INVALID_PARAM.
 */
KEEL_API keel_status_t keel_win_ptr(keel_win_h win, uint32_t rank, void **ptr_p);

/** An element of arrays: it stays as it is. */
typedef struct keel_extent {
    uint64_t offset, length; /**< bytes of a window */
} keel_extent_t;

/**
 * Says what of the caller's part of the window belongs to its images from now on; at first that is all of it, or what is attached
 * (keel_win_attach()). For a heap of which little is in
 * use, or memory that is read only as it was left by this phase. Local, costs no communication, and may be called in any phase; the image of a
 * safe gsync has what was said last. keel_restore() brings the extents back with the image (in generation 0: those at first).
 * Bytes outside of them are not restored: after a death they are undefined.
 * @param [in]  extents  copied; in ascending order, apart, none empty. With @a count 0 nothing of it belongs to an image.
 * @return KEEL_ERR_INVALID_PARAM, KEEL_ERR_NO_MEMORY.
 */
KEEL_API keel_status_t keel_win_extents(keel_win_h win, const keel_extent_t *extents, unsigned count);

/**
 * Adds private memory to the image of this process; restored by keel_restore(). Each @a id once; not collective.
 * The memory must stay where it is until keel_finalize(). All regions are to be protected before the first checkpoint, and
 * in the same order in every life.
 * @return KEEL_ERR_INVALID_PARAM for an id in use, @a bytes 0, or memory of a window.
 */
KEEL_API keel_status_t keel_protect(keel_context_h ctx, uint32_t id, void *address, size_t bytes);

/* ---- accesses ---------------------------------------------------------------------------------------- */

typedef void (*keel_send_cb_t)(void *user, keel_status_t status);

enum keel_rma_params_field { KEEL_RMA_PARAM_FIELD_CB = KEEL_BIT(0) };

typedef struct keel_rma_params {
    uint64_t field_mask;
    /** Called from a later Keel call when the access returned KEEL_INPROGRESS. When that is differs from life to life: a program
     * that issues accesses there is not access deterministic (KEEL_PARAM_FLAG_NONDETERMINISTIC). A flush or gsync that it is
     * called from completes what it issues, too. Collective calls, locks and keel_restore() return KEEL_ERR_STATE in it.
     * For what a rollback leaves incomplete it is called with KEEL_ERR_ROLLED_BACK, at the latest from keel_restore(), before the
     * memory's return: so @a user has to outlive a jump to the restart point. For an access that is itself left by that jump, and
     * has returned nothing, it is not called. When the job has failed it may never be called. */
    keel_send_cb_t cb;
    void *user;
} keel_rma_params_t;

/**
 * Writes @a length bytes from @a buffer to @a offset of @a rank's window. The buffer may be used again when the
 * call returned KEEL_OK or the request is complete; the data is at the target after a flush. Logged at the caller
 * first [F 3.2.3, 4.2]: towards a dead rank it is only logged, and its replacement is given it.
 * @param [out] req_p  NULL, or set to a request when KEEL_INPROGRESS is returned; release it with keel_req_free().
 * @return KEEL_OK, KEEL_INPROGRESS, KEEL_ERR_RANGE, KEEL_ERR_RANK, KEEL_ERR_INVALID_PARAM.
 */
KEEL_API keel_status_t keel_put_nbx(keel_win_h win, uint32_t rank, uint64_t offset, const void *buffer, size_t length,
                                    const keel_rma_params_t *params, keel_req_h *req_p);
KEEL_API keel_status_t keel_put(keel_win_h win, uint32_t rank, uint64_t offset, const void *buffer, size_t length);

/**
 * Reads @a length bytes at @a offset of @a rank's window into @a buffer, valid when the request is complete. What it
 * read is logged at the target when the epoch closes [F 4.1]. Towards a dead rank it waits for the replacement. A put to the
 * same bytes that follows is ordered after it by a wait for the request, a flush or a fence, and by nothing else.
 * In programs that wait (KEEL_PARAM_FLAG_WAITS, or from the phase after the first keel_wait_until() on), and do not say
 * KEEL_PARAM_FLAG_POLLS, keel_get_nbx() of other ranks returns KEEL_INPROGRESS also when it is complete. What they get from their own
 * memory, into a buffer apart from that, is logged as what keel_test() says is (in the phase of a first wait: behind the caller's own), so they may look by it, too.
 */
KEEL_API keel_status_t keel_get_nbx(keel_win_h win, uint32_t rank, uint64_t offset, void *buffer, size_t length,
                                    const keel_rma_params_t *params, keel_req_h *req_p);
KEEL_API keel_status_t keel_get(keel_win_h win, uint32_t rank, uint64_t offset, void *buffer, size_t length);

/**
 * A get by which the program may go on within a phase, as by keel_wait_until() of its own memory: what was put there before, and what
 * that source had put anywhere and flushed before that, happens before what follows the call. So a program may look in a loop at a
 * word that lies with any rank; what it has put itself is on its way then, flushed or not. The bytes are here when it returns; words of 1, 4 and 8 bytes, aligned, are read as a whole. What is not put
 * by a call is seen too, but is no call of its owner's: a word that others poll is set by keel_put(), also by its owner.
 *
 * The first poll makes the program one that waits (KEEL_PARAM_FLAG_WAITS): in its phase a death is a rollback. What was found is
 * logged with the target before anything else of the caller can be seen [F 4.1]; the same found again by the next call is
 * counted, where memory is mapped, and has a record each time elsewhere (KEEL_GETLOG_SIZE). Own memory has
 * one record for each 256 words, and the same of them found again by the next call is counted.
 * Death: as for keel_wait_until(); of the target: the call waits for its replacement.
 * @return KEEL_OK, KEEL_ERR_RANGE, KEEL_ERR_RANK, KEEL_ERR_INVALID_PARAM, KEEL_ERR_ROLLED_BACK.
 */
KEEL_API keel_status_t keel_poll(keel_win_h win, uint32_t rank, uint64_t offset, void *buffer, size_t length);

typedef enum {
    KEEL_ATOMIC_ADD,
    KEEL_ATOMIC_AND,
    KEEL_ATOMIC_OR,
    KEEL_ATOMIC_XOR,
    KEEL_ATOMIC_SWAP,
    KEEL_ATOMIC_CSWAP, /**< writes operand when the old value equals compare */
    KEEL_ATOMIC_FETCH, /**< leaves the word; this one and those below: see the end of keel_atomic_nbx() */
    KEEL_ATOMIC_SET,   /**< as SWAP, in the eyes of the word */
    KEEL_ATOMIC_MIN,   /**< of unsigned words */
    KEEL_ATOMIC_MAX,
    KEEL_ATOMIC_MIN_SIGNED, /**< of words as two's complement */
    KEEL_ATOMIC_MAX_SIGNED,
    KEEL_ATOMIC_LAST
} keel_atomic_op_t;

/**
 * A combining put [F 2.1]: applies @a op with @a operand to the word of @a size (1, 2, 4 or 8) bytes at @a offset, aligned to
 * its size [F 4.2]; a word is always accessed with one size. Each takes effect once. Where the target's process applies it (other
 * nodes), a death of the caller changes nothing; on one node, where the caller's CPU does, its death within the call is answered by
 * a rollback, as is, in programs that do not wait, one in a phase in which the target died, or in which it fetched from its own
 * memory. A death of the target is a rollback where the operations of different ranks do not commute: two kinds of operation at one
 * rank, but for ADD, SWAP, CSWAP and SET, of which the log has by how much each changed the word. That is not known of SET, or of a
 * swap that fetches nothing, that the target's process applies, of one by a caller that has died since the newest image, and of the
 * target's own. It is a rollback, too, where the target's process applies them, a value was awaited from it that others may have
 * found the effect of, and none of these was told it: those that reach that memory by stores, or where one awaited several. What is
 * fetched from a replacement waits until all ranks have handed over to it what they had done there.
 * In programs that wait (KEEL_PARAM_FLAG_WAITS, or from the phase after the first keel_wait_until() on) what is fetched from others
 * is here when the call returns, whichever it is, and orders as a wait does: what was flushed before the atomics that it has found
 * happens before what follows; in others gsyncs alone order. Deaths are rollbacks of a caller within the call on one node, of a
 * target where others await values from it that no answer to another carried, operations do not commute, or it waits for a word that
 * others set or swap, and of a caller within the call on its own memory, whose value is recorded at another rank.
 * FETCH, but of 2 bytes, is a poll (keel_poll()). Words of 1 and 2 bytes are as elements of keel_accumulate(): what fetches from
 * them, and CSWAP, no log has. MIN and MAX, signed or not, are four kinds of operation, and commute each with itself.
 * @param [in]  compare  used by CSWAP only.
 * @param [out] result   old value (@a size bytes), or NULL for a posted one; SWAP and CSWAP need none either.
 */
KEEL_API keel_status_t keel_atomic_nbx(keel_win_h win, keel_atomic_op_t op, uint32_t rank, uint64_t offset, size_t size,
                                       uint64_t operand, uint64_t compare, void *result,
                                       const keel_rma_params_t *params, keel_req_h *req_p);
/** Blocking: the result is there when it returns. */
KEEL_API keel_status_t keel_atomic(keel_win_h win, keel_atomic_op_t op, uint32_t rank, uint64_t offset, size_t size,
                                   uint64_t operand, uint64_t compare, void *result);

/**
 * KEEL_INPROGRESS until complete; progress is keel_progress()'s. In programs that wait (as for keel_get_nbx()), of a get of the same phase, and not in a
 * callback, that is recorded as what keel_test() says is: before the next thing of the caller that others can see, at another
 * rank, and a replacement is told it as often. Elsewhere how often it says so, and whether a call gave a request at all, is in no log: for a
 * replacement what its predecessor fetched is complete at once. So there nothing but when may depend on that: who goes on by it
 * otherwise than by asking again is not access deterministic (KEEL_PARAM_FLAG_NONDETERMINISTIC, or keel_set_nondeterministic() before it
 * does).
 */
KEEL_API keel_status_t keel_req_test(keel_req_h req);
KEEL_API keel_status_t keel_req_wait(keel_req_h req); /**< waits and frees */
KEEL_API void keel_req_free(keel_req_h req);          /**< an incomplete one completes and is freed then */

/* ---- synchronisation --------------------------------------------------------------------------------- */

/** All accesses to @a rank are complete there and here; closes the epoch towards it (EC +1) [F 2.2]. */
KEEL_API keel_status_t keel_flush(keel_context_h ctx, uint32_t rank);
KEEL_API keel_status_t keel_flush_all(keel_context_h ctx);
/** Orders accesses issued before it against those issued after it, per target; completes none but gets and values that are fetched. */
KEEL_API keel_status_t keel_fence(keel_context_h ctx);

typedef enum {
    KEEL_COMPARE_EQ,
    KEEL_COMPARE_NE,
    KEEL_COMPARE_GT,
    KEEL_COMPARE_GE,
    KEEL_COMPARE_LT,
    KEEL_COMPARE_LE,
    KEEL_COMPARE_GT_SIGNED, /**< word and value taken as two's complement; EQ and NE are the same for both */
    KEEL_COMPARE_GE_SIGNED,
    KEEL_COMPARE_LT_SIGNED,
    KEEL_COMPARE_LE_SIGNED,
    KEEL_COMPARE_ANY_BIT, /**< some bit that is set in value is set in the word */
    KEEL_COMPARE_ALL_BITS,
    KEEL_COMPARE_NO_BIT,
    KEEL_COMPARE_LAST
} keel_compare_t;

/**
 * Waits until the word of @a size (1, 2, 4 or 8) bytes at @a offset of the caller's own window, aligned to its size, compares so with
 * @a value (word @a compare value; both unsigned, where the name does not say signed, and of @a value its low @a size bytes: a negative one may be given sign-extended or not), which a put or atomic of another rank in this phase brings about. What that rank put before it,
 * with a flush or fence between, is there too. A program looks at its own memory inside a phase by calls alone: these,
 * keel_wait(), keel_test(), and gets from its own rank. A wait has no record: with another comparison than KEEL_COMPARE_EQ a
 * replacement may go on by an older value than its predecessor did that compares so too, and find that in the word, until it waits for more. A program
 * that goes on by which value it was takes it from keel_wait(), as .seen, or from a get behind the wait.
 *
 * Death: the dead rank's replacement is given what others put to it wait by wait, and does nothing twice that others may have
 * waited for; who waits for the dead rank waits for its replacement. The job rolls back, and the call returns
 * KEEL_ERR_ROLLED_BACK, when several ranks are lost at once, in the phase of the program's first wait, before it or after
 * (KEEL_PARAM_FLAG_WAITS), and for atomics where keel_atomic_nbx() says so.
 * @return KEEL_ERR_RANGE, KEEL_ERR_ALIGNMENT, KEEL_ERR_UNSUPPORTED for another size or comparison.
 */
KEEL_API keel_status_t keel_wait_until(keel_win_h win, uint64_t offset, size_t size, keel_compare_t compare,
                                       uint64_t value);

/** What is asked of a word of the caller's own memory; offset, size, comparison and value as in keel_wait_until(). An element of
 *  arrays: it stays as it is. */
typedef struct keel_word {
    keel_win_h win; /**< NULL: this one is left out */
    uint64_t offset;
    size_t size; /**< 1, 2, 4 or 8 bytes */
    keel_compare_t compare;
    uint64_t value;
    uint64_t seen; /**< [out] the word when it was looked at last, widened; of one that is met, when it was */
    int is_met;    /**< [out] it compared so */
} keel_word_t;

typedef enum {
    KEEL_WAIT_ALL, /**< each of them has compared so once, not all of them at one time */
    KEEL_WAIT_ANY, /**< one of them, or some: all are marked that do when the first is found */
    KEEL_WAIT_LAST
} keel_wait_for_t;

/**
 * Waits until so many of @a words compare as they say; they may be of several windows. What another rank put before such a word, with a flush or
 * fence between, is there too. Where all are left out it returns at once.
 *
 * Death: as for keel_wait_until(). What the program was told, which words came first and what each held, is recorded at another rank before
 * the next thing that it does can be seen, on one node by stores, else in a round trip; a replacement is told the same. About
 * more words than a record holds (some thousands) nothing is recorded: the program mixes, as keel_lock() has it.
 * @param [out] met_p  how many are met; may be NULL.
 * @return KEEL_ERR_RANGE, KEEL_ERR_ALIGNMENT, KEEL_ERR_UNSUPPORTED for another size, comparison or way to wait;
 *         KEEL_ERR_INVALID_PARAM.
 */
KEEL_API keel_status_t keel_wait(keel_context_h ctx, keel_wait_for_t how, keel_word_t *words, unsigned count,
                                 unsigned *met_p);
/** The same without waiting: KEEL_INPROGRESS when it is not so, after progress was made; a program may call it until it is. That it was told
 *  so again and again, about words that hold the same, is one record. */
KEEL_API keel_status_t keel_test(keel_context_h ctx, keel_wait_for_t how, keel_word_t *words, unsigned count,
                                 unsigned *met_p);

/**
 * Takes the lock of @a rank's memory, all its windows [F 2.2]: exclusive. Until keel_unlock() nobody else has it locked, for
 * writing or reading. Several ranks may be locked at once; what order avoids deadlock is the program's affair. Blocks until the
 * lock is free.
 *
 * Where a program locks for every access of others' memory, has nothing locked in a gsync, and does not wait, deaths are recovered
 * locally [F 3.1.2]; its own memory it may touch without a lock in a phase in which no other rank locks that. Any program may mix
 * these: access what is not locked, write in reading epochs, wait, and pass gsyncs and window calls with locks held, which are part of
 * the image then. Its deaths are rollbacks, from the first such call on; with
 * KEEL_PARAM_FLAG_NONDETERMINISTIC it says so at once, which spares each rank that mixes a message to every other, and, should
 * another rank have died shortly before, the call a rollback of its own (KEEL_ERR_ROLLED_BACK). Window calls and keel_finalize() are collective in every program; keel_finalize()
 * returns KEEL_ERR_STATE while something is locked.
 *
 * Death: a lock that a dead process held stays held, and its replacement comes back inside that critical section. The lock of a
 * dead rank is waited for. Critical sections are replayed in their order [F algorithm 3]; with several ranks away at once
 * the job rolls back.
 * @return KEEL_ERR_RANK; KEEL_ERR_STATE: locked by the caller already; KEEL_ERR_LIMIT: the lock of one rank can be taken
 *         2^42 - 1 times, at 25 ns each in 30 hours of nothing else, and then by nobody any more; nothing is locked, all else goes on.
 */
KEEL_API keel_status_t keel_lock(keel_context_h ctx, uint32_t rank);
/** Completes all accesses to @a rank and gives its lock up. KEEL_ERR_STATE when the caller does not hold it. */
KEEL_API keel_status_t keel_unlock(keel_context_h ctx, uint32_t rank);

/**
 * Locks all ranks, shared: until keel_unlock_all() nobody has an exclusive lock of any. A reading epoch, in which the caller only
 * gets from others and loads from its own windows, is recovered like a critical section; with puts and atomics in it, as
 * programs for MPI have them, which order themselves by flushes, atomics and gsyncs, the program mixes (keel_lock()): keel_win_lock_all() is for them. Locks all ranks in the order of their numbers, so it takes its turn among
 * writers that lock several ranks in that order too.
 * @return KEEL_ERR_STATE: something is locked already, or as for keel_lock().
 */
KEEL_API keel_status_t keel_lock_all(keel_context_h ctx);
KEEL_API keel_status_t keel_unlock_all(keel_context_h ctx); /**< KEEL_ERR_STATE outside of a reading epoch */

enum keel_gsync_flags {
    /**
     * All state is in windows and protected regions, and leads to the call that comes next: a checkpoint may be taken here. A restored
     * rank goes on behind an image as that state says, so calls between this gsync and the end of the loop body are not made again. The
     * same on every rank.
     */
    KEEL_GSYNC_SAFE = KEEL_BIT(0)
};

/**
 * Collective: closes every epoch, waits for all ranks [F 2.2], and may take a coordinated checkpoint when safe. A program that has not come
 * to a safe one, to keel_checkpoint() or to keel_safe_point() when half of a log of some rank (KEEL_OPLOG_SIZE, KEEL_GETLOG_SIZE) is in use is
 * told so, once.
 * A job does 4,294,963,199 gsyncs, window calls and checkpoints, which are two each; rank 0 says when 2^28 of them are left. Each
 * such call after them returns KEEL_ERR_LIMIT at once and does nothing, on all ranks alike; all else goes on, keel_finalize() too.
 * In one phase, between two gsyncs, there may be any number of accesses and waits. Behind the 2^32nd of a pair of ranks a
 * death is a rollback until a later checkpoint is in use.
 * @return KEEL_ERR_STATE, here as from every collective call, when rank 0 is in another one or has other flags: said by those that
 *         differ from it, which should end the job, for the others may wait for them.
 */
KEEL_API keel_status_t keel_gsync(keel_context_h ctx, unsigned flags);

/**
 * Collective: a safe gsync with a coordinated checkpoint [F 6.1], then another that makes it the one in use. Should a
 * death abort the checkpoint, the previous one stays, the call completes, and the next safe gsync takes a new one. The call
 * takes none while one begun by KEEL_CKPT_INTERVAL is not complete, or when the image does not fit KEEL_CKPT_SIZE (a message
 * says so); keel_stats() tells the generation in use.
 */
KEEL_API keel_status_t keel_checkpoint(keel_context_h ctx);

/**
 * A safe point between collective calls, of a program that locks [F 3.1.2, "Locks"]: all state of this rank is in windows and protected
 * regions, as at a gsync with KEEL_GSYNC_SAFE, and this rank holds no lock. A restored rank goes on behind the call. Each rank calls it
 * where and as often as it likes, and best between any two critical sections: it costs some loads, and on rank 0 a look at the clock.
 *
 * When a checkpoint is due (KEEL_CKPT_INTERVAL, which counts calls of rank 0 where it is in gsyncs; or logs that pass KEEL_OPLOG_SOFT),
 * rank 0 begins a stop in its call: accesses are complete, the call waits until every rank has come to a safe point, to a safe gsync or
 * to keel_checkpoint(), an image of all is taken and put into use. Nobody waits for a rank that never locks again but waits in a safe
 * gsync or keel_checkpoint(): the stop passes there. In other collective calls, keel_finalize() among them, a rank has no safe point: no
 * stop begins while one waits there, and one that comes there amid a stop makes it end without an image. So a rank that is done early
 * waits for the others in a safe gsync.
 *
 * No lock is held in a stop, so nobody who waits for a lock waits for a rank that waits for it. But a rank must not wait in another way,
 * by keel_wait_until() or by looking again and again, for what another does behind a safe point, unless it calls this in between.
 * Locks of windows (keel_win_lock()) count as locks here.
 *
 * Threads: as a gsync, when it stops. Death: amid a stop it is a rollback when its first gsync was passed and its image is not in use yet
 * (the previous image stays); else it is recovered as in any gsync.
 * @return KEEL_ERR_STATE: something is locked, or in a callback.
 */
KEEL_API keel_status_t keel_safe_point(keel_context_h ctx);

/* ---- statistics --------------------------------------------------------------------------------------- */

/** What this process has done and seen since keel_init(). It grows at its end: keel_stats() is told its size. */
typedef struct keel_stats {
    uint64_t puts, gets, atomics,
        gsyncs;                    /**< calls; of accumulates of up to four elements that are atomics each of these */
    uint64_t put_bytes, get_bytes; /**< bytes */
    uint64_t put_log_bytes, put_log_peak; /**< bytes held now, and at most */
    uint64_t get_log_bytes, get_log_peak;
    uint64_t log_overflows;                          /**< how often logging towards a target stopped */
    uint64_t checkpoints, checkpoint_aborts;         /**< committed, and given up because of a death */
    uint64_t checkpoint_bytes;                       /**< size of the newest image, bytes */
    uint64_t checkpoint_copy_ns, checkpoint_safe_ns; /**< newest: image copied, and until committed */
    uint64_t checkpoint_work_ns; /**< newest: comparing and parity, bit by bit in calls of Keel after the copy; with
                                      what a recovery computed again until the next one */
    uint64_t generation; /**< gsync number of the newest committed image, 0: program start; in a replacement that has
                              yet to call keel_restore(), of the image that it will be given */
    uint64_t deaths, recoveries, rollbacks;
    uint64_t replayed_puts, replayed_gets; /**< records handed over to replacements; gets answered from records */
    uint64_t rebuilt_bytes;                /**< image bytes rebuilt from the group by this process */
    /** nanoseconds of this process's own recovery: start-up, agreement, rebuild, restore, replay */
    uint64_t recovery_ns[5];
    /** bytes of other members' images read to compute own parity, and those that were not because nothing had changed */
    uint64_t parity_bytes, parity_spared_bytes;
    uint64_t rollbacks_in_doubt; /**< those because of atomics that may or may not have taken effect */
    uint64_t
        differences; /**< how often a replacement's re-execution was not the one recorded, so that the job rolled back */
    uint64_t locks;  /**< calls of keel_lock() and keel_lock_all() */
    uint64_t replayed_sections; /**< records of critical sections replayed by this process as a replacement */
    uint64_t device_hints;      /**< what network devices of the host announced after which a failure may follow */
    uint64_t suspicions;        /**< how often this process found its neighbour silent for KEEL_HEARTBEAT_TIMEOUT */
    uint64_t false_suspicions;  /**< of these, how often it was heard again before it was dead */
    /** images that this process took because logs were full, of these taken into use, and what it asked others or itself for */
    uint64_t demand_checkpoints, demand_committed, demands;
    uint64_t demand_recoveries; /**< how often this process came back from such an image */
    /** the newest share of parity, from the images being there on; bytes of buffers for it, at most (KEEL_CKPT_TRANSFER). They
     *  are not part of KEEL_CKPT_SIZE: with groups of k ranks and m parities at most (k - m) * 512 KiB, or 32 MiB in bulk. */
    uint64_t transfer_ns, transfer_peak_bytes;
    uint64_t checkpoint_memory; /**< bytes of images and parity held now; at most KEEL_CKPT_SIZE */
    /** newest: what of checkpoint_work_ns is parity, and the bytes that were read and written in it */
    uint64_t checkpoint_parity_ns, checkpoint_parity_bytes;
    /** where keel_restarted() is true: how many window calls have to be repeated yet before keel_restore() */
    uint64_t window_calls_due;
} keel_stats_t;

/**
 * Fills in the statistics of this process. Local: makes no progress, and a death is no matter to it.
 * @param [in]  size  sizeof(*stats_p) where the caller was compiled. Not more is written than that, so a program that was compiled with an older
 *                    keel.h gets what that has; what a newer one has beyond this library is 0.
 * @return KEEL_ERR_INVALID_PARAM for @a stats_p NULL, and a size that is 0 or no multiple of 8.
 */
KEEL_API keel_status_t keel_stats(keel_context_h ctx, keel_stats_t *stats_p, size_t size);

#ifdef __cplusplus
}
#endif

#include <keel/accumulate.h>
#include <keel/attach.h>
#include <keel/groups.h>
#include <keel/signal.h>
#include <keel/strided.h>
#include <keel/winlock.h>

#endif
