#define _GNU_SOURCE /* CPU_COUNT(), sched_getcpu() */
#include "p2p/mpi_spin.h"

#include "mpi_state.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

static struct {
    uint32_t machine, cores; /* machine: 0: unknown, so no cores are compared */
    uint32_t *heard;         /* for each rank the core of its last message; 0: unknown */
    int is_shared;           /* at the last look another rank was on the own core */
    unsigned shared_looks;   /* looks that found the core shared, since the start */
} state;

/* Ranks of emulated nodes share a machine, and ranks of other machines have cores of the same
 * number, so neither nodes nor numbers will do. */
static uint32_t machine_read(void)
{
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "r");
    uint32_t hash = 2166136261U;
    int byte, bytes = 0;

    if (file == NULL) {
        return 0;
    }
    for (; (byte = fgetc(file)) != EOF; bytes++) {
        hash = (hash ^ (uint32_t)byte) * 16777619U;
    }
    fclose(file);
    return (bytes > 0) ? hash >> KEEL_MPI_SPIN_CPU_BITS : 0;
}

void keel_mpi_spin_make(void)
{
    cpu_set_t set;

    state.cores = (sched_getaffinity(0, sizeof(set), &set) == 0) ? (uint32_t)CPU_COUNT(&set) : 1;
    state.machine = machine_read();
    state.heard = calloc(keel_mpi.ranks, sizeof(*state.heard));
    if (state.heard == NULL) {
        keel_mpi_fatal("MPI_Init", "no memory");
    }
}

uint32_t keel_mpi_spin_own_core(void)
{
    return keel_mpi_core(state.machine, sched_getcpu());
}

void keel_mpi_spin_heard(uint32_t rank, uint32_t core)
{
    state.heard[rank] = core;
}

/* Moves the calling thread to a core without a rank. The thread keeps its set of cores, so the
 * system may move it again. */
static void leave_core(void)
{
    cpu_set_t all, one;

    if (sched_getaffinity(0, sizeof(all), &all) != 0) {
        return;
    }
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        const uint32_t core = keel_mpi_core(state.machine, cpu);

        if (CPU_ISSET(cpu, &all) && cpu != sched_getcpu() &&
            keel_mpi_core_sharer(core, state.heard, keel_mpi.ranks) == keel_mpi.ranks) {
            CPU_ZERO(&one);
            CPU_SET(cpu, &one);
            if (sched_setaffinity(0, sizeof(one), &one) == 0) {
                (void)sched_setaffinity(0, sizeof(all), &all);
            }
            return;
        }
    }
}

static void look(void)
{
    const uint32_t sharer = keel_mpi_core_sharer(keel_mpi_spin_own_core(), state.heard, keel_mpi.ranks);

    state.is_shared = sharer < keel_mpi.ranks;
    if (state.is_shared && keel_mpi_core_is_left(keel_mpi.rank, sharer, keel_mpi.ranks, state.cores) &&
        state.shared_looks++ % KEEL_MPI_SPIN_MOVE == 0) {
        leave_core();
        state.is_shared = 0;
    }
}

int keel_mpi_spin_goes_on(unsigned round)
{
    if (keel_mpi_spin_is_look_due(round)) {
        look();
    }
    return round <= keel_mpi_spins(keel_mpi.ranks, state.cores, state.is_shared);
}

void keel_mpi_spin_pause(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

void keel_mpi_spin_wait(unsigned round)
{
    if (keel_mpi_spin_goes_on(round)) {
        keel_mpi_spin_pause();
    } else {
        sched_yield();
    }
}
