/* What accumulates do to elements in memory, by the own loads and stores: who calls sees to it that nobody else does meanwhile. */
#ifndef KEEL_MPI_COMBINE_H_
#define KEEL_MPI_COMBINE_H_

#include "mpi_layout.h"

/* of elements of which the system's MPI is not asked */
typedef enum {
    KEEL_MPI_OTHER,
    KEEL_MPI_INT32,
    KEEL_MPI_UINT32,
    KEEL_MPI_INT64,
    KEEL_MPI_UINT64,
    KEEL_MPI_FLOAT,
    KEEL_MPI_DOUBLE,
    KEEL_MPI_KINDS
} keel_mpi_kind_t;

keel_mpi_kind_t keel_mpi_kind_of(MPI_Datatype basic, size_t size);
static inline int keel_mpi_kind_is_integer(keel_mpi_kind_t kind)
{
    return kind >= KEEL_MPI_INT32 && kind <= KEEL_MPI_UINT64;
}

/* @a into = @a from op @a into, of @a count elements, NULL: of none; false: the system's MPI has to do it */
int keel_mpi_combine(keel_mpi_kind_t kind, MPI_Op op, void *into, const void *from, size_t count);

#endif
