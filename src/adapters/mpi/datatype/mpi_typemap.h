/* How a datatype was constructed, and its runs, which follow from that. */
#ifndef KEEL_MPI_TYPEMAP_H_
#define KEEL_MPI_TYPEMAP_H_

#include "datatype/mpi_layout.h"

typedef struct keel_mpi_runs {
    keel_mpi_run_t *runs; /* allocated */
    size_t count, room;
} keel_mpi_runs_t;

/* how it was constructed */
typedef struct keel_mpi_contents {
    int combiner, integer_count, address_count, type_count;
    int *integers; /* allocated, as the others */
    MPI_Aint *addresses;
    MPI_Datatype *types;
} keel_mpi_contents_t;

/* the combiner and how much there is; 0: no type */
int keel_mpi_contents_count(MPI_Datatype type, keel_mpi_contents_t *contents);
/* and the rest, of one that is not predefined; 0: cannot, and there is nothing to free */
int keel_mpi_contents_get(MPI_Datatype type, keel_mpi_contents_t *contents);
void keel_mpi_contents_free(keel_mpi_contents_t *contents);
/* predefined: nobody made it, and nobody frees it */
int keel_mpi_type_is_named(MPI_Datatype type);

/* of one that was not constructed, or otherwise than is known here: adds its runs; 0: cannot */
typedef int (*keel_mpi_named_cb_t)(MPI_Datatype type, keel_mpi_runs_t *runs);

/* behind those that are there; 0: no memory */
int keel_mpi_runs_add(keel_mpi_runs_t *runs, ptrdiff_t offset, size_t length);
/* in the order of its type map, which is that of packing; 0: cannot */
int keel_mpi_typemap(MPI_Datatype type, keel_mpi_named_cb_t named, keel_mpi_runs_t *runs);

#endif
