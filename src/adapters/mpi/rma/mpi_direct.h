/*
 * Direct access to mapped memory of other ranks, by loads and stores without a call of Keel. Never
 * in deterministic mode, since no log has these stores.
 */
#ifndef KEEL_MPI_DIRECT_H_
#define KEEL_MPI_DIRECT_H_

#include "rma/mpi_window.h"

#include <string.h>

enum { KEEL_MPI_COPY_CHUNK = 128 << 10 };

/* Barrier of a window that all members have mapped; each member's arena has an instance. */
typedef struct keel_mpi_barrier {
    uint64_t entered;     /* barriers that this member has entered */
    uint64_t arrived[32]; /* count of the member 1, 2, 4, ... places before, put by that member */
    uint64_t core;        /* of this member in its last barrier (mpi_spin.h) */
} keel_mpi_barrier_t;

/* Address of a rank's arena. NULL: not mapped, or the rank is replaying its startup; then go
 * through Keel. */
static inline char *keel_mpi_direct(uint32_t rank)
{
    return (keel_mpi.direct != NULL && keel_mpi.phase != KEEL_MPI_REPLAYS) ? keel_mpi.direct[rank] : NULL;
}

/* The guard of a member, if all members have the window mapped. NULL: go through Keel. */
static inline keel_mpi_guard_t *keel_mpi_direct_guard(const keel_mpi_win_t *win, uint32_t member)
{
    char *arena = win->is_mapped ? keel_mpi_direct((uint32_t)win->places[member].home) : NULL;

    return (arena == NULL) ? NULL : (keel_mpi_guard_t *)(arena + win->places[member].guard);
}

/* Looks up the current addresses of the members' arenas; true if all arenas are mapped. */
int keel_mpi_direct_refresh(const keel_mpi_comm_t *comm, const char *call);
/* Finds the rank with these bytes in its arena, among other ranks' arenas mapped here; false:
 * none. */
int keel_mpi_direct_find(const void *address, size_t bytes, uint32_t *rank_p, uint64_t *offset_p, const char *call);
void keel_mpi_direct_unmake(void);

/* As memmove(). Copies chunk by chunk: memmove() is a quarter slower from the size of the
 * second-level cache on. */
void keel_mpi_direct_copy_parts(char *to, const char *from, size_t bytes);
static inline void keel_mpi_direct_copy(char *to, const char *from, size_t bytes)
{
    if (bytes == sizeof(uint64_t)) {
        memcpy(to, from, sizeof(uint64_t)); /* one load and one store, without a call */
    } else if (bytes <= KEEL_MPI_COPY_CHUNK) {
        memmove(to, from, bytes);
    } else {
        keel_mpi_direct_copy_parts(to, from, bytes);
    }
}

/* Returns when all members of the window have entered; all members must have the window mapped. */
void keel_mpi_direct_barrier(const keel_mpi_win_t *win, const char *call);
/* Lock and unlock the word of the target's window for accumulates. */
void keel_mpi_direct_lock(uint64_t *word, const char *call);
static inline void keel_mpi_direct_unlock(uint64_t *word)
{
    __atomic_store_n(word, 0, __ATOMIC_RELEASE);
}

#endif
