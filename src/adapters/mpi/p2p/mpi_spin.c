#define _GNU_SOURCE /* CPU_COUNT(), sched_getcpu(), syscall() */
#include "p2p/mpi_spin.h"

#include "life/mpi_startup.h"
#include "mpi_arena.h"

#include <linux/futex.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static struct {
    uint32_t machine, cores; /* machine: 0: unknown, so no cores are compared */
    uint32_t *heard;         /* for each rank the core of its last message; 0: unknown */
    int is_shared;           /* at the last look another rank was on the own core */
    unsigned shared_looks;   /* looks that found the core shared, since the start */
    int is_bell_set;         /* since the last sleep */
    int has_slept;           /* keel_mpi_spin_has_slept() */
    uint32_t **bells;        /* bell of each rank; NULL: not looked up */
    uint32_t no_bell;        /* of a rank without mapped memory: never set */
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
    state.bells = calloc(keel_mpi.ranks, sizeof(*state.bells));
    if (state.heard == NULL || state.bells == NULL) {
        keel_mpi_fatal("MPI_Init", "no memory");
    }
}

void keel_mpi_spin_forget(void)
{
    memset(state.bells, 0, keel_mpi.ranks * sizeof(*state.bells));
}

void keel_mpi_spin_unmake(void)
{
    free(state.heard);
    free(state.bells);
    state.heard = NULL;
    state.bells = NULL;
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

static unsigned rounds_before_sleep(void)
{
    return keel_mpi_spins(keel_mpi.ranks, state.cores, state.is_shared) + KEEL_MPI_SPIN_YIELDS;
}

void keel_mpi_spin_yield(unsigned round)
{
    if (keel_mpi_spin_goes_on(round) || (round > rounds_before_sleep() && round % KEEL_MPI_SPIN_YIELDS != 0)) {
        keel_mpi_spin_pause();
    } else {
        sched_yield();
    }
}

/* Sleeps while the bell is set. */
static void sleep_us(uint32_t *bell, unsigned us)
{
    const struct timespec limit = {.tv_nsec = (long)us * 1000};

    (void)syscall(SYS_futex, bell, FUTEX_WAIT, 1, &limit, NULL, 0);
}

void keel_mpi_spin_wait(unsigned round)
{
    const unsigned before = rounds_before_sleep();
    uint32_t *bell = &keel_mpi.hidden->bell;

    if (keel_mpi_spin_goes_on(round)) {
        keel_mpi_spin_pause();
    } else if (round <= before) {
        sched_yield();
    } else if (!state.is_bell_set) {
        __atomic_store_n(bell, 1, __ATOMIC_SEQ_CST);
        state.is_bell_set = 1;
    } else {
        sleep_us(bell, keel_mpi_sleep_us(round, before));
        __atomic_store_n(bell, 0, __ATOMIC_RELAXED);
        state.is_bell_set = 0;
        state.has_slept = 1;
    }
}

int keel_mpi_spin_has_slept(void)
{
    const int has_slept = state.has_slept;

    state.has_slept = 0;
    return has_slept;
}

static uint32_t *bell_of(uint32_t rank, const char *call)
{
    keel_mpi_hidden_t *hidden = keel_mpi_arena_mapped(rank, call);

    return (hidden != NULL) ? &hidden->bell : &state.no_bell;
}

void keel_mpi_spin_wake(uint32_t rank, const char *call)
{
    uint32_t *bell;

    if (keel_mpi_is_replaying()) {
        return;
    }
    if (state.bells[rank] == NULL) {
        state.bells[rank] = bell_of(rank, call);
    }
    bell = state.bells[rank];
    __atomic_thread_fence(__ATOMIC_SEQ_CST); /* the put precedes the look at the bell */
    if (__atomic_load_n(bell, __ATOMIC_RELAXED) != 0) {
        __atomic_store_n(bell, 0, __ATOMIC_RELAXED);
        (void)syscall(SYS_futex, bell, FUTEX_WAKE, 1, NULL, NULL, 0);
    }
}
