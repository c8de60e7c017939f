/*
 * An MPI program without Keel, for libkeel-preload.so: each rank makes so many puts, gets and
 * fetch-and-adds at its right neighbour. Arguments: PUTS GETS ATOMICS. A wrong sum of the adds
 * fails.
 */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>

enum { BYTES = 64 };

int main(int argc, char **argv)
{
    const int puts = atoi(argv[1]), gets = atoi(argv[2]), atomics = atoi(argv[3]);
    char buffer[BYTES] = "text";
    long one = 1, old, *base;
    int rank, ranks, next;
    MPI_Win win;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    next = (rank + 1) % ranks;
    MPI_Win_allocate(2 * BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    base[0] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
    for (int i = 0; i < puts; i++) {
        MPI_Put(buffer, BYTES, MPI_CHAR, next, BYTES, BYTES, MPI_CHAR, win);
    }
    MPI_Win_flush(next, win);
    for (int i = 0; i < gets; i++) {
        MPI_Get(buffer, BYTES, MPI_CHAR, next, BYTES, BYTES, MPI_CHAR, win);
    }
    MPI_Win_flush(next, win);
    for (int i = 0; i < atomics; i++) {
        MPI_Fetch_and_op(&one, &old, MPI_LONG, next, 0, MPI_SUM, win);
        MPI_Win_flush(next, win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_sync(win);
    if (base[0] != atomics || (puts > 0 && buffer[0] != 't')) {
        fprintf(stderr, "rank %d: sum %ld, not %d\n", rank, base[0], atomics);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
