/*
 * Keel: one-sided communication that survives the death of processes.
 *
 * Headers. This header declares the context: calls to join the job, restore memory and leave. It
 * includes all others: win.h (windows and protected regions), rma.h (accesses), synchronise.h
 * (flushes, waits, locks, gsyncs, checkpoints), stats.h, and the extensions at its end.
 *
 * Units. Offsets and lengths are bytes. Offsets count from the base of a window.
 *
 * Statuses. A call of type keel_status_t returns KEEL_OK or an error. A call's comment names the
 * statuses of its own. Any communicating call may also return:
 *   KEEL_ERR_ROLLED_BACK   the job returns to a checkpoint: call keel_restore() and go on from the
 *                          restored state
 *   KEEL_ERR_CATASTROPHIC  memory is lost; a message names the ranks and groups
 *   KEEL_ERR_ISOLATED      this process was declared dead or is cut off from most of the job, and
 *                          should end
 * The death of a peer is otherwise invisible: the call completes.
 *
 * Progress. Every communicating call notices deaths and takes part in a recovery as soon as there
 * is news of a death, and otherwise every tenth of a second. Calls on the caller's own memory and
 * keel_req_test() do so too. A program may therefore poll with calls that all complete at once. A
 * program that polls its own memory with plain loads races with the puts of others: such a
 * program sets KEEL_PARAM_FLAG_NONDETERMINISTIC and calls keel_progress().
 *
 * Threads. One thread at a time may be inside calls on a context. With KEEL_PARAM_FLAG_THREADS
 * several threads may. A call's comment mentions threads only where it differs.
 *
 * Children. A child of fork() has no part in the job: calls on its parent's context return
 * KEEL_ERR_STATE. Windows mapped by other ranks of the node (KEEL_LANES other than served) are
 * absent in a child, so touching such a window ends the child with SIGSEGV. A child may exit and
 * run other programs.
 *
 * Re-execution. Only windows and protected regions come back after a death. A replacement is a
 * new process that runs main() again and repeats what its predecessor did since the image. After
 * a rollback a survivor continues in its old process. Files, output, clocks, threads and the
 * like: contrib/doc/reexecution.md. What each kind of call costs at a death:
 * contrib/doc/deaths.md.
 *
 * Papers. [F] is Besta and Hoefler, Fault Tolerance for Remote Memory Access Programming Models
 * (HPDC'14).
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

enum keel_params_field {
    KEEL_PARAM_FIELD_FLAGS = KEEL_BIT(0),
    KEEL_PARAM_FIELD_ENV = KEEL_BIT(1),
    KEEL_PARAM_FIELD_SIGNAL = KEEL_BIT(2),
    KEEL_PARAM_FIELD_PROGRESS = KEEL_BIT(3)
};

/** Promises of the program. Rules: contrib/doc/reexecution.md, "Deterministic programs". */
enum keel_params_flags {
    /** The program is not access deterministic [F 3.2.1]. Every death is a rollback and nothing
     *  is logged. Without this flag, a replacement found to differ from its predecessor is an
     *  error message and a rollback. */
    KEEL_PARAM_FLAG_NONDETERMINISTIC = KEEL_BIT(0),
    /** For runtimes: in a rank that held parity keel_init() returns KEEL_ERR_CHECKSUM instead of
     *  ending the process. */
    KEEL_PARAM_FLAG_CHECKSUM_RETURNS = KEEL_BIT(1),
    /** The program calls keel_wait_until(). All ranks set this flag, or none. Without the flag
     *  Keel learns of waits in the phase of the first wait, in which a death is a rollback. */
    KEEL_PARAM_FLAG_WAITS = KEEL_BIT(2),
    /** Several threads may be inside calls at once. All ranks set this flag, or none. Calls take
     *  turns and let other threads in while they wait. Every death is a rollback. No access takes
     *  its fast path. Rules: contrib/doc/reexecution.md, "Threads". */
    KEEL_PARAM_FLAG_THREADS = KEEL_BIT(3),
    /** Gets are polls, as keel_poll(): their values may decide what the program does within a
     *  phase. Implies KEEL_PARAM_FLAG_WAITS. All ranks set this flag, or none. Without the flag,
     *  a program that looks for a value of the same phase by gets alone may look for ever in a
     *  replacement. */
    KEEL_PARAM_FLAG_POLLS = KEEL_BIT(4)
};

typedef struct keel_params {
    uint64_t field_mask;    /**< bits of keel_params_field: the valid fields below */
    uint64_t flags;         /**< bits of keel_params_flags */
    const char *const *env; /**< "NAME=VALUE" strings, NULL at the end; override the environment */
    /** For runtimes that hold all threads of a process: a signal for Keel's own thread to leave
     *  unblocked. */
    int signal;
    /** Progresses the caller's own communication. Every wait inside Keel calls progress again and
     *  again, from the waiting thread, and polls instead of sleeping. progress must not call Keel,
     *  block, or leave by longjmp(). NULL: none. */
    void (*progress)(void *arg);
    void *progress_arg; /**< argument of progress */
} keel_params_t;

/**
 * Joins the job: connects to the runtime (PMIx by default), reads the variables KEEL_* once and
 * meets the other ranks. Collective over the job. Without a launcher the process is a job of one
 * rank.
 *
 * Replacements: the call returns when the survivors have agreed on the recovery.
 * Restart from files: if the folder KEEL_FILE_DIR has a complete checkpoint of an earlier job that
 * was lost or stopped, every rank begins there, and keel_restarted() is true
 * (contrib/doc/files.md).
 * Parity ranks (KEEL_PARITY=dedicated, the last ranks of the job [F 6]): the call serves until
 * the other ranks have left keel_finalize(), then exits the process, with status 0 if the job
 * went well.
 * Spares (the last KEEL_SPARES processes of the launcher): the call waits until a replacement is
 * needed, then returns with the rank of the dead process. If the job ends first, the process
 * exits inside the call with status 0.
 * Both exits stay: such a process has no rank, and a program needs no code for it. An attached
 * process is never ended: it gets KEEL_ERR_CHECKSUM instead of the parity rank's exit, and
 * KEEL_SPARES has no effect (keel_init_attached()).
 * Spawned processes (KEEL_SPAWN): the launcher starts a dead rank's replacement (PMIx_Spawn) with
 * this program, its arguments as they are in memory then, this directory, and the variables
 * KEEL_* and UCX_*.
 *
 * Death: before all ranks have met, the job fails. Afterwards the call waits for the replacement.
 * @param [in]  params  may be NULL.
 * @param [out] ctx_p   the context; freed by keel_finalize().
 * @return KEEL_ERR_INVALID_PARAM, KEEL_ERR_NO_MEMORY, KEEL_ERR_GROUPS, KEEL_ERR_TRANSPORT.
 *         KEEL_ERR_RUNTIME: also if a launcher without PMIx has started several processes
 *         (PMI_SIZE, SLURM_NTASKS). KEEL_ERR_BUDGET: also if the limit of open files (ulimit -n)
 *         is below two for each other rank and about 70 more. KEEL_ERR_STATE: the process has a
 *         context already, or left its job under a launcher (a process joins its job once), or
 *         KEEL_FILE_DIR is in use by another job, or has checkpoints but none that this job can
 *         begin at. KEEL_ERR_IO: KEEL_FILE_DIR cannot be opened.
 */
KEEL_API keel_status_t keel_init(const keel_params_t *params, keel_context_h *ctx_p);

/**
 * Leaves the job with the last gsync [F 2.2]. Collective. Frees all windows and @a ctx. Marks the
 * checkpoints in KEEL_FILE_DIR as ended: no job restarts from them.
 *
 * Nothing is recovered after this call, and a launcher may end the remaining ranks if one dies.
 * Write results and flush output before the call. stdio buffers are flushed when all ranks have
 * arrived.
 * On KEEL_ERR_ROLLED_BACK the context stays: restore, go on, and finalize again.
 *
 * Host process: Keel changes no signal handler, limit, locale or working directory, and not UCX's
 * log level. Its UCX transport sets UCX's HANDLE_ERRORS to none for the whole process, unless
 * UCX_HANDLE_ERRORS is set: a failed assertion of UCX then ends the process at once. After the
 * call Keel's thread has ended and its files are closed. The environment is as before
 * keel_init(), except for variables PMIX_MCA_* that PMIx sets.
 * @return KEEL_ERR_STATE while the caller holds a lock.
 */
KEEL_API keel_status_t keel_finalize(keel_context_h ctx);

/** Exit status of a job that asks keelrun for a new start: for programs that cannot repeat their
 *  start. Keel uses it for a lost job with a checkpoint in KEEL_FILE_DIR. */
#define KEEL_EXIT_AGAIN 75
/** Exit status of a job that has stopped on request, with a checkpoint in files from which the same
 *  command goes on (keel_checkpoint_and_stop(), or SIGTERM to keelrun). */
#define KEEL_EXIT_STOPPED 121

/**
 * Ends the job, all its ranks, from one rank. Does not return. Flushes the caller's output, runs
 * no exit handler and recovers nothing; the other ranks are killed wherever they are. Not for
 * asynchronous signal handlers. In a child of fork() the call ends the child alone.
 *
 * If several ranks call, the first call to reach the launcher decides. keelrun starts a job that
 * ends with KEEL_EXIT_AGAIN again, KEEL_JOB_RESTARTS times (1). Under other launchers
 * PMIx_Abort() decides the status.
 * @param [in] status  status of the job, 0 to 255; 0 ends the job, too.
 */
KEEL_API void keel_abort(keel_context_h ctx, int status) __attribute__((noreturn));

/**
 * keel_abort() with a reason. keelrun prints the first reason that arrives, once a job. Under
 * other launchers each rank that ends the job prints its own.
 * @param [in] reason  a line of text, printed up to 400 bytes; NULL for none.
 */
KEEL_API void keel_abort_because(keel_context_h ctx, int status, const char *reason) __attribute__((noreturn));

/**
 * For a runtime that learns the settings of keel_init() from its program: ends the job as
 * keel_abort() does, and keelrun starts the job again with @a setting in its environment. Does
 * not return on success. KEEL_JOB_RESTARTS does not count this start. Nothing of the job is kept;
 * kills that keelrun was asked for and has not carried out stay scheduled.
 * @param [in] setting  NAME=VALUE, at most 255 bytes.
 * @return KEEL_ERR_STATE: the variable is set already; KEEL_ERR_UNSUPPORTED: another launcher;
 *         KEEL_ERR_INVALID_PARAM.
 */
KEEL_API keel_status_t keel_start_with(keel_context_h ctx, const char *setting);

/** Rank of the caller, 0 to size - 1, the same in each incarnation. UINT32_MAX: @a ctx is NULL. */
KEEL_API uint32_t keel_rank(keel_context_h ctx);
/** Number of ranks that run the program. */
KEEL_API uint32_t keel_size(keel_context_h ctx);
/** Incarnation of the caller: 0 in the first process of a rank, larger in each later process. */
KEEL_API uint32_t keel_incarnation(keel_context_h ctx);
/**
 * Incarnation of @a rank as known to this process; larger than before if the rank died in
 * between. Local. After KEEL_ERR_ROLLED_BACK, and in a replacement after keel_init(), all ranks
 * that go on from there see the same values until the next death. Returns 0 for an unknown rank.
 */
KEEL_API uint32_t keel_rank_incarnation(keel_context_h ctx, uint32_t rank);

/** The ranks of a job that goes on without some (KEEL_SHRINK). New fields come at the end: the
 *  caller passes the size of the structure. */
typedef struct keel_world {
    /** 0: every rank is there; else the number of the rollback with which the present ranks went
     *  on, the same at all of them; grows */
    uint32_t epoch;
    /** number of ranks, and their numbers, ascending */
    uint32_t size;
    const uint32_t *ranks;
    /** number of gone ranks, and their numbers in the order in which they went */
    uint32_t gone_size;
    const uint32_t *gone;
} keel_world_t;

/**
 * The ranks that the job goes on with, and the gone ranks: dead, without a replacement, now and
 * later. Ranks keep their numbers, and keel_size() its value. A gone rank has no windows: accesses
 * and locks of that rank return KEEL_ERR_RANK. Nothing ends a wait for a word that only a gone rank
 * would have changed.
 * When a rank is gone the calls of the others return KEEL_ERR_ROLLED_BACK. After keel_restore()
 * these ranks have passed the same gsyncs and see the same world. Memory, windows and locks are
 * those of the newest checkpoint, without locks of the gone. With KEEL_PROTECT=none windows are
 * those of the last gsync, memory is as at the death, no lock is held: contrib/doc/shrinking.md.
 * Local. The arrays stay valid until the next keel_restore().
 * @param [in] size  sizeof(keel_world_t).
 * @return KEEL_ERR_ROLLED_BACK: call keel_restore() first; KEEL_ERR_INVALID_PARAM;
 *         KEEL_ERR_NO_MEMORY.
 */
KEEL_API keel_status_t keel_world(keel_context_h ctx, keel_world_t *world, size_t size);

/**
 * True if the program must call keel_restore(): in a replacement, after KEEL_ERR_ROLLED_BACK, and
 * after a restart from files (KEEL_FILE_DIR).
 * The program's start ends when the call first returns false, or at the first access. Windows
 * made later are not part of generation 0. All ranks therefore call it at the same place.
 */
KEEL_API int keel_restarted(keel_context_h ctx);

/**
 * Copies the newest usable image into the windows and protected regions and sets the position of
 * this rank. Afterwards the program continues from its protected state. Collective after a
 * rollback, local in a replacement. After a shrink (keel_world()) with KEEL_PROTECT=none memory
 * stays as it is, and no window has to be made again.
 *
 * Generation 0 is the program's start. Its windows hold their first contents (zeros by default),
 * its protected regions what they held at keel_protect().
 * Precondition: all windows of the image are made and all regions protected, in the order and
 * with the sizes of the first life; windows freed before the image are made and freed again. How
 * a program repeats its window calls: contrib/doc/reexecution.md, "Window calls".
 * @return KEEL_ERR_STATE: nothing to restore, or a window or region is missing; KEEL_ERR_CORRUPT.
 */
KEEL_API keel_status_t keel_restore(keel_context_h ctx);

/**
 * Reads a part of the image that keel_restore() is about to copy into the caller's part of a
 * window. For a replacement, before keel_restore(), that needs some of its data earlier or writes
 * to the window at its start. Other ranks wait meanwhile. The call costs as much as rebuilding
 * the image. A further death may change the generation before keel_restore(), which restores the
 * generation in use then.
 * @param [in]  offset, length  bytes within one extent of the image (keel_win_extents()).
 * @param [out] buffer          @a length bytes.
 * @return KEEL_ERR_STATE: nothing to restore, or generation 0, which has no image;
 *         KEEL_ERR_RANGE; KEEL_ERR_CORRUPT. Never KEEL_ERR_ROLLED_BACK.
 */
KEEL_API keel_status_t keel_image_get(keel_win_h win, uint64_t offset, void *buffer, size_t length);

/**
 * Rolls the job back: for a program that finds its own data wrong. Discards the work of all ranks
 * since the newest checkpoint. Local: the other ranks learn of the rollback from their calls.
 * @return KEEL_ERR_ROLLED_BACK: call keel_restore(). KEEL_ERR_STATE: no rollback is possible
 *         (KEEL_PROTECT=none), and the job goes on as before.
 */
KEEL_API keel_status_t keel_rollback(keel_context_h ctx);

/**
 * Marks the place where the program continues after a rollback. Calls jump there instead of
 * returning KEEL_ERR_ROLLED_BACK. The program then asks keel_restarted() and calls
 * keel_restore(), as a replacement does. Used as an expression statement:
 *
 *     KEEL_RESTART_POINT(ctx);
 *     if (keel_restarted(ctx)) {
 *         keel_restore(ctx);
 *     }
 *
 * The rules of setjmp() hold. The function must not return while the point is set. Local
 * variables that changed since are lost unless protected or volatile. No jump leaves a callback,
 * keel_restore(), or a thread that did not set the point.
 */
#define KEEL_RESTART_POINT(_ctx) (void)setjmp(*keel_restart_buffer(_ctx))

/** The buffer of KEEL_RESTART_POINT(). With @a ctx NULL the call prints an error, and sets no
 *  restart point. */
KEEL_API jmp_buf *keel_restart_buffer(keel_context_h ctx);
/** Clears the restart point: calls return KEEL_ERR_ROLLED_BACK again. */
KEEL_API void keel_restart_clear(keel_context_h ctx);

/** Progresses communication, sends puts that are not flushed yet, and takes part in recovery.
 *  Never blocks. */
KEEL_API keel_status_t keel_progress(keel_context_h ctx);

/**
 * Declares that the program is no longer deterministic, for example before plain loads of memory
 * that others put to, or before a clock decides what comes next. Every later death is a rollback,
 * as with KEEL_PARAM_FLAG_NONDETERMINISTIC. One rank may call, before its first such action; each
 * other rank receives a message. Further calls do nothing.
 *
 * Death: if a rank is or may be re-executing, the call rolls the job back first
 * (KEEL_ERR_ROLLED_BACK).
 */
KEEL_API keel_status_t keel_set_nondeterministic(keel_context_h ctx);

#ifdef __cplusplus
}
#endif

#include <keel/rma.h>
#include <keel/stats.h>
#include <keel/synchronise.h>
#include <keel/win.h>

#include <keel/accumulate.h>
#include <keel/attach.h>
#include <keel/groups.h>
#include <keel/signal.h>
#include <keel/store.h>
#include <keel/strided.h>
#include <keel/winlock.h>

#endif
