/* The system's MPI runs as a job of one process: for datatypes, operations, info and error
 * handlers, without communication. */
#ifndef KEEL_MPI_SINGLETON_H_
#define KEEL_MPI_SINGLETON_H_

#include "mpi_state.h"

/* PMPI_Init_thread() in an environment without traces of the launcher and without need for other
 * processes. */
int keel_mpi_singleton_init(int *argc, char ***argv, int required, int *provided);

#endif
