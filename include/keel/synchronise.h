/*
 * Keel: flushes, waits for values, locks, gsyncs and checkpoints. Part of <keel/keel.h>; its
 * conventions hold. Locks of one window are in winlock.h.
 */
#ifndef KEEL_SYNCHRONISE_H_
#define KEEL_SYNCHRONISE_H_

#include <keel/def.h>
#include <keel/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Completes all accesses to @a rank, locally and at the target, and closes the epoch towards the
 *  rank (EC + 1) [F 2.2]. */
KEEL_API keel_status_t keel_flush(keel_context_h ctx, uint32_t rank);
/** keel_flush() for all ranks. */
KEEL_API keel_status_t keel_flush_all(keel_context_h ctx);
/** Orders earlier accesses before later accesses, for each target. Completes gets and fetched
 *  values alone. */
KEEL_API keel_status_t keel_fence(keel_context_h ctx);

/** Comparisons of a word with a value: word OP value. Unsigned, unless the name says
 *  otherwise. */
typedef enum {
    KEEL_COMPARE_EQ,
    KEEL_COMPARE_NE,
    KEEL_COMPARE_GT,
    KEEL_COMPARE_GE,
    KEEL_COMPARE_LT,
    KEEL_COMPARE_LE,
    KEEL_COMPARE_GT_SIGNED, /**< word and value in two's complement; EQ and NE serve both */
    KEEL_COMPARE_GE_SIGNED,
    KEEL_COMPARE_LT_SIGNED,
    KEEL_COMPARE_LE_SIGNED,
    KEEL_COMPARE_ANY_BIT,  /**< the word has some bit of value set */
    KEEL_COMPARE_ALL_BITS, /**< the word has all bits of value set */
    KEEL_COMPARE_NO_BIT,   /**< the word has no bit of value set */
    KEEL_COMPARE_LAST
} keel_compare_t;

/**
 * Waits until a word of the caller's own window satisfies the comparison with @a value. A put or
 * atomic of another rank in the same phase must bring the value about. Puts that the same rank
 * issued earlier, with a flush or fence in between, are visible too. Inside a phase a program reads
 * its own memory by calls alone: keel_wait_until(), keel_wait(), keel_test(), and gets from
 * its own rank.
 *
 * Death: waits are not logged. With comparisons other than KEEL_COMPARE_EQ a replacement may
 * continue with an older value than its predecessor saw. A program that uses the value itself
 * takes the value from keel_wait() (.seen), or from a get after the wait. A wait for a dead rank
 * waits for its replacement. The job rolls back (KEEL_ERR_ROLLED_BACK) if several ranks are lost
 * at once, for a death in the phase of the program's first wait without KEEL_PARAM_FLAG_WAITS,
 * and for atomics as in keel_atomic_nbx(). Rules: contrib/doc/reexecution.md, "Values within a
 * phase".
 * @param [in] offset  of the word, aligned to its size.
 * @param [in] size    of the word: 1, 2, 4 or 8 bytes.
 * @param [in] value   its low @a size bytes count; a negative value may be sign-extended or not.
 * @return KEEL_ERR_RANGE, KEEL_ERR_ALIGNMENT; KEEL_ERR_UNSUPPORTED: another size or comparison.
 */
KEEL_API keel_status_t keel_wait_until(keel_win_h win, uint64_t offset, size_t size, keel_compare_t compare,
                                       uint64_t value);

/** A condition on a word of the caller's own memory; fields as the parameters of
 *  keel_wait_until(). Programs make arrays of this struct, so no field is ever added. */
typedef struct keel_word {
    keel_win_h win; /**< NULL: left out */
    uint64_t offset;
    size_t size; /**< 1, 2, 4 or 8 bytes */
    keel_compare_t compare;
    uint64_t value;
    uint64_t seen; /**< [out] the word when the condition was met, or at the last look */
    int is_met;    /**< [out] the comparison was true */
} keel_word_t;

typedef enum {
    KEEL_WAIT_ALL, /**< each condition has been true once, not necessarily all at one time */
    KEEL_WAIT_ANY, /**< at least one condition; all true conditions are marked then */
    KEEL_WAIT_LAST
} keel_wait_for_t;

/**
 * Waits until conditions on words are met. The words may be of several windows. Puts that another
 * rank issued before changing such a word, with a flush or fence in between, are visible too.
 * Returns at once if all words are left out.
 *
 * Death: as for keel_wait_until(). The result (which words came first, and their values) is
 * logged at another rank before the program's next visible action, on one node by stores,
 * otherwise in a round trip. A replacement gets the same result. The result of a call with more
 * words than a log record holds (some thousands) is not logged: every later death is a rollback
 * (contrib/doc/reexecution.md, "Calls outside the logs").
 * @param [in]     how    all of the conditions, or any.
 * @param [in,out] words  array of @a count conditions.
 * @param [out]    met_p  number of conditions met; may be NULL.
 * @return KEEL_ERR_RANGE, KEEL_ERR_ALIGNMENT, KEEL_ERR_INVALID_PARAM; KEEL_ERR_UNSUPPORTED:
 *         another size, comparison or @a how.
 */
KEEL_API keel_status_t keel_wait(keel_context_h ctx, keel_wait_for_t how, keel_word_t *words, unsigned count,
                                 unsigned *met_p);
/**
 * keel_wait() without waiting: returns KEEL_INPROGRESS after some progress if the conditions are
 * not met. A program may call until they are. Equal results of repeated calls on equal words
 * share a log record.
 */
KEEL_API keel_status_t keel_test(keel_context_h ctx, keel_wait_for_t how, keel_word_t *words, unsigned count,
                                 unsigned *met_p);

/**
 * Takes the exclusive lock of @a rank's memory, of all its windows [F 2.2]. Until keel_unlock()
 * no other rank holds the lock, for writing or reading. Blocks until the lock is free. A rank may
 * hold the locks of several ranks; the program chooses an order that avoids deadlock.
 *
 * Fairness: waiting ranks take turns. In a job of n ranks at most 64 + n - 1 grants to others come
 * first, as long as the rank gets a core: after 4,096 looks of another rank the wait begins again.
 * Reading of own memory under keel_lock_all() is not counted.
 *
 * Death: a dead process keeps its locks, and its replacement comes back inside the critical
 * section. The lock of a dead rank is waited for. Critical sections are replayed in their order
 * [F algorithm 3]. If several ranks are lost at once, the job rolls back. Programs that lock for
 * every access are recovered locally. Other programs may lock too, but pay with rollbacks
 * (contrib/doc/reexecution.md, "Locks"). In a rank's first call outside the locking rules the
 * rank sends a message to every other rank. If another rank died shortly before, the call itself
 * rolls the job back (KEEL_ERR_ROLLED_BACK). KEEL_PARAM_FLAG_NONDETERMINISTIC spares both.
 * @return KEEL_ERR_RANK; KEEL_ERR_STATE: the caller holds the lock; KEEL_ERR_LIMIT: the lock of
 *         this rank was taken 2^42 - 1 times (30 hours at 25 ns each) and cannot be taken again;
 *         all other calls work.
 */
KEEL_API keel_status_t keel_lock(keel_context_h ctx, uint32_t rank);
/** Completes all accesses to @a rank and releases its lock. KEEL_ERR_STATE: the caller does not
 *  hold the lock. */
KEEL_API keel_status_t keel_unlock(keel_context_h ctx, uint32_t rank);

/**
 * Takes the shared locks of all ranks: until keel_unlock_all() no rank holds an exclusive lock.
 * Locks in ascending order, so the caller takes its turn among writers that lock several ranks in
 * that order.
 *
 * Death: a reading epoch, with gets from others and loads from own windows alone, is recovered
 * like a critical section. With puts and atomics in the epoch, as in MPI programs, every later
 * death is a rollback (contrib/doc/reexecution.md, "Locks"). Use keel_win_lock_all() for those.
 * @return KEEL_ERR_STATE: the caller holds a lock; otherwise as keel_lock().
 */
KEEL_API keel_status_t keel_lock_all(keel_context_h ctx);
/** Ends the reading epoch. KEEL_ERR_STATE outside of a reading epoch. */
KEEL_API keel_status_t keel_unlock_all(keel_context_h ctx);

enum keel_gsync_flags {
    /**
     * A checkpoint may be taken here: all state is in windows and protected regions. The state
     * must lead to the next call: a restored rank continues from the state and does not repeat
     * calls between this gsync and the end of the loop body. The same on every rank. Rules:
     * contrib/doc/reexecution.md, "Where a restored process goes on".
     */
    KEEL_GSYNC_SAFE = KEEL_BIT(0)
};

/**
 * Closes every epoch and waits for all ranks [F 2.2]. May take a coordinated checkpoint if safe.
 * Collective.
 *
 * Checkpoints: with KEEL_CKPT_INTERVAL=daly, the default, the first safe gsync takes the first
 * checkpoint, and later ones follow at intervals computed from its cost
 * (contrib/doc/configuration.md, "When a checkpoint is taken").
 *
 * Logs: a message appears once if half of a rank's log (KEEL_OPLOG_SIZE, KEEL_GETLOG_SIZE) is in
 * use and the program has come to no safe gsync, keel_checkpoint() or keel_safe_point().
 * Limits: a job has 4,294,963,199 gsyncs, window calls and checkpoints (which count twice). Rank
 * 0 prints a message when 2^28 of them are left. Each such call after the last returns
 * KEEL_ERR_LIMIT at once, on all ranks alike, without effect; all other calls, and
 * keel_finalize(), still work. A phase (between two gsyncs) may have any number of accesses and
 * waits; after the 2^32nd access of a pair of ranks a death is a rollback until a later
 * checkpoint is in use.
 * @param [in] flags  bits of keel_gsync_flags.
 * @return KEEL_ERR_STATE, here as from every collective call: rank 0 is in another call or gave
 *         other flags. Ranks that differ from rank 0 get this status. They should end the job,
 *         since the other ranks may be waiting for them.
 */
KEEL_API keel_status_t keel_gsync(keel_context_h ctx, unsigned flags);

/**
 * A safe gsync with a coordinated checkpoint [F 6.1], then a gsync that puts the checkpoint into
 * use. Collective. keel_stats() has the generation in use.
 *
 * The call takes no checkpoint while a checkpoint begun by KEEL_CKPT_INTERVAL is incomplete, or
 * if the image exceeds KEEL_CKPT_SIZE (with a message).
 * Death: if a death aborts the checkpoint, the previous checkpoint stays in use, the call
 * completes, and the next safe gsync takes a new checkpoint.
 */
KEEL_API keel_status_t keel_checkpoint(keel_context_h ctx);

/**
 * Asks for the end of the job: the next safe gsync, keel_checkpoint() or stop takes a checkpoint,
 * and when the checkpoint is complete in KEEL_FILE_DIR the job ends with status KEEL_EXIT_STOPPED.
 * The same command then goes on from there (contrib/doc/files.md). Not collective, any rank calls
 * it. The call only makes the file "stop" in the folder; the program goes on until the end comes.
 * If the program reaches keel_finalize() first the job ends as usual. If the files cannot be
 * written the job goes on, with a message, and the next checkpoint tries again. If the files are
 * not complete within KEEL_FILE_STOP_WITHIN (60s) of the call, the job ends with status 143 and
 * without a checkpoint of this request. Rank 0 looks at that time in its calls, this one included.
 * The call itself waits for the file system.
 *
 * Death: a dead rank is recovered as ever, and the request stays; a replacement of rank 0 begins
 * the time anew. A job that is lost as a whole before its end goes on from its newest checkpoint,
 * and the request is gone.
 * @return KEEL_ERR_STATE: no KEEL_FILE_DIR. KEEL_ERR_IO: the folder cannot be written to.
 */
KEEL_API keel_status_t keel_checkpoint_and_stop(keel_context_h ctx);

/**
 * A safe point between collective calls, for a program that locks [F 3.1.2, "Locks"]. All state
 * of this rank is in windows and protected regions, as at a gsync with KEEL_GSYNC_SAFE, and this
 * rank holds no lock, of ranks or of windows (keel_win_lock()). A restored rank continues after
 * the call. Each rank calls it anywhere and any number of times, best between any two critical
 * sections. Cost: some loads, and on rank 0 a look at the clock.
 *
 * Checkpoints: when a checkpoint is due, rank 0 begins a stop in its call. The stop completes all
 * accesses, waits until every rank is at a safe point, a safe gsync or keel_checkpoint(), takes
 * an image of all ranks and puts the image into use. A checkpoint is due by KEEL_CKPT_INTERVAL
 * (which counts calls of rank 0 if given in gsyncs), or when logs exceed KEEL_OPLOG_SOFT.
 * Collective calls: a rank that waits in a safe gsync or in keel_checkpoint() takes part in
 * stops. Other collective calls, keel_finalize() among them, have no safe point: no stop begins
 * while a rank waits there, and a stop that a rank meets there ends without an image. A rank that
 * finishes early should therefore wait for the others in a safe gsync.
 * Deadlock: no rank holds a lock in a stop, so waits for locks end. But a rank must not wait in
 * another way, by keel_wait_until() or in a loop of looks, for an action of another rank after
 * its safe point, unless the waiting rank calls keel_safe_point() in between.
 *
 * Threads: in a stop, as for a gsync.
 * Death: during a stop, after its first gsync and before its image is in use, a death is a
 * rollback to the previous image. At other times as in any gsync.
 * @return KEEL_ERR_STATE: the caller holds a lock, or is in a callback.
 */
KEEL_API keel_status_t keel_safe_point(keel_context_h ctx);

#ifdef __cplusplus
}
#endif
#endif
