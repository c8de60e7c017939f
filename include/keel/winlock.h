/*
 * Keel: locks of one window at one rank, shared or exclusive. Part of <keel/keel.h>, whose conventions hold.
 */
#ifndef KEEL_WINLOCK_H_
#define KEEL_WINLOCK_H_

#include <keel/keel.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum { KEEL_LOCK_SHARED = 1, KEEL_LOCK_EXCLUSIVE, KEEL_LOCK_HOW_LAST } keel_lock_how_t;

/**
 * Takes the lock of @a rank's part of the window: EXCLUSIVE, nobody else has it; SHARED, nobody has it exclusively. It keeps
 * nobody from accessing the memory, and has nothing to do with keel_lock(). What was done under the lock by who gave it up before is
 * there. Blocks until it is free: who wants it exclusively goes ahead of those that come later and want it shared, unless these
 * have waited long; beyond that there is no order. Several may be held at once, across gsyncs too, and are part of the image then; what
 * order avoids deadlock is the program's affair.
 *
 * Until somebody in the job wants one exclusively, a shared lock excludes nobody: it takes a store to own memory. Who is the first to
 * want one exclusively asks each process, and waits until that has given up the shared ones that it holds, of whatever window and rank,
 * or made them locks that others see, in its calls that communicate: one lock at a time, a message each where memory is not mapped. From
 * then on all locks cost a message there, an atomic instruction or two where it is mapped.
 *
 * Death: while there are shared locks only, they do not matter: what was done under them decides what a death costs. What is
 * ordered by an exclusive one no log has, so who takes one mixes, as keel_lock() has it: from then on every death is a rollback, and who
 * holds what is then as in the image. Windows are made and freed
 * meanwhile, but not one of which the caller has something locked (KEEL_ERR_STATE), and keel_finalize() wants nothing locked.
 * @return KEEL_ERR_RANK; KEEL_ERR_UNSUPPORTED for another way to lock; KEEL_ERR_STATE: locked by the caller already, in whatever way, or
 *         in a callback.
 */
KEEL_API keel_status_t keel_win_lock(keel_win_h win, uint32_t rank, keel_lock_how_t how);
/**
 * The same without waiting for others to give it up: KEEL_INPROGRESS when it is not free, after progress was made; a program may call it
 * until it is. Until the first exclusive one is had KEEL_INPROGRESS says, too, that somebody, the caller included, holds shared ones that
 * others do not see yet. What it says needs no record: until then a shared lock is had at once, in each life, and
 * who has wanted an exclusive one has mixed before it is told anything.
 */
KEEL_API keel_status_t keel_win_trylock(keel_win_h win, uint32_t rank, keel_lock_how_t how);
/** Completes all accesses to @a rank and gives the lock up. KEEL_ERR_STATE when the caller does not hold it. */
KEEL_API keel_status_t keel_win_unlock(keel_win_h win, uint32_t rank);
/**
 * The same lock, shared, of all ranks: what MPI's lock_all is, for those that write, too. While there are shared locks only it takes
 * no message, whatever the number of ranks; else as much as one for each rank, in their order.
 * @return KEEL_ERR_STATE: of some rank the caller has it already, or in a callback.
 */
KEEL_API keel_status_t keel_win_lock_all(keel_win_h win);
/** Completes all accesses to all ranks and gives these locks up. KEEL_ERR_STATE without keel_win_lock_all(). */
KEEL_API keel_status_t keel_win_unlock_all(keel_win_h win);

#ifdef __cplusplus
}
#endif
#endif
