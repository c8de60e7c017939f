/* The operations by MPI, which ends the process itself after a failed call. */
#include "group_ops.h"

#include <mpi.h>

void ops_begin(int *argc, char ***argv, unsigned *rank_p, unsigned *count_p)
{
    int rank, count;

    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &count);
    *rank_p = (unsigned)rank;
    *count_p = (unsigned)count;
}

void ops_end(void)
{
    MPI_Finalize();
}

void ops_barrier(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
}

void ops_meet(void)
{
    ops_barrier();
}

void ops_broadcast(void *buffer, size_t bytes)
{
    MPI_Bcast(buffer, (int)bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
}

void ops_reduce(const double *in, double *out, size_t count)
{
    MPI_Reduce(in, out, (int)count, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
}

void ops_allreduce(const double *in, double *out, size_t count)
{
    MPI_Allreduce(in, out, (int)count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

void ops_gather(const void *in, void *out, size_t bytes)
{
    MPI_Gather(in, (int)bytes, MPI_BYTE, out, (int)bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
}

void ops_allgather(const void *in, void *out, size_t bytes)
{
    MPI_Allgather(in, (int)bytes, MPI_BYTE, out, (int)bytes, MPI_BYTE, MPI_COMM_WORLD);
}

void ops_alltoall(const void *in, void *out, size_t bytes)
{
    MPI_Alltoall(in, (int)bytes, MPI_BYTE, out, (int)bytes, MPI_BYTE, MPI_COMM_WORLD);
}
