/*
 * Error handlers. MPI_ERRORS_ARE_FATAL would have the system's MPI end this process alone, so a handler of the adapter's own, which ends the
 * job, stands in its place; programs do not see that.
 */
#ifndef KEEL_MPI_ERROR_H_
#define KEEL_MPI_ERROR_H_

#include "mpi_state.h"

void keel_mpi_error_make(void); /* for MPI_COMM_WORLD, MPI_COMM_SELF and what is made of them */
void keel_mpi_error_win(MPI_Win win);

#endif
