/* Elements under an operation: in the form that they have in memory, since that is what an operation works on. */
#ifndef KEEL_MPI_REDUCE_H_
#define KEEL_MPI_REDUCE_H_

#include "coll/mpi_parts.h"

typedef struct keel_mpi_reduction {
    int count;
    MPI_Datatype type;
    MPI_Op op;
    const keel_mpi_layout_t *layout;
    size_t bytes;  /* packed */
    ptrdiff_t low; /* where the first byte is, from where the first element begins */
    size_t span;
    const char *call;
} keel_mpi_reduction_t;

/* MPI_SUCCESS, or an error that was raised */
int keel_mpi_reduction_make(keel_mpi_reduction_t *reduction, const keel_mpi_comm_t *comm, int count, MPI_Datatype type,
                            MPI_Op op, const char *call);
/* a copy of elements, to be ended */
void *keel_mpi_reduction_begin(const keel_mpi_reduction_t *reduction, const void *from);
void keel_mpi_reduction_end(const keel_mpi_reduction_t *reduction, void *elements);
void keel_mpi_reduction_set(const keel_mpi_reduction_t *reduction, void *to, const void *from);
/* what it holds, and after that what is packed, under the operation */
void keel_mpi_reduction_append(const keel_mpi_reduction_t *reduction, void **elements_p, const void *packed);

#endif
