/* Accumulates by Keel's own calls, where the target's memory is not the caller's to change. */
#ifndef KEEL_MPI_ELEMENTS_H_
#define KEEL_MPI_ELEMENTS_H_

#include "mpi_rma.h"

/* what there was is left at @a fetched, where that is not NULL; false: Keel has no such elements or operation, or they are not aligned */
int keel_mpi_elements(const keel_mpi_target_t *target, const void *packed, char *fetched, MPI_Op op);

#endif
