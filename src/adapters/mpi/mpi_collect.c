/* Collectives. */
#include "mpi_arena.h"
#include "mpi_round.h"

int MPI_Barrier(MPI_Comm comm)
{
    keel_mpi_round_t round;
    KEEL_MPI_COMM(of, comm, "MPI_Barrier")

    round = keel_mpi_round_begin(of, "MPI_Barrier");
    keel_mpi_round_meet(&round);
    return MPI_SUCCESS;
}
