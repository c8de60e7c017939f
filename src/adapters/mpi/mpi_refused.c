#include "mpi_refused.h"

#include "mpi_state.h"

#include <stdio.h>

int keel_mpi_refused(const char *call)
{
    static const char what[] = "not there in Keel's MPI";

    keel_mpi_begin(call);
    fprintf(stderr, "mpi %u: %s: %s\n", keel_mpi.rank, call, what);
    return keel_mpi_raise(MPI_COMM_WORLD, MPI_ERR_UNSUPPORTED_OPERATION, call, what);
}
