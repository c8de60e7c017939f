/* Operations of accumulates on elements in memory, by loads and stores. The caller excludes
 * concurrent accesses. */
#ifndef KEEL_MPI_OP_H_
#define KEEL_MPI_OP_H_

#include "datatype/mpi_kind.h"

/* @a into = @a from op @a into for @a count elements; @a into NULL: only tests support. Returns 0
 * if the kind and operation are left to the system's MPI. */
int keel_mpi_op_apply(keel_mpi_kind_t kind, MPI_Op op, void *into, const void *from, size_t count);

#endif
