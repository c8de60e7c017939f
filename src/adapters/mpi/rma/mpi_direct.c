/*
 * Safety. No log has these accesses. Direct accesses happen only outside deterministic mode, where
 * every death is a rollback, and all stored data lies in arenas or in program memory mapped there,
 * so the data rolls back, too. Memory of a dead process stays mapped until the job has rolled back;
 * the place of a rank's memory is then looked up again before the first access. A rank may die
 * while holding a word that excludes others. The others notice the death in their waits, and the
 * rollback restores the word.
 */
#include "rma/mpi_direct.h"

#include "life/mpi_startup.h"
#include "mpi_arena.h"
#include "p2p/mpi_channel.h"
#include "p2p/mpi_spin.h"

#include <stdlib.h>

int keel_mpi_direct_refresh(const keel_mpi_comm_t *comm, const char *call)
{
    int is_all = 1;

    if (keel_mpi.is_deterministic_mode || keel_mpi_is_replaying()) {
        return 0;
    }
    if (keel_mpi.direct == NULL) {
        keel_mpi.direct = calloc(keel_mpi.ranks, sizeof(*keel_mpi.direct));
        if (keel_mpi.direct == NULL) {
            keel_mpi_fatal(call, "no memory");
        }
    }
    for (uint32_t i = 0; i < comm->size; i++) {
        const uint32_t rank = comm->members[i];

        keel_mpi.direct[rank] = keel_mpi_arena_mapped(rank, call);
        is_all &= keel_mpi.direct[rank] != NULL;
    }
    return is_all;
}

int keel_mpi_direct_find(const void *address, size_t bytes, uint32_t *rank_p, uint64_t *offset_p, const char *call)
{
    for (uint32_t rank = 0; rank < keel_mpi.ranks; rank++) {
        const uintptr_t base = (uintptr_t)keel_mpi_arena_mapped(rank, call), at = (uintptr_t)address;

        if (base != 0 && rank != keel_mpi.rank && at >= base && bytes <= keel_mpi.bytes &&
            at - base <= keel_mpi.bytes - bytes) {
            *rank_p = rank;
            *offset_p = at - base;
            return 1;
        }
    }
    return 0;
}

void keel_mpi_direct_copy_parts(char *to, const char *from, size_t bytes)
{
    if (to < from + bytes && from < to + bytes) {
        /* with overlap, a chunk could overwrite bytes not read yet */
        memmove(to, from, bytes);
        return;
    }
    for (; bytes > KEEL_MPI_COPY_CHUNK; bytes -= KEEL_MPI_COPY_CHUNK) {
        memcpy(to, from, KEEL_MPI_COPY_CHUNK);
        to += KEEL_MPI_COPY_CHUNK;
        from += KEEL_MPI_COPY_CHUNK;
    }
    memcpy(to, from, bytes);
}

void keel_mpi_direct_unmake(void)
{
    free(keel_mpi.direct);
    keel_mpi.direct = NULL;
}

static keel_mpi_barrier_t *barrier_of(const keel_mpi_win_t *win, uint32_t member)
{
    return (keel_mpi_barrier_t *)(keel_mpi_direct(win->comm->members[member]) + win->places[member].barrier);
}

/* Learns the core of a member that this rank waits for. */
static void hear_core(const keel_mpi_win_t *win, uint32_t member)
{
    keel_mpi_spin_heard(win->comm->members[member],
                        (uint32_t)__atomic_load_n(&barrier_of(win, member)->core, __ATOMIC_RELAXED));
}

/* A dissemination barrier. Counts only grow, so a rank ahead of others overwrites no count still
 * waited for. */
void keel_mpi_direct_barrier(const keel_mpi_win_t *win, const char *call)
{
    const uint32_t size = win->comm->size, rank = win->comm->rank;
    keel_mpi_barrier_t *mine;
    uint64_t distance = 1;

    if (keel_mpi_is_replaying()) {
        return;
    }
    mine = barrier_of(win, rank);
    mine->entered++;
    __atomic_store_n(&mine->core, keel_mpi_spin_own_core(), __ATOMIC_RELAXED);
    for (unsigned i = 0; distance < size; i++, distance *= 2) {
        const uint32_t next = (uint32_t)((rank + distance) % size);

        __atomic_store_n(&barrier_of(win, next)->arrived[i], mine->entered, __ATOMIC_SEQ_CST);
        keel_mpi_spin_wake(win->comm->members[next], call);
        for (unsigned spun = 0; __atomic_load_n(&mine->arrived[i], __ATOMIC_ACQUIRE) < mine->entered; spun++) {
            if (keel_mpi_spin_is_look_due(spun)) {
                hear_core(win, (uint32_t)((rank + size - distance) % size));
            }
            if (keel_mpi_spin_goes_on(spun)) {
                keel_mpi_spin_pause();
            } else {
                keel_mpi_channel_progress_or_sleep(call);
            }
        }
    }
    keel_mpi_channel_end_wait();
}

void keel_mpi_direct_lock(uint64_t *word, const char *call)
{
    uint64_t was = 0;

    for (unsigned spun = 0;
         !__atomic_compare_exchange_n(word, &was, (uint64_t)keel_mpi.rank + 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
         spun++) {
        was = 0;
        if (spun < KEEL_MPI_SPINS_CROWDED) {
            keel_mpi_spin_pause();
        } else {
            keel_mpi_channel_yield(call);
        }
    }
}
