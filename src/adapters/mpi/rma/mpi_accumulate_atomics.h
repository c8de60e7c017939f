/* Accumulates by Keel's own calls, where the target's memory is not the caller's to change. */
#ifndef KEEL_MPI_ACCUMULATE_ATOMICS_H_
#define KEEL_MPI_ACCUMULATE_ATOMICS_H_

#include "rma/mpi_rma.h"

/* What there was is left at @a fetched, where that is not NULL. False: Keel has no such elements or operation, or some are not aligned, or lie
 * in parts; then the bytes of *@a done_p, which is freed by the caller, say which elements are done all the same, NULL: none. */
int keel_mpi_accumulate_atomics(const keel_mpi_target_t *target, const void *packed, char *fetched, MPI_Op op,
                                char **done_p);

#endif
