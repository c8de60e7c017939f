/*
 * Calls of rank 0 at rank 1, for a tool that counts instructions (tests/adapters/instructions):
 * mpi_instructions [ROUNDS]. Each function below is called once a round and makes CALLS calls; a
 * put or get is followed by a flush, and the messages have arrived before rank 1 receives them.
 */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>

enum { CALLS = 64, WRONG = 1 };

static MPI_Win win;
static long sum;

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
    long *base;
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_allocate(CALLS * 8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    for (long i = 0; i < rounds; i++) {
        if (rank == 0) {
            MPI_Win_lock_all(0, win);
            puts_of_8();
            gets_of_8();
            MPI_Win_unlock_all(win);
            sends_of_8();
        }
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 1) {
            receives_of_8();
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (rank < 2 && sum != rounds * CALLS * (CALLS - 1) / 2) {
        fprintf(stderr, "mpi_instructions: rank %d got %ld\n", rank, sum);
        MPI_Abort(MPI_COMM_WORLD, WRONG);
    }
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
