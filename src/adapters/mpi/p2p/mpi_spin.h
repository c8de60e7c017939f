/*
 * Waiting between two looks at memory. A rank with a core of its own spins; a rank that shares its
 * core with other ranks of the job yields the core, or moves if there are cores enough. Each
 * message carries the core of the sender.
 *
 * A wait yields a few times only, and sleeps then: Linux runs a process that yields again and again
 * after all others for a time slice for each yield. A rank about to sleep sets its bell, and looks
 * at memory once more; a rank that puts news to it finds the bell, clears it and wakes the rank. A
 * rank of another machine finds no bell, so a sleep has an end of its own.
 */
#ifndef KEEL_MPI_SPIN_H_
#define KEEL_MPI_SPIN_H_

#include <stdint.h>

enum {
    KEEL_MPI_SPINS = 1000,
    KEEL_MPI_SPINS_CROWDED = 10, /* where ranks share cores; also the first comparison of cores */
    KEEL_MPI_SPIN_YIELDS = 8,    /* yields of a wait before its first sleep */
    KEEL_MPI_SLEEP_MIN_US = 50,  /* the first sleep of a wait; each further one is twice as long */
    KEEL_MPI_SLEEP_MAX_US = 1000,
    KEEL_MPI_SPIN_LOOK = 64, /* rounds between two later comparisons */
    KEEL_MPI_SPIN_MOVE = 64, /* comparisons that find a shared core, for each move */
    KEEL_MPI_SPIN_CPU_BITS = 12
};

/* Name of a core among all machines of the job; 0: unknown. */
static inline uint32_t keel_mpi_core(uint32_t machine, int cpu)
{
    const uint32_t mask = (1U << KEEL_MPI_SPIN_CPU_BITS) - 1;

    return (machine == 0 || cpu < 0 || (uint32_t)cpu >= mask)
               ? 0
               : (machine << KEEL_MPI_SPIN_CPU_BITS) | ((uint32_t)cpu + 1);
}

/* Rounds of waiting before the first yield, for a job of @a ranks ranks on @a cores cores. */
static inline unsigned keel_mpi_spins(uint32_t ranks, uint32_t cores, int is_core_shared)
{
    return (ranks <= cores && !is_core_shared) ? KEEL_MPI_SPINS : KEEL_MPI_SPINS_CROWDED;
}

/* The first rank with its last message from the core @a own; @a ranks: none. */
static inline uint32_t keel_mpi_core_sharer(uint32_t own, const uint32_t *cores, uint32_t ranks)
{
    uint32_t rank = 0;

    while (rank < ranks && (own == 0 || cores[rank] != own)) {
        rank++;
    }
    return rank;
}

/* True if @a rank leaves its core: there are enough cores, and of two ranks the later one moves. */
static inline int keel_mpi_core_is_left(uint32_t rank, uint32_t sharer, uint32_t ranks, uint32_t cores)
{
    return ranks <= cores && sharer < rank;
}

/* Length of the sleep in a round of a wait with so many rounds before its first sleep. */
static inline unsigned keel_mpi_sleep_us(unsigned round, unsigned before)
{
    /* a sleep takes two rounds: the first sets the bell */
    const unsigned sleeps = (round - before) / 2;

    return (sleeps > 4) ? KEEL_MPI_SLEEP_MAX_US : KEEL_MPI_SLEEP_MIN_US << sleeps;
}

/* True if a wait compares cores in this round. */
static inline int keel_mpi_spin_is_look_due(unsigned round)
{
    return round == KEEL_MPI_SPINS_CROWDED || (round > 0 && round % KEEL_MPI_SPIN_LOOK == 0);
}

/* Call before the first message. */
void keel_mpi_spin_make(void);
/* The core of the caller, for the head of a message. */
uint32_t keel_mpi_spin_own_core(void);
/* Notes the core of a sender. */
void keel_mpi_spin_heard(uint32_t rank, uint32_t core);
/* True if this round of a wait spins; false: the rank yields its core. */
int keel_mpi_spin_goes_on(unsigned round);
/* Pauses between two looks at memory. */
void keel_mpi_spin_pause(void);
/* Pauses or yields the core, by the number of fruitless rounds. For calls that poll. */
void keel_mpi_spin_yield(unsigned round);
/* The same, and sleeps in later rounds until keel_mpi_spin_wake(). For waits: the caller looks at
 * everything that ends the wait between two rounds. */
void keel_mpi_spin_wait(unsigned round);
/* True once after each sleep. */
int keel_mpi_spin_has_slept(void);
/* Call after a put that may end a wait of the rank. */
void keel_mpi_spin_wake(uint32_t rank, const char *call);
/* Call when the arenas of other ranks may have got other addresses. */
void keel_mpi_spin_forget(void);
void keel_mpi_spin_unmake(void);

#endif
