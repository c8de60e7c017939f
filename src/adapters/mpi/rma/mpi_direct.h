/*
 * Memory of other ranks that is mapped here, which the own loads and stores reach without a call of Keel's; never with the promise, as no log
 * has what is stored so.
 */
#ifndef KEEL_MPI_DIRECT_H_
#define KEEL_MPI_DIRECT_H_

#include "rma/mpi_window.h"

#include <string.h>

enum { KEEL_MPI_COPY_CHUNK = 128 << 10 };

/* in each member's arena: of a window that all members have mapped, how often each of those before it has come */
typedef struct keel_mpi_barrier {
    uint64_t entered;     /* the own count */
    uint64_t arrived[32]; /* put by the member 1, 2, 4, ... before this one: its count */
} keel_mpi_barrier_t;

/* where the arena of that rank is; NULL: it has to be asked of Keel, or nothing is to be done before the restart point again */
static inline char *keel_mpi_direct(uint32_t rank)
{
    return (keel_mpi.direct != NULL && keel_mpi.phase != KEEL_MPI_REPLAYS) ? keel_mpi.direct[rank] : NULL;
}

/* the words of a member, of a window that all have mapped; NULL: they have to be asked of Keel */
static inline keel_mpi_guard_t *keel_mpi_direct_guard(const keel_mpi_win_t *win, uint32_t member)
{
    char *arena = win->is_mapped ? keel_mpi_direct((uint32_t)win->places[member].home) : NULL;

    return (arena == NULL) ? NULL : (keel_mpi_guard_t *)(arena + win->places[member].guard);
}

/* looks where the members' memory is now; true: all of it is mapped here */
int keel_mpi_direct_refresh(const keel_mpi_comm_t *comm, const char *call);
/* whose arena these bytes are in, another one's that is mapped here, and where; false: nobody's */
int keel_mpi_direct_find(const void *address, size_t bytes, uint32_t *rank_p, uint64_t *offset_p, const char *call);
void keel_mpi_direct_unmake(void);

/* as memmove(), which is a quarter slower for as many bytes as the second cache holds and more: by parts */
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

/* of a window whose members have each other mapped, in a new process or one that goes on: returns when all have called it */
void keel_mpi_direct_barrier(const keel_mpi_win_t *win, const char *call);
/* the word of the target's window by which accumulates exclude each other */
void keel_mpi_direct_lock(uint64_t *word, const char *call);
static inline void keel_mpi_direct_unlock(uint64_t *word)
{
    __atomic_store_n(word, 0, __ATOMIC_RELEASE);
}

/* Looks at memory before a waiting rank gives its core away: many if each of so many ranks has a core. */
unsigned keel_mpi_direct_spins(uint32_t ranks);
/* Passes the time between two looks. */
void keel_mpi_direct_spin(void);

#endif
