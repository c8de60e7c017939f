/* The constructor of a datatype, and the runs that follow from it. */
#ifndef KEEL_MPI_TYPEMAP_H_
#define KEEL_MPI_TYPEMAP_H_

#include "datatype/mpi_layout.h"

typedef struct keel_mpi_runs {
    keel_mpi_run_t *runs; /* allocated */
    size_t count, room;
} keel_mpi_runs_t;

/* Arguments of the constructor. */
typedef struct keel_mpi_contents {
    int combiner, integer_count, address_count, type_count;
    int *integers; /* allocated, as the other arrays */
    MPI_Aint *addresses;
    MPI_Datatype *types;
} keel_mpi_contents_t;

/* Reads the combiner and the lengths; 0: not a type. */
int keel_mpi_contents_count(MPI_Datatype type, keel_mpi_contents_t *contents);
/* Reads the arrays of a type that is not predefined; 0: failed, with nothing to free. */
int keel_mpi_contents_get(MPI_Datatype type, keel_mpi_contents_t *contents);
void keel_mpi_contents_free(keel_mpi_contents_t *contents);
/* True for a predefined type, which is never freed. */
int keel_mpi_type_is_named(MPI_Datatype type);

/* Appends the runs of a type without a known constructor; 0: failed. */
typedef int (*keel_mpi_named_cb_t)(MPI_Datatype type, keel_mpi_runs_t *runs);

/* Appends a run; 0: no memory. */
int keel_mpi_runs_add(keel_mpi_runs_t *runs, ptrdiff_t offset, size_t length);
/* Appends the runs of the type map, which is in the order of packing; 0: failed. */
int keel_mpi_typemap(MPI_Datatype type, keel_mpi_named_cb_t named, keel_mpi_runs_t *runs);

#endif
