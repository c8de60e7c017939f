/*
 * Times of one-sided calls, for any MPI-3: mpi_times [MICROSECONDS]. Each call is measured for that
 * long (20,000), in batches. Prints one line per call: name, bytes, microseconds per call as the
 * median of the batches. Rank 0 calls at rank 1; all ranks run collectives. Data that was put,
 * added or counted is checked.
 */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCHES = 21, MOST = 1 << 20, TOGETHER = 64, WRONG = 1, USAGE = 2 };

static const int sizes[] = {8, 64, 512, 4096, 32768, 262144, MOST};

static char *there, here[MOST];
static MPI_Win win;
static long calls; /* count of rank 0's calls of one kind */

static void put(int bytes)
{
    MPI_Put(here, bytes, MPI_BYTE, 1, 0, bytes, MPI_BYTE, win);
    MPI_Win_flush(1, win);
}

static void get(int bytes)
{
    MPI_Get(here, bytes, MPI_BYTE, 1, 0, bytes, MPI_BYTE, win);
    MPI_Win_flush(1, win);
}

static void accumulate(int bytes)
{
    MPI_Accumulate(here, bytes / (int)sizeof(long), MPI_LONG, 1, 0, bytes / (int)sizeof(long), MPI_LONG, MPI_SUM, win);
    MPI_Win_flush(1, win);
}

/* Measures the rate: a call issues several puts. */
static void many_puts(int bytes)
{
    for (int i = 0; i < TOGETHER; i++) {
        MPI_Put(here, bytes, MPI_BYTE, 1, 0, bytes, MPI_BYTE, win);
    }
    MPI_Win_flush(1, win);
}

static void many_gets(int bytes)
{
    for (int i = 0; i < TOGETHER; i++) {
        MPI_Get(here, bytes, MPI_BYTE, 1, 0, bytes, MPI_BYTE, win);
    }
    MPI_Win_flush(1, win);
}

static void fetch_add(int bytes)
{
    const long one = 1;
    long was;

    (void)bytes;
    MPI_Fetch_and_op(&one, &was, MPI_LONG, 1, 0, MPI_SUM, win);
    MPI_Win_flush(1, win);
}

static void lock(int bytes)
{
    (void)bytes;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
    MPI_Win_unlock(1, win);
}

static void fence(int bytes)
{
    (void)bytes;
    MPI_Win_fence(0, win);
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double batch(void (*call)(int), int bytes, long count)
{
    const double start = MPI_Wtime();

    for (long i = 0; i < count; i++) {
        call(bytes);
    }
    calls += count;
    return (MPI_Wtime() - start) * 1e6 / (double)count;
}

/* Measures as many calls per batch as fit; for collectives rank 0 announces the count. */
static void measure(const char *name, void (*call)(int), int bytes, int together, double us, int is_collective)
{
    double times[BATCHES], once;
    long count;
    int rank;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    calls = 0;
    if (rank > 0 && !is_collective) {
        return;
    }
    (void)batch(call, bytes, 3);
    once = batch(call, bytes, 10);
    count = (long)(us / BATCHES / once);
    count = (count < 1) ? 1 : count;
    if (is_collective) {
        MPI_Bcast(&count, 1, MPI_LONG, 0, MPI_COMM_WORLD);
    }
    for (int i = 0; i < BATCHES; i++) {
        times[i] = batch(call, bytes, count);
    }
    qsort(times, BATCHES, sizeof(times[0]), compare);
    if (rank == 0) {
        printf("%s %d %.5f\n", name, bytes, times[BATCHES / 2] / together);
        fflush(stdout);
    }
}

static void check(long is, long should, const char *what)
{
    if (is != should) {
        fprintf(stderr, "mpi_times: %s is %ld, not %ld\n", what, is, should);
        MPI_Abort(MPI_COMM_WORLD, WRONG);
    }
}

static long first_word(void)
{
    long word = -1;

    MPI_Get(&word, 1, MPI_LONG, 1, 0, 1, MPI_LONG, win);
    MPI_Win_flush(1, win);
    return word;
}

/* Calls by rank 0, under a shared lock of all windows. */
static void measure_passive(double us)
{
    const long zero = 0;

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        memset(here, (int)i + 1, sizeof(here));
        measure("put", put, sizes[i], 1, us, 0);
        check(first_word(), (long)((i + 1) * 0x0101010101010101), "what was put");
        measure("get", get, sizes[i], 1, us, 0);
        measure("puts", many_puts, sizes[i], TOGETHER, us, 0);
        measure("gets", many_gets, sizes[i], TOGETHER, us, 0);
        MPI_Put(&zero, 1, MPI_LONG, 1, 0, 1, MPI_LONG, win);
        MPI_Win_flush(1, win);
        memset(here, 0, sizeof(here));
        here[0] = 1;
        measure("accumulate", accumulate, sizes[i], 1, us, 0);
        check(first_word(), calls, "what was added");
    }
    MPI_Put(&zero, 1, MPI_LONG, 1, 0, 1, MPI_LONG, win);
    MPI_Win_flush(1, win);
    measure("fetch_add", fetch_add, (int)sizeof(long), 1, us, 0);
    check(first_word(), calls, "what was counted");
}

int main(int argc, char **argv)
{
    const double us = (argc > 1) ? strtod(argv[1], NULL) : 20000;
    int rank, ranks;

    if (us <= 0 || argc > 2) {
        fprintf(stderr, "usage: mpi_times [MICROSECONDS]\n");
        return USAGE;
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks < 2) {
        fprintf(stderr, "mpi_times: it takes two ranks\n");
        MPI_Abort(MPI_COMM_WORLD, USAGE);
    }
    MPI_Win_allocate(MOST, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &there, &win);
    memset(there, 0, MOST);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        MPI_Win_lock_all(0, win);
        measure_passive(us);
        MPI_Win_unlock_all(win);
        measure("lock", lock, 0, 1, us, 0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_fence(0, win);
    measure("fence", fence, 0, 1, us, 1);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
