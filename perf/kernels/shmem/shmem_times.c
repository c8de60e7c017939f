/*
 * Times of calls, for any OpenSHMEM of 1.4 and later: shmem_times [CALLS]. Prints a line each: name, bytes, microseconds a call, the median of
 * as many batches as fit; PE 0 calls at PE 1, of collectives all PEs do. What was put and counted is checked.
 */
#include <shmem.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BATCHES = 21, MOST = 1 << 20 };

static const size_t sizes[] = {8, 64, 512, 4096, 32768, 262144, MOST};

static char *here, *there;
static long counted, calls, own, sum, work[SHMEM_REDUCE_MIN_WRKDATA_SIZE], sync_area[2][SHMEM_REDUCE_SYNC_SIZE];

static double now_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static void put(size_t bytes)
{
    shmem_putmem(there, here, bytes, 1);
    shmem_quiet();
}

static void get(size_t bytes)
{
    shmem_getmem(here, there, bytes, 1);
}

static void add(size_t bytes)
{
    (void)bytes;
    (void)shmem_long_atomic_fetch_add(&counted, 1, 1);
}

static void barrier(size_t bytes)
{
    (void)bytes;
    shmem_barrier_all();
}

static void reduce(size_t bytes)
{
    static int turn;

    (void)bytes;
    shmem_long_sum_to_all(&sum, &own, 1, 0, 0, shmem_n_pes(), work, sync_area[turn++ % 2]);
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void measure(const char *name, void (*call)(size_t), size_t bytes, int is_of_all)
{
    const long batch = calls / (1 + (long)bytes / 4096) / BATCHES + 1;
    double took[BATCHES];

    shmem_barrier_all();
    for (int i = 0; i < BATCHES && (is_of_all || shmem_my_pe() == 0); i++) {
        const double began = now_us();

        for (long j = 0; j < batch; j++) {
            call(bytes);
        }
        took[i] = (now_us() - began) / (double)batch;
    }
    shmem_barrier_all();
    if (shmem_my_pe() == 0) {
        qsort(took, BATCHES, sizeof(took[0]), compare);
        printf("%s %zu %.4f\n", name, bytes, took[BATCHES / 2]);
    }
}

int main(int argc, char **argv)
{
    int is_wrong;

    calls = (argc > 1) ? strtol(argv[1], NULL, 10) : 20000;
    shmem_init();
    here = shmem_malloc(MOST);
    there = shmem_malloc(MOST);
    memset(here, 1 + shmem_my_pe(), MOST);
    for (int i = 0; i < SHMEM_REDUCE_SYNC_SIZE; i++) {
        sync_area[0][i] = sync_area[1][i] = SHMEM_SYNC_VALUE;
    }
    own = shmem_my_pe() + 1;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        measure("put", put, sizes[i], 0);
    }
    is_wrong = shmem_my_pe() == 1 && (there[0] != 1 || there[MOST - 1] != 1);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        measure("get", get, sizes[i], 0);
    }
    measure("fetch_add", add, 8, 0);
    measure("barrier", barrier, 0, 1);
    measure("sum", reduce, 8, 1);
    is_wrong |= sum != (long)shmem_n_pes() * (shmem_n_pes() + 1) / 2;
    if (is_wrong) {
        fprintf(stderr, "shmem_times: PE %d: WRONG\n", shmem_my_pe());
    }
    shmem_finalize();
    return is_wrong;
}
