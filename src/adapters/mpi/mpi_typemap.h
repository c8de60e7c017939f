/* The runs of a datatype, from how it was constructed. */
#ifndef KEEL_MPI_TYPEMAP_H_
#define KEEL_MPI_TYPEMAP_H_

#include "mpi_layout.h"

typedef struct keel_mpi_runs {
    keel_mpi_run_t *runs; /* allocated */
    size_t count, room;
} keel_mpi_runs_t;

/* of one that was not constructed, or otherwise than is known here: adds its runs; 0: cannot */
typedef int (*keel_mpi_named_cb_t)(MPI_Datatype type, keel_mpi_runs_t *runs);

/* behind those that are there; 0: no memory */
int keel_mpi_runs_add(keel_mpi_runs_t *runs, ptrdiff_t offset, size_t length);
/* in the order of its type map, which is that of packing; 0: cannot */
int keel_mpi_typemap(MPI_Datatype type, keel_mpi_named_cb_t named, keel_mpi_runs_t *runs);

#endif
