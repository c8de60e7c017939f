/* Elements of a reduction, in their form in memory, since operations work on that form. */
#ifndef KEEL_MPI_REDUCE_H_
#define KEEL_MPI_REDUCE_H_

#include "coll/mpi_parts.h"

typedef struct keel_mpi_reduction {
    int count;
    MPI_Datatype type;
    MPI_Op op;
    const keel_mpi_layout_t *layout;
    size_t bytes;  /* packed */
    ptrdiff_t low; /* offset of the first byte from the origin of the first element */
    size_t span;
    const char *call;
} keel_mpi_reduction_t;

/* Returns MPI_SUCCESS or the code of a raised error. */
int keel_mpi_reduction_make(keel_mpi_reduction_t *reduction, const keel_mpi_comm_t *comm, int count, MPI_Datatype type,
                            MPI_Op op, const char *call);
/* Returns a copy of elements; keel_mpi_reduction_end() frees it. */
void *keel_mpi_reduction_begin(const keel_mpi_reduction_t *reduction, const void *from);
void keel_mpi_reduction_end(const keel_mpi_reduction_t *reduction, void *elements);
void keel_mpi_reduction_set(const keel_mpi_reduction_t *reduction, void *to, const void *from);
/* Replaces the elements by elements op packed. */
void keel_mpi_reduction_append(const keel_mpi_reduction_t *reduction, void **elements_p, const void *packed);

#endif
