#include "comm/mpi_topology.h"

#include <stdlib.h>
#include <string.h>

int *keel_mpi_ints_copy(const int *from, size_t count, const char *call)
{
    int *numbers = calloc(count + 1, sizeof(*numbers));

    if (numbers == NULL) {
        keel_mpi_fatal(call, "no memory");
    }
    if (from != NULL) {
        memcpy(numbers, from, count * sizeof(*numbers));
    }
    return numbers;
}

keel_mpi_topology_t *keel_mpi_topology_make(int kind, const char *call)
{
    keel_mpi_topology_t *topology = calloc(1, sizeof(*topology));

    if (topology == NULL) {
        keel_mpi_fatal(call, "no memory");
    }
    topology->kind = kind;
    return topology;
}

void keel_mpi_topology_free(keel_mpi_topology_t *topology)
{
    if (topology != NULL) {
        free(topology->dims);
        free(topology->periods);
        free(topology->index);
        free(topology->edges);
        free(topology->in);
        free(topology->in_weights);
        free(topology->out);
        free(topology->out_weights);
        free(topology);
    }
}

keel_mpi_topology_t *keel_mpi_topology_copy(const keel_mpi_topology_t *topology, const char *call)
{
    keel_mpi_topology_t *copy;
    size_t number;

    if (topology == NULL) {
        return NULL;
    }
    number = (size_t)topology->number;
    copy = keel_mpi_topology_make(topology->kind, call);
    *copy = *topology;
    if (topology->kind == MPI_CART) {
        copy->dims = keel_mpi_ints_copy(topology->dims, number, call);
        copy->periods = keel_mpi_ints_copy(topology->periods, number, call);
    } else if (topology->kind == MPI_GRAPH) {
        copy->index = keel_mpi_ints_copy(topology->index, number, call);
        copy->edges = keel_mpi_ints_copy(topology->edges, number > 0 ? (size_t)topology->index[number - 1] : 0, call);
    } else {
        copy->in = keel_mpi_ints_copy(topology->in, (size_t)topology->in_count, call);
        copy->in_weights = keel_mpi_ints_copy(topology->in_weights, (size_t)topology->in_count, call);
        copy->out = keel_mpi_ints_copy(topology->out, (size_t)topology->out_count, call);
        copy->out_weights = keel_mpi_ints_copy(topology->out_weights, (size_t)topology->out_count, call);
    }
    return copy;
}

/* ---- neighbours ---- */

int keel_mpi_cart_shifted(const keel_mpi_topology_t *cart, uint32_t rank, int dimension, int distance)
{
    int stride = 1, at;

    for (int i = dimension + 1; i < cart->number; i++) {
        stride *= cart->dims[i];
    }
    at = (int)rank / stride % cart->dims[dimension];
    if (cart->periods[dimension]) {
        const int to = (at + distance % cart->dims[dimension] + cart->dims[dimension]) % cart->dims[dimension];

        return (int)rank + (to - at) * stride;
    }
    return (distance < -at || distance >= cart->dims[dimension] - at) ? MPI_PROC_NULL : (int)rank + distance * stride;
}

static void neighbours_room(keel_mpi_neighbours_t *neighbours, int in_count, int out_count, const char *call)
{
    neighbours->in_count = (uint32_t)in_count;
    neighbours->out_count = (uint32_t)out_count;
    neighbours->in = keel_mpi_ints_copy(NULL, neighbours->in_count, call);
    neighbours->out = keel_mpi_ints_copy(NULL, neighbours->out_count, call);
    neighbours->in_marks = calloc(neighbours->in_count + 1, sizeof(*neighbours->in_marks));
    neighbours->out_marks = calloc(neighbours->out_count + 1, sizeof(*neighbours->out_marks));
    if (neighbours->in_marks == NULL || neighbours->out_marks == NULL) {
        keel_mpi_fatal(call, "no memory");
    }
}

/* A message to the neighbour ahead arrives there as one from behind; in a ring of two ranks both
 * neighbours are the same rank, so marks differ. */
static void neighbours_cart(const keel_mpi_comm_t *comm, keel_mpi_neighbours_t *neighbours, const char *call)
{
    const keel_mpi_topology_t *cart = comm->topology;

    neighbours_room(neighbours, 2 * cart->number, 2 * cart->number, call);
    for (int i = 0; i < 2 * cart->number; i++) {
        neighbours->in[i] = neighbours->out[i] = keel_mpi_cart_shifted(cart, comm->rank, i / 2, (i % 2 == 0) ? -1 : 1);
        neighbours->in_marks[i] = i + 1;
        neighbours->out_marks[i] = (i ^ 1) + 1;
    }
}

/* Parallel edges between two ranks match in order. */
void keel_mpi_neighbours_make(const keel_mpi_comm_t *comm, keel_mpi_neighbours_t *neighbours, const char *call)
{
    const keel_mpi_topology_t *topology = comm->topology;

    if (topology->kind == MPI_CART) {
        neighbours_cart(comm, neighbours, call);
    } else if (topology->kind == MPI_GRAPH) {
        const int begin = (comm->rank > 0) ? topology->index[comm->rank - 1] : 0;
        const int count = topology->index[comm->rank] - begin;

        neighbours_room(neighbours, count, count, call);
        memcpy(neighbours->in, topology->edges + begin, (size_t)count * sizeof(int));
        memcpy(neighbours->out, topology->edges + begin, (size_t)count * sizeof(int));
    } else {
        neighbours_room(neighbours, topology->in_count, topology->out_count, call);
        memcpy(neighbours->in, topology->in, (size_t)topology->in_count * sizeof(int));
        memcpy(neighbours->out, topology->out, (size_t)topology->out_count * sizeof(int));
    }
}

void keel_mpi_neighbours_free(keel_mpi_neighbours_t *neighbours)
{
    free(neighbours->in);
    free(neighbours->out);
    free(neighbours->in_marks);
    free(neighbours->out_marks);
}

int MPI_Topo_test(MPI_Comm comm, int *status)
{
    KEEL_MPI_COMM(comm_ptr, comm, "MPI_Topo_test")

    *status = (comm_ptr->topology != NULL) ? comm_ptr->topology->kind : MPI_UNDEFINED;
    return MPI_SUCCESS;
}
