/*
 * Calls of rank 0 at rank 1, for a tool that counts instructions (tests/adapters/instructions):
 * mpi_instructions [ROUNDS]. Each function below is called once a round and makes CALLS calls; a
 * put or get is followed by a flush, and the messages have arrived before rank 1 receives them.
 */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CALLS = 64, ADDED = 1024, WRONG = 1 };

static MPI_Win win;
static long sum, fetched; /* of all gets and receives, and of all fetches */
static int ones[ADDED];

static __attribute__((noinline)) void puts_of_8(void)
{
    for (long i = 0; i < CALLS; i++) {
        MPI_Put(&i, 1, MPI_LONG, 1, (MPI_Aint)(i * 8), 1, MPI_LONG, win);
        MPI_Win_flush(1, win);
    }
}

static __attribute__((noinline)) void gets_of_8(void)
{
    for (long i = 0; i < CALLS; i++) {
        long value = 0;

        MPI_Get(&value, 1, MPI_LONG, 1, (MPI_Aint)(i * 8), 1, MPI_LONG, win);
        MPI_Win_flush(1, win);
        sum += value;
    }
}

static __attribute__((noinline)) void fetches_of_8(void)
{
    const long one = 1;

    for (long i = 0; i < CALLS; i++) {
        long before = 0;

        MPI_Fetch_and_op(&one, &before, MPI_LONG, 1, CALLS * 8, MPI_SUM, win);
        MPI_Win_flush(1, win);
        fetched += before;
    }
}

static __attribute__((noinline)) void accumulates_of_4k(void)
{
    for (long i = 0; i < CALLS; i++) {
        MPI_Accumulate(ones, ADDED, MPI_INT, 1, (CALLS + 1) * 8, ADDED, MPI_INT, MPI_SUM, win);
        MPI_Win_flush(1, win);
    }
}

static __attribute__((noinline)) void locks(void)
{
    for (long i = 0; i < CALLS; i++) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
        MPI_Win_unlock(1, win);
    }
}

static __attribute__((noinline)) void sends_of_8(void)
{
    for (long i = 0; i < CALLS; i++) {
        MPI_Send(&i, 1, MPI_LONG, 1, 0, MPI_COMM_WORLD);
    }
}

static __attribute__((noinline)) void receives_of_8(void)
{
    for (long i = 0; i < CALLS; i++) {
        long value = 0;

        MPI_Recv(&value, 1, MPI_LONG, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        sum += value;
    }
}

int main(int argc, char **argv)
{
    const long rounds = (argc > 1) ? strtol(argv[1], NULL, 10) : 10;
    const MPI_Aint bytes = (CALLS + 1) * 8 + (MPI_Aint)sizeof(ones);
    char *base;
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < ADDED; i++) {
        ones[i] = 1;
    }
    MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    memset(base, 0, (size_t)bytes);
    MPI_Barrier(MPI_COMM_WORLD);
    for (long i = 0; i < rounds; i++) {
        if (rank == 0) {
            MPI_Win_lock_all(0, win);
            puts_of_8();
            gets_of_8();
            fetches_of_8();
            accumulates_of_4k();
            MPI_Win_unlock_all(win);
            locks();
            sends_of_8();
        }
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 1) {
            receives_of_8();
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (rank == 0 && fetched != rounds * CALLS * (rounds * CALLS - 1) / 2) {
        fprintf(stderr, "mpi_instructions: fetched %ld\n", fetched);
        MPI_Abort(MPI_COMM_WORLD, WRONG);
    }
    if (rank == 1 && ((int *)(base + (CALLS + 1) * 8))[ADDED - 1] != rounds * CALLS) {
        fprintf(stderr, "mpi_instructions: added %d\n", ((int *)(base + (CALLS + 1) * 8))[ADDED - 1]);
        MPI_Abort(MPI_COMM_WORLD, WRONG);
    }
    if (rank < 2 && sum != rounds * CALLS * (CALLS - 1) / 2) {
        fprintf(stderr, "mpi_instructions: rank %d got %ld\n", rank, sum);
        MPI_Abort(MPI_COMM_WORLD, WRONG);
    }
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
