/* A profiler: wraps some functions of MPI and calls them by their profiling names. At the end each
 * rank prints the counts. */
#include <mpi.h>

#include <stdio.h>

static int sends, receives, collectives;

int MPI_Send(const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm)
{
    sends++;
    return PMPI_Send(buf, count, type, dest, tag, comm);
}

int MPI_Recv(void *buf, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    receives++;
    return PMPI_Recv(buf, count, type, source, tag, comm, status);
}

int MPI_Allreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    collectives++;
    return PMPI_Allreduce(sendbuf, recvbuf, count, type, op, comm);
}

int MPI_Finalize(void)
{
    int rank, size, all[3] = {0, 0, 0};
    const int mine[3] = {sends, receives, collectives};

    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &size);
    PMPI_Allreduce(mine, all, 3, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    printf("profiler: rank %d of %d: %d sent, %d received, %d collective\n", rank, size, all[0], all[1], all[2]);
    return PMPI_Finalize();
}
