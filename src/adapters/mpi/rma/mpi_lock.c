/*
 * Locks of windows: one word per member, in the arena of the member (mpi_lock_word.h). Under
 * MPI_Win_lock_all the word of a member is taken at the first access to the member, so an unused
 * lock costs nothing. The record of held locks lies in the arena as the words do, so a rollback
 * restores both.
 *
 * Death of a waiting rank. The word keeps counting the rank. Without deterministic mode the job
 * rolls back, and the word with it: no rank waits at a checkpoint. In deterministic mode the
 * replacement re-executes the wait, and Keel applies each addition once. Until then the others wait
 * for the rank's turn, except readers, which overtake. Looks are counted and not timed, so the
 * replacement takes the same path.
 */
#include "life/mpi_startup.h"
#include "mpi_arena.h"
#include "p2p/mpi_channel.h"
#include "p2p/mpi_synchronous.h"
#include "rma/mpi_direct.h"
#include "rma/mpi_lock_word.h"
#include "rma/mpi_window.h"

enum { FLUSH_INTERVAL = 4 };

static uint8_t *held_of(const keel_mpi_win_t *win, uint32_t target)
{
    return &keel_mpi_win_access(win)->held[target];
}

static uint32_t home_of(const keel_mpi_win_t *win, uint32_t target)
{
    return (uint32_t)win->places[target].home;
}

static uint64_t word_of(const keel_mpi_win_t *win, uint32_t target)
{
    return win->places[target].guard + offsetof(keel_mpi_guard_t, lock);
}

static uint64_t word_add(const keel_mpi_win_t *win, uint32_t target, uint64_t operand, const char *call)
{
    keel_mpi_guard_t *guard = keel_mpi_direct_guard(win, target);
    uint64_t was = 0;

    if (guard == NULL) {
        keel_mpi_atomic(KEEL_ATOMIC_ADD, home_of(win, target), word_of(win, target), sizeof(was), operand, 0, &was,
                        call);
        return was;
    }
    was = __atomic_fetch_add(&guard->lock, operand, __ATOMIC_SEQ_CST);
    keel_mpi_startup_result(&was, sizeof(was));
    return was;
}

/* Replaces the word if its value is expected. Returns the value before. */
static uint64_t word_swap(const keel_mpi_win_t *win, uint32_t target, uint64_t expected, uint64_t value,
                          const char *call)
{
    keel_mpi_guard_t *guard = keel_mpi_direct_guard(win, target);
    uint64_t was = expected;

    if (guard == NULL) {
        keel_mpi_atomic(KEEL_ATOMIC_CSWAP, home_of(win, target), word_of(win, target), sizeof(was), value, expected,
                        &was, call);
        return was;
    }
    __atomic_compare_exchange_n(&guard->lock, &was, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    keel_mpi_startup_result(&was, sizeof(was));
    return was;
}

static uint64_t word_get(const keel_mpi_win_t *win, uint32_t target, const char *call)
{
    uint64_t is = 0;

    keel_mpi_get(home_of(win, target), word_of(win, target), &is, sizeof(is), call);
    return is;
}

/* Waits for the lock. @a word: the value after the rank counted itself as waiting. */
static void await_turn(const keel_mpi_win_t *win, uint32_t target, uint64_t word, int is_shared, const char *call)
{
    int has_entered = 0;

    keel_mpi_synchronous_enter(KEEL_MPI_ANY_RANK, call);
    for (unsigned looks = 0; !has_entered; looks++) {
        const uint64_t next = is_shared ? keel_mpi_lock_step_reader(word, looks) : keel_mpi_lock_step_writer(word);

        if (next != word) {
            const uint64_t was = word_swap(win, target, word, next, call);

            has_entered = was == word && ((next & KEEL_MPI_LOCK_OWNED) == 0) == is_shared;
        }
        if (!has_entered) {
            keel_mpi_channel_yield(call);
            word = word_get(win, target, call);
        }
    }
    keel_mpi_synchronous_leave();
}

static void acquire_shared(const keel_mpi_win_t *win, uint32_t target, const char *call)
{
    const uint64_t waits = KEEL_MPI_LOCK_READER - KEEL_MPI_LOCK_SHARE;

    if (!keel_mpi_lock_is_open(word_add(win, target, KEEL_MPI_LOCK_SHARE, call))) {
        await_turn(win, target, word_add(win, target, waits, call) + waits, 1, call);
    }
}

static void acquire_exclusive(const keel_mpi_win_t *win, uint32_t target, const char *call)
{
    if (word_swap(win, target, 0, KEEL_MPI_LOCK_OWNED, call) != 0) {
        (void)word_add(win, target, KEEL_MPI_LOCK_WRITER, call);
        /* the caller may have just released the lock: others go first */
        keel_mpi_channel_yield(call);
        await_turn(win, target, word_get(win, target, call), 0, call);
    }
}

static void release(const keel_mpi_win_t *win, uint32_t target, const char *call)
{
    const uint8_t held = *held_of(win, target);
    const uint64_t minus = (held == KEEL_MPI_HELD_EXCLUSIVE) ? -KEEL_MPI_LOCK_OWNED : -KEEL_MPI_LOCK_SHARE;
    keel_mpi_guard_t *guard = keel_mpi_direct_guard(win, target);

    if (held != KEEL_MPI_HELD_EXCLUSIVE && held != KEEL_MPI_HELD_SHARED) {
        /* no other rank knows of the lock */
    } else if (guard != NULL) {
        __atomic_fetch_add(&guard->lock, minus, __ATOMIC_SEQ_CST);
    } else {
        keel_mpi_atomic(KEEL_ATOMIC_ADD, home_of(win, target), word_of(win, target), sizeof(minus), minus, 0, NULL,
                        call);
        keel_mpi_flush(home_of(win, target), call);
    }
    *held_of(win, target) = KEEL_MPI_HELD_NONE;
}

void keel_mpi_lock_ensure(keel_mpi_win_t *win, uint32_t target, const char *call)
{
    if (*held_of(win, target) == KEEL_MPI_HELD_LAZY) {
        acquire_shared(win, target, call);
        *held_of(win, target) = KEEL_MPI_HELD_SHARED;
    }
}

/* ---- completion ---- */

/*
 * Stores to mapped memory are complete at once, and such a window has no other accesses under way.
 * Keel is therefore asked, for the sake of deaths, only in one of FLUSH_INTERVAL flushes.
 */
static void complete(const keel_mpi_win_t *win, uint32_t target, const char *call)
{
    static unsigned flushes;

    if (win->is_mapped && ++flushes % FLUSH_INTERVAL != 0) {
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
    } else {
        keel_mpi_flush(home_of(win, target), call);
    }
}

/* ---- calls ---- */

int MPI_Win_lock(int lock_type, int rank, int assert, MPI_Win win)
{
    uint32_t target;
    KEEL_MPI_WIN(win_ptr, win, "MPI_Win_lock")

    if (rank == MPI_PROC_NULL) {
        return MPI_SUCCESS;
    }
    if (lock_type != MPI_LOCK_SHARED && lock_type != MPI_LOCK_EXCLUSIVE) {
        return keel_mpi_raise_win(win, MPI_ERR_LOCKTYPE, "MPI_Win_lock", "no type of lock");
    }
    if (rank < 0 || (uint32_t)rank >= win_ptr->comm->size) {
        return keel_mpi_raise_win(win, MPI_ERR_RANK, "MPI_Win_lock", "no rank of the window");
    }
    target = (uint32_t)rank;
    if (!keel_mpi_win_leaves_fence(win_ptr)) {
        return keel_mpi_raise_win(win, MPI_ERR_RMA_SYNC, "MPI_Win_lock", "amid an epoch of another kind");
    }
    if (*held_of(win_ptr, target) != KEEL_MPI_HELD_NONE || keel_mpi_win_access(win_ptr)->is_all) {
        return keel_mpi_raise_win(win, MPI_ERR_RMA_SYNC, "MPI_Win_lock", "the caller has it locked already");
    }
    if (assert & MPI_MODE_NOCHECK) {
        *held_of(win_ptr, target) = KEEL_MPI_HELD_UNCHECKED;
    } else if (lock_type == MPI_LOCK_SHARED) {
        acquire_shared(win_ptr, target, "MPI_Win_lock");
        *held_of(win_ptr, target) = KEEL_MPI_HELD_SHARED;
    } else {
        acquire_exclusive(win_ptr, target, "MPI_Win_lock");
        *held_of(win_ptr, target) = KEEL_MPI_HELD_EXCLUSIVE;
    }
    keel_mpi_win_access(win_ptr)->locks++;
    return MPI_SUCCESS;
}

int MPI_Win_unlock(int rank, MPI_Win win)
{
    KEEL_MPI_WIN(win_ptr, win, "MPI_Win_unlock")

    if (rank == MPI_PROC_NULL) {
        return MPI_SUCCESS;
    }
    if (rank < 0 || (uint32_t)rank >= win_ptr->comm->size) {
        return keel_mpi_raise_win(win, MPI_ERR_RANK, "MPI_Win_unlock", "no rank of the window");
    }
    if (*held_of(win_ptr, (uint32_t)rank) == KEEL_MPI_HELD_NONE || keel_mpi_win_access(win_ptr)->is_all) {
        return keel_mpi_raise_win(win, MPI_ERR_RMA_SYNC, "MPI_Win_unlock", "the caller does not have it locked");
    }
    complete(win_ptr, (uint32_t)rank, "MPI_Win_unlock");
    release(win_ptr, (uint32_t)rank, "MPI_Win_unlock");
    keel_mpi_win_access(win_ptr)->locks--;
    keel_mpi_channel_poll_some("MPI_Win_unlock");
    return MPI_SUCCESS;
}

int MPI_Win_lock_all(int assert, MPI_Win win)
{
    KEEL_MPI_WIN(win_ptr, win, "MPI_Win_lock_all")

    if (keel_mpi_win_access(win_ptr)->is_all || keel_mpi_win_access(win_ptr)->locks > 0) {
        return keel_mpi_raise_win(win, MPI_ERR_RMA_SYNC, "MPI_Win_lock_all",
                                  "the caller has some of it locked already");
    }
    if (!keel_mpi_win_leaves_fence(win_ptr)) {
        return keel_mpi_raise_win(win, MPI_ERR_RMA_SYNC, "MPI_Win_lock_all", "amid an epoch of another kind");
    }
    for (uint32_t i = 0; i < win_ptr->comm->size; i++) {
        *held_of(win_ptr, i) = (assert &MPI_MODE_NOCHECK) ? KEEL_MPI_HELD_UNCHECKED : KEEL_MPI_HELD_LAZY;
    }
    keel_mpi_win_access(win_ptr)->is_all = 1;
    /* own memory is accessed without a call */
    keel_mpi_lock_ensure(win_ptr, win_ptr->comm->rank, "MPI_Win_lock_all");
    return MPI_SUCCESS;
}

int MPI_Win_unlock_all(MPI_Win win)
{
    KEEL_MPI_WIN(win_ptr, win, "MPI_Win_unlock_all")

    if (!keel_mpi_win_access(win_ptr)->is_all) {
        return keel_mpi_raise_win(win, MPI_ERR_RMA_SYNC, "MPI_Win_unlock_all", "the caller has not locked all");
    }
    keel_mpi_flush_all("MPI_Win_unlock_all");
    for (uint32_t i = 0; i < win_ptr->comm->size; i++) {
        release(win_ptr, i, "MPI_Win_unlock_all");
    }
    keel_mpi_win_access(win_ptr)->is_all = 0;
    keel_mpi_channel_poll_some("MPI_Win_unlock_all");
    return MPI_SUCCESS;
}

/* ---- flushes ---- */

static int flush(int rank, MPI_Win win, const char *call)
{
    KEEL_MPI_WIN(win_ptr, win, call)

    if (rank == MPI_PROC_NULL) {
        return MPI_SUCCESS;
    }
    if (rank < 0 || (uint32_t)rank >= win_ptr->comm->size) {
        return keel_mpi_raise_win(win, MPI_ERR_RANK, call, "no rank of the window");
    }
    if (*held_of(win_ptr, (uint32_t)rank) == KEEL_MPI_HELD_NONE) {
        return keel_mpi_raise_win(win, MPI_ERR_RMA_SYNC, call, "the caller does not have it locked");
    }
    complete(win_ptr, (uint32_t)rank, call);
    keel_mpi_channel_poll_some(call); /* a program may use only this call to poll */
    return MPI_SUCCESS;
}

int MPI_Win_flush(int rank, MPI_Win win)
{
    return flush(rank, win, "MPI_Win_flush");
}

int MPI_Win_flush_local(int rank, MPI_Win win)
{
    return flush(rank, win, "MPI_Win_flush_local");
}

static int flush_all(MPI_Win win, const char *call)
{
    KEEL_MPI_WIN(win_ptr, win, call)

    if (!keel_mpi_win_access(win_ptr)->is_all && keel_mpi_win_access(win_ptr)->locks == 0) {
        return keel_mpi_raise_win(win, MPI_ERR_RMA_SYNC, call, "the caller has nothing of it locked");
    }
    keel_mpi_flush_all(call);
    keel_mpi_channel_poll_some(call); /* a program may use only this call to poll */
    return MPI_SUCCESS;
}

int MPI_Win_flush_all(MPI_Win win)
{
    return flush_all(win, "MPI_Win_flush_all");
}

int MPI_Win_flush_local_all(MPI_Win win)
{
    return flush_all(win, "MPI_Win_flush_local_all");
}

int MPI_Win_sync(MPI_Win win)
{
    KEEL_MPI_WIN(win_ptr, win, "MPI_Win_sync")

    (void)win_ptr;
    /* orders own accesses against puts of other ranks */
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    /* a program may use only this call to poll */
    keel_mpi_channel_progress_or_yield("MPI_Win_sync");
    return MPI_SUCCESS;
}
