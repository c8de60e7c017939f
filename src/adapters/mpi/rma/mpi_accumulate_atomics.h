/* Accumulates by Keel's atomics and accumulates, for targets with memory that the caller cannot
 * change itself. */
#ifndef KEEL_MPI_ACCUMULATE_ATOMICS_H_
#define KEEL_MPI_ACCUMULATE_ATOMICS_H_

#include "datatype/mpi_kind.h"
#include "rma/mpi_rma.h"

#include <keel/rma.h>

/* The operation of Keel's accumulates; KEEL_OP_LAST: none. */
keel_op_t keel_mpi_op_of(MPI_Op op);
/* The atomic for an accumulate of one integer; KEEL_ATOMIC_LAST: none. */
keel_atomic_op_t keel_mpi_atomic_of(MPI_Op op, keel_mpi_kind_t kind);
/* Old values go to @a fetched unless NULL. Returns 0 if Keel has no such elements or operation, or
 * if some elements are misaligned or lie in parts. *@a done_p then has a byte for each element that
 * is done nevertheless, or is NULL if none is; the caller frees it. */
int keel_mpi_accumulate_atomics(const keel_mpi_target_t *target, const void *packed, char *fetched, MPI_Op op,
                                char **done_p);

#endif
