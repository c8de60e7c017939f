/* Who is whose neighbour in a communicator: Cartesian grids, graphs, and graphs of which each rank knows its own part. */
#ifndef KEEL_MPI_TOPOLOGY_H_
#define KEEL_MPI_TOPOLOGY_H_

#include "comm/mpi_comm.h"

typedef struct keel_mpi_topology {
    int kind;                             /* MPI_CART, MPI_GRAPH or MPI_DIST_GRAPH */
    int number;                           /* of dimensions, or of nodes */
    int *dims, *periods;                  /* MPI_CART */
    int *index, *edges;                   /* MPI_GRAPH, as MPI_Graph_create() has them */
    int in_count, out_count, is_weighted; /* MPI_DIST_GRAPH */
    int *in, *in_weights, *out, *out_weights;
} keel_mpi_topology_t;

keel_mpi_topology_t *keel_mpi_topology_make(int kind, const char *call);
keel_mpi_topology_t *keel_mpi_topology_copy(const keel_mpi_topology_t *topology, const char *call); /* of NULL: NULL */
void keel_mpi_topology_free(keel_mpi_topology_t *topology);
/* allocated; @a from NULL: zeros */
int *keel_mpi_ints_copy(const int *from, size_t count, const char *call);

/* neighbours in the order of neighbourhood collectives: MPI_PROC_NULL where a grid ends. Allocated. Of a message to the i-th one
 * the mark tells it apart from others to the same rank: at the receiver it is the one that is expected. */
typedef struct keel_mpi_neighbours {
    uint32_t in_count, out_count;
    int *in, *out;
    int64_t *in_marks, *out_marks;
} keel_mpi_neighbours_t;

void keel_mpi_neighbours_make(const keel_mpi_comm_t *comm, keel_mpi_neighbours_t *neighbours, const char *call);
void keel_mpi_neighbours_free(keel_mpi_neighbours_t *neighbours);
/* of a grid: MPI_PROC_NULL beyond its end */
int keel_mpi_cart_shifted(const keel_mpi_topology_t *cart, uint32_t rank, int dimension, int distance);

#endif
