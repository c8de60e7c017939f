/* Files of communicators of one, which the system's MPI opens; it has no way to those of several. */
#include "mpi_comm.h"

int MPI_File_open(MPI_Comm comm, const char *filename, int amode, MPI_Info info, MPI_File *fh)
{
    KEEL_MPI_COMM(of, comm, "MPI_File_open")

    if (of->size > 1) {
        return keel_mpi_raise(comm, MPI_ERR_UNSUPPORTED_OPERATION, "MPI_File_open",
                              "of a communicator of several ranks");
    }
    return PMPI_File_open(comm, filename, amode, info, fh);
}
