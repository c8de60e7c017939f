/*
 * Error handlers. With MPI_ERRORS_ARE_FATAL the system's MPI would end this process alone. The
 * adapter installs a handler of its own instead, which ends the job; programs still see
 * MPI_ERRORS_ARE_FATAL.
 */
#ifndef KEEL_MPI_ERROR_H_
#define KEEL_MPI_ERROR_H_

#include "mpi_state.h"

/* for MPI_COMM_WORLD and MPI_COMM_SELF; derived communicators inherit the handler */
void keel_mpi_error_make(void);
void keel_mpi_error_win(MPI_Win win);

#endif
