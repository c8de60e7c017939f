/* What accumulates do to elements in memory, by the own loads and stores: who calls sees to it that nobody else does meanwhile. */
#ifndef KEEL_MPI_OP_H_
#define KEEL_MPI_OP_H_

#include "datatype/mpi_kind.h"

/* @a into = @a from op @a into, of @a count elements, NULL: of none; false: the system's MPI has to say, or to do it */
int keel_mpi_op_apply(keel_mpi_kind_t kind, MPI_Op op, void *into, const void *from, size_t count);

#endif
