/*
 * Common parts of the OpenSHMEM kernels: the lines for survival, a sum over all PEs, random
 * numbers. With other libraries the survival lines only synchronise.
 */
#ifndef KEEL_SHMEM_KERNEL_H_
#define KEEL_SHMEM_KERNEL_H_

#include <shmem.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* time of the steps, reported by kernel_end(); meaningless in a job with deaths */
static struct timespec kernel_began;
static double kernel_took_us;

#ifdef KEEL_SHMEM_H_
/*
 * Follows the allocations: PEs continue here after a rollback, with the contents of the heap and of
 * @a _state, a static variable.
 */
#define KERNEL_RESTART_POINT(_state)              \
    shmemx_protect(1, &(_state), sizeof(_state)); \
    SHMEMX_RESTART_POINT();                       \
    if (shmemx_restarted()) {                     \
        shmemx_restore();                         \
    }                                             \
    clock_gettime(CLOCK_MONOTONIC, &kernel_began)
#define kernel_safepoint() shmemx_safepoint()
#else
#define KERNEL_RESTART_POINT(_state) \
    shmem_barrier_all();             \
    clock_gettime(CLOCK_MONOTONIC, &kernel_began)
#define kernel_safepoint() shmem_barrier_all()
#endif

/* Number @a i of the stream, equal on all PEs. */
static inline uint64_t kernel_draw(uint64_t stream, uint64_t i)
{
    uint64_t x = (stream << 40) + i + UINT64_C(0x9e3779b97f4a7c15) * (i + 1);

    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* on the heap, so that a rollback restores it */
typedef struct {
    long turn, all, own, work[SHMEM_REDUCE_MIN_WRKDATA_SIZE], sync[2][SHMEM_REDUCE_SYNC_SIZE];
} kernel_sums_t;
static kernel_sums_t *kernel_sums;

static inline void kernel_begin(void)
{
    shmem_init();
    kernel_sums = shmem_malloc(sizeof(*kernel_sums));
    kernel_sums->turn = 0;
    for (int i = 0; i < SHMEM_REDUCE_SYNC_SIZE; i++) {
        kernel_sums->sync[0][i] = kernel_sums->sync[1][i] = SHMEM_SYNC_VALUE;
    }
    shmem_barrier_all();
}

static inline long kernel_sum(long value)
{
    kernel_sums_t *sums = kernel_sums;

    sums->own = value;
    shmem_barrier_all();
    shmem_long_sum_to_all(&sums->all, &sums->own, 1, 0, 0, shmem_n_pes(), sums->work, sums->sync[sums->turn++ % 2]);
    return sums->all;
}

/*
 * The i-th number of the command line, or @a otherwise if missing; ends the program if it is below
 * 1.
 */
static inline long kernel_number(int argc, char **argv, int i, long otherwise)
{
    const long number = (i < argc) ? strtol(argv[i], NULL, 10) : otherwise;

    if (number < 1) {
        fprintf(stderr, "%s: '%s' is no number above 0\n", argv[0], argv[i]);
        exit(2);
    }
    return number;
}

/* Called after the last step, before the results are checked. */
static inline void kernel_stepped(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    kernel_took_us =
        (double)(now.tv_sec - kernel_began.tv_sec) * 1e6 + (double)(now.tv_nsec - kernel_began.tv_nsec) / 1e3;
}

/* Prints the flaws of all PEs. Returns the exit status. */
static inline int kernel_end(const char *name, long steps, long flaws)
{
    const long all = kernel_sum(flaws);

    if (shmem_my_pe() == 0) {
        printf("%s: %.3f us a step\n", name, kernel_took_us / (double)steps);
        printf("%s: %d PEs, %ld steps: %s\n", name, shmem_n_pes(), steps, all == 0 ? "verified" : "WRONG");
        fflush(stdout);
    }
    shmem_finalize();
    return all != 0;
}

#endif
