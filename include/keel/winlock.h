/*
 * Keel: locks of one window at one rank, shared or exclusive. Part of <keel/keel.h>; its
 * conventions hold.
 */
#ifndef KEEL_WINLOCK_H_
#define KEEL_WINLOCK_H_

#include <keel/keel.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum { KEEL_LOCK_SHARED = 1, KEEL_LOCK_EXCLUSIVE, KEEL_LOCK_HOW_LAST } keel_lock_how_t;

/**
 * Takes the lock of @a rank's part of the window. EXCLUSIVE: no other rank has the lock. SHARED:
 * no other rank has the lock exclusively. Blocks until the lock is free. The effects of the
 * previous holders are visible. The lock prevents no access, and is independent of keel_lock().
 *
 * Fairness: an exclusive request goes ahead of shared requests that come later, unless those have
 * waited for 64 looks, since a holder may wait for them; 32 grants double that number, up to 4096.
 * Otherwise ranks take turns as for keel_lock().
 * Several locks: a rank may hold several locks, across gsyncs too; they are part of the image
 * then. The program chooses an order that avoids deadlock. Windows are made and freed meanwhile,
 * except for a window of which the caller holds a lock (KEEL_ERR_STATE). keel_finalize() requires
 * that no lock is held.
 * Cost: before the first exclusive request in the job, a shared lock is a store to own memory.
 * The first exclusive request asks each process to release its shared locks of all windows and
 * ranks, or to make them visible to others. A process does so in its communicating calls, one
 * lock at a time, with a message each where memory is not mapped. From then on a lock is a
 * message, or an atomic instruction or two on mapped memory.
 *
 * Death: shared locks alone do not matter; the accesses under them decide. The order of exclusive
 * locks is not logged: from the first exclusive request on every death is a rollback, which
 * restores the holders of the image (contrib/doc/reexecution.md, "Calls outside the logs").
 * @return KEEL_ERR_RANK; KEEL_ERR_UNSUPPORTED: no such @a how; KEEL_ERR_STATE: the caller holds
 *         the lock in either way, or is in a callback.
 */
KEEL_API keel_status_t keel_win_lock(keel_win_h win, uint32_t rank, keel_lock_how_t how);
/**
 * keel_win_lock() without waiting for other holders: returns KEEL_INPROGRESS after some progress
 * if the lock is not free. A program may repeat the call. Before the first exclusive lock is
 * granted, KEEL_INPROGRESS may also mean that some rank, the caller included, holds shared locks
 * that are not visible to others yet.
 *
 * Death: the result needs no record. Until then a shared lock is granted at once in each life,
 * and a rank that asks for an exclusive lock has given up local recovery before it gets a result.
 */
KEEL_API keel_status_t keel_win_trylock(keel_win_h win, uint32_t rank, keel_lock_how_t how);
/** Completes all accesses to @a rank and releases the lock. KEEL_ERR_STATE: the caller does not
 *  hold the lock. */
KEEL_API keel_status_t keel_win_unlock(keel_win_h win, uint32_t rank);
/**
 * Takes the shared locks of all ranks: MPI's lock_all, for ranks that write too. Before the first
 * exclusive request the call sends no message, whatever the number of ranks. Later it costs up to
 * a message for each rank, in ascending order.
 * @return KEEL_ERR_STATE: the caller holds a lock of the window, or is in a callback.
 */
KEEL_API keel_status_t keel_win_lock_all(keel_win_h win);
/** Completes all accesses to all ranks and releases these locks. KEEL_ERR_STATE without
 *  keel_win_lock_all(). */
KEEL_API keel_status_t keel_win_unlock_all(keel_win_h win);

#ifdef __cplusplus
}
#endif
#endif
