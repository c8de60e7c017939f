/* The system's MPI, started as a job of one: it gives datatypes, operations, info and error handlers, and never sees another process. */
#ifndef KEEL_MPI_SINGLETON_H_
#define KEEL_MPI_SINGLETON_H_

#include "mpi_state.h"

/* PMPI_Init_thread, with nothing in the environment that would tell it of a launcher or make it look for others */
int keel_mpi_singleton_init(int *argc, char ***argv, int required, int *provided);

#endif
