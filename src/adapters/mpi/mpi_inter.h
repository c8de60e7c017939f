/* Intercommunicators: messages go to another group, and what both groups have to know goes by the first ranks of each. */
#ifndef KEEL_MPI_INTER_H_
#define KEEL_MPI_INTER_H_

#include "mpi_comm.h"

/* a context for both groups; collective over them */
uint64_t keel_mpi_inter_context(const keel_mpi_comm_t *inter, const char *call);

#endif
