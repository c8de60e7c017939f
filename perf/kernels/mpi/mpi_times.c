/*
 * Times of calls, for any MPI-3: mpi_times [MICROSECONDS]. Each call is measured for that long
 * (20,000), in batches. Prints one line per call: name, bytes, microseconds per call as the median
 * of the batches; of a ping-pong half of the time there and back. Rank 0 calls at rank 1; all ranks
 * run collectives. Data put, added or counted is checked. Under Keel the program survives: the
 * batches begin with a checkpoint, which empties the logs.
 */
#include <mpi.h>

#include "keel_mpi.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#pragma weak keel_mpi_checkpoint
#pragma weak keel_mpi_restart_buffer
#pragma weak keel_mpi_resume

enum { BATCHES = 11, MOST = 1 << 20, TOGETHER = 64, WRONG = 1, USAGE = 2 };
/* Bounds of the data of a batch, so that all of a batch fits in logs, and of the calls. */
enum { BATCH_BYTES = 8 << 20, BATCH_CALLS = 50000 };

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
    MPI_Accumulate(here, bytes / (int)sizeof(int), MPI_INT, 1, 0, bytes / (int)sizeof(int), MPI_INT, MPI_SUM, win);
    MPI_Win_flush(1, win);
}

/* accesses of a call that measures the rate: fewer of long ones, to fit in logs */
static int together(int bytes)
{
    return (bytes <= 4096) ? TOGETHER : (bytes <= 32768) ? TOGETHER / 8 : TOGETHER / 16;
}

static void many_puts(int bytes)
{
    for (int i = 0; i < together(bytes); i++) {
        MPI_Put(here, bytes, MPI_BYTE, 1, 0, bytes, MPI_BYTE, win);
    }
    MPI_Win_flush(1, win);
}

static void many_gets(int bytes)
{
    for (int i = 0; i < together(bytes); i++) {
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

/* ---- calls of all ranks ---- */

static int own_rank(void)
{
    int rank;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

/* a message of rank 0, and one back; other ranks do nothing */
static void ping(int bytes)
{
    const int rank = own_rank();

    if (rank == 0) {
        MPI_Send(here, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
        MPI_Recv(here, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (rank == 1) {
        MPI_Recv(here, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(here, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
    }
}

static void barrier(int bytes)
{
    (void)bytes;
    MPI_Barrier(MPI_COMM_WORLD);
}

static void allreduce(int bytes)
{
    double sum;
    const double one = 1;

    (void)bytes;
    MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

/* ---- measuring ---- */

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* all ranks come to a batch */
static void meet(void)
{
    if (keel_mpi_checkpoint != NULL) {
        keel_mpi_checkpoint();
    } else {
        MPI_Barrier(MPI_COMM_WORLD);
    }
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

/* Calls of a batch, as many as fit in a time, announced by rank 0. */
static long calls_of(void (*call)(int), int bytes, int at_once, double us, int is_calling)
{
    const long most = BATCH_BYTES / ((long)at_once * (bytes + 64));
    long count = 0;

    if (is_calling) {
        const long first = (most < 10) ? 1 : 10;

        (void)batch(call, bytes, first);
        count = (long)(us / BATCHES / batch(call, bytes, first));
    }
    MPI_Bcast(&count, 1, MPI_LONG, 0, MPI_COMM_WORLD);
    count = (count < most) ? count : most;
    count = (count < BATCH_CALLS / at_once) ? count : BATCH_CALLS / at_once;
    return (count < 1) ? 1 : count;
}

static void measure(const char *name, void (*call)(int), int bytes, int at_once, double us, int is_collective)
{
    const int rank = own_rank(), is_calling = rank == 0 || is_collective;
    double times[BATCHES];
    long count;

    calls = 0;
    meet();
    count = calls_of(call, bytes, at_once, us, is_calling);
    for (int i = 0; i < BATCHES; i++) {
        meet();
        times[i] = is_calling ? batch(call, bytes, count) : 0;
    }
    qsort(times, BATCHES, sizeof(times[0]), compare);
    if (rank == 0) {
        printf("%s %d %.5f\n", name, bytes, times[BATCHES / 2] / at_once);
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

/* Rank 0 sets and reads the first word of rank 1. */
static void set_word(long word)
{
    if (own_rank() == 0) {
        MPI_Put(&word, 1, MPI_LONG, 1, 0, 1, MPI_LONG, win);
        MPI_Win_flush(1, win);
    }
}

static void check_word(long should, const char *what)
{
    long word = -1;

    if (own_rank() == 0) {
        MPI_Get(&word, 1, MPI_LONG, 1, 0, 1, MPI_LONG, win);
        MPI_Win_flush(1, win);
        check(word, should, what);
    }
}

/* Calls of rank 0, under a shared lock of all windows. */
static void measure_passive(double us)
{
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        memset(here, (int)i + 1, sizeof(here));
        measure("put", put, sizes[i], 1, us, 0);
        check_word((long)((i + 1) * 0x0101010101010101), "what was put");
        measure("get", get, sizes[i], 1, us, 0);
        measure("puts", many_puts, sizes[i], together(sizes[i]), us, 0);
        measure("gets", many_gets, sizes[i], together(sizes[i]), us, 0);
        set_word(0);
        memset(here, 0, sizeof(here));
        here[0] = 1;
        measure("accumulate", accumulate, sizes[i], 1, us, 0);
        check_word(calls, "what was added");
    }
    set_word(0);
    measure("fetch_add", fetch_add, (int)sizeof(long), 1, us, 0);
    check_word(calls, "what was counted");
}

static void measure_all(double us)
{
    if (own_rank() == 0) {
        MPI_Win_lock_all(0, win);
    }
    measure_passive(us);
    if (own_rank() == 0) {
        MPI_Win_unlock_all(win);
    }
    measure("lock", lock, 0, 1, us, 0);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_fence(0, win);
    measure("fence", fence, 0, 1, us, 1);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    measure("ping", ping, 8, 2, us, 1);
    measure("barrier", barrier, 0, 1, us, 1);
    measure("allreduce", allreduce, 8, 1, us, 1);
}

int main(int argc, char **argv)
{
    const double us = (argc > 1) ? strtod(argv[1], NULL) : 20000;
    int ranks;

    if (us <= 0 || argc > 2) {
        fprintf(stderr, "usage: mpi_times [MICROSECONDS]\n");
        return USAGE;
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks < 2) {
        fprintf(stderr, "mpi_times: it takes two ranks\n");
        MPI_Abort(MPI_COMM_WORLD, USAGE);
    }
    MPI_Win_allocate(MOST, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &there, &win);
    memset(there, 0, MOST);
    MPI_Barrier(MPI_COMM_WORLD);
    if (keel_mpi_resume != NULL) {
        KEEL_MPI_RESTART_POINT();
    }
    measure_all(us);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
