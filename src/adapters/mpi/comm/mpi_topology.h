/* Topologies of a communicator: Cartesian grids, graphs, and distributed graphs, of which each rank
 * knows its own edges. */
#ifndef KEEL_MPI_TOPOLOGY_H_
#define KEEL_MPI_TOPOLOGY_H_

#include "comm/mpi_comm.h"

typedef struct keel_mpi_topology {
    int kind;                             /* MPI_CART, MPI_GRAPH or MPI_DIST_GRAPH */
    int number;                           /* number of dimensions, or of nodes */
    int *dims, *periods;                  /* MPI_CART */
    int *index, *edges;                   /* MPI_GRAPH, as in MPI_Graph_create() */
    int in_count, out_count, is_weighted; /* MPI_DIST_GRAPH */
    int *in, *in_weights, *out, *out_weights;
} keel_mpi_topology_t;

keel_mpi_topology_t *keel_mpi_topology_make(int kind, const char *call);
/* NULL for NULL */
keel_mpi_topology_t *keel_mpi_topology_copy(const keel_mpi_topology_t *topology, const char *call);
void keel_mpi_topology_free(keel_mpi_topology_t *topology);
/* Returns an allocated copy; @a from NULL: zeros. */
int *keel_mpi_ints_copy(const int *from, size_t count, const char *call);

/* Neighbours in the order of neighbourhood collectives, allocated; MPI_PROC_NULL beyond the end of
 * a grid. The mark of the i-th neighbour tells its message apart from other messages to the same
 * rank: the sender's out mark equals the in mark that the receiver expects. */
typedef struct keel_mpi_neighbours {
    uint32_t in_count, out_count;
    int *in, *out;
    int64_t *in_marks, *out_marks;
} keel_mpi_neighbours_t;

void keel_mpi_neighbours_make(const keel_mpi_comm_t *comm, keel_mpi_neighbours_t *neighbours, const char *call);
void keel_mpi_neighbours_free(keel_mpi_neighbours_t *neighbours);
/* A neighbour in a grid; MPI_PROC_NULL beyond the end. */
int keel_mpi_cart_shifted(const keel_mpi_topology_t *cart, uint32_t rank, int dimension, int distance);

#endif
