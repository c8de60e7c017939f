/* A shared object, loaded after MPI_Init(), with calls of MPI by profiling names only. */
#include <mpi.h>

int mpi_plugin_size(void);
int mpi_plugin_sum(int value);

int mpi_plugin_size(void)
{
    int size = -1;

    PMPI_Comm_size(MPI_COMM_WORLD, &size);
    return size;
}

int mpi_plugin_sum(int value)
{
    int sum = -1;

    PMPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return sum;
}
