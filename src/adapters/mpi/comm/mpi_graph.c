/* Graphs and distributed graphs. Ranks are never reordered. */
#include "comm/mpi_topology.h"

#include "coll/mpi_coll.h"

#include <stdlib.h>
#include <string.h>

/* Begins a call on a graph of the given kind. */
#define GRAPH(_of, _graph, _handle, _kind, _call)                               \
    const keel_mpi_topology_t *_graph;                                          \
    KEEL_MPI_COMM(_of, _handle, _call)                                          \
    _graph = _of->topology;                                                     \
    if (_graph == NULL || _graph->kind != (_kind)) {                            \
        return keel_mpi_raise(_handle, MPI_ERR_TOPOLOGY, _call, "not a graph"); \
    }

/* ---- graphs known to every rank ---- */

static int is_graph(int nnodes, const int index[], const int edges[], uint32_t size)
{
    if (nnodes < 0 || (uint32_t)nnodes > size) {
        return 0;
    }
    for (int i = 0; i < nnodes; i++) {
        if (index[i] < (i > 0 ? index[i - 1] : 0)) {
            return 0;
        }
    }
    for (int i = 0; nnodes > 0 && i < index[nnodes - 1]; i++) {
        if (edges[i] < 0 || edges[i] >= nnodes) {
            return 0;
        }
    }
    return 1;
}

static int raise_graph(MPI_Comm comm, const char *call)
{
    return keel_mpi_raise(comm, MPI_ERR_ARG, call, "not a graph of the communicator's ranks");
}

int MPI_Graph_create(MPI_Comm comm_old, int nnodes, const int index[], const int edges[], int reorder,
                     MPI_Comm *comm_graph)
{
    keel_mpi_topology_t *graph;
    uint64_t context;
    int code;
    KEEL_MPI_INTRA(comm_ptr, comm_old, "MPI_Graph_create")

    if (!is_graph(nnodes, index, edges, comm_ptr->size)) {
        return raise_graph(comm_old, "MPI_Graph_create");
    }
    context = keel_mpi_comm_context(comm_ptr, "MPI_Graph_create");
    *comm_graph = MPI_COMM_NULL;
    if (comm_ptr->rank >= (uint32_t)nnodes) {
        return MPI_SUCCESS;
    }
    code = keel_mpi_comm_derive(comm_ptr, (uint32_t)nnodes,
                                keel_mpi_members_copy((uint32_t)nnodes, comm_ptr->members, "MPI_Graph_create"), context,
                                comm_graph, "MPI_Graph_create");
    if (code == MPI_SUCCESS) {
        graph = keel_mpi_topology_make(MPI_GRAPH, "MPI_Graph_create");
        graph->number = nnodes;
        graph->index = keel_mpi_ints_copy(index, (size_t)nnodes, "MPI_Graph_create");
        graph->edges = keel_mpi_ints_copy(edges, (size_t)index[nnodes - 1], "MPI_Graph_create");
        keel_mpi_comm_of(*comm_graph)->topology = graph;
    }
    return code;
}

int MPI_Graph_map(MPI_Comm comm, int nnodes, const int index[], const int edges[], int *newrank)
{
    KEEL_MPI_INTRA(comm_ptr, comm, "MPI_Graph_map")

    if (!is_graph(nnodes, index, edges, comm_ptr->size)) {
        return raise_graph(comm, "MPI_Graph_map");
    }
    *newrank = (comm_ptr->rank < (uint32_t)nnodes) ? (int)comm_ptr->rank : MPI_UNDEFINED;
    return MPI_SUCCESS;
}

int MPI_Graphdims_get(MPI_Comm comm, int *nnodes, int *nedges)
{
    GRAPH(comm_ptr, graph, comm, MPI_GRAPH, "MPI_Graphdims_get")

    *nnodes = graph->number;
    *nedges = graph->index[graph->number - 1];
    return MPI_SUCCESS;
}

int MPI_Graph_get(MPI_Comm comm, int maxindex, int maxedges, int index[], int edges[])
{
    GRAPH(comm_ptr, graph, comm, MPI_GRAPH, "MPI_Graph_get")

    for (int i = 0; i < maxindex && i < graph->number; i++) {
        index[i] = graph->index[i];
    }
    for (int i = 0; i < maxedges && i < graph->index[graph->number - 1]; i++) {
        edges[i] = graph->edges[i];
    }
    return MPI_SUCCESS;
}

static int begin_of(const keel_mpi_topology_t *graph, int rank)
{
    return (rank > 0) ? graph->index[rank - 1] : 0;
}

int MPI_Graph_neighbors_count(MPI_Comm comm, int rank, int *nneighbors)
{
    GRAPH(comm_ptr, graph, comm, MPI_GRAPH, "MPI_Graph_neighbors_count")

    if (rank < 0 || (uint32_t)rank >= comm_ptr->size) {
        return keel_mpi_raise(comm, MPI_ERR_RANK, "MPI_Graph_neighbors_count", "no rank of the communicator");
    }
    *nneighbors = graph->index[rank] - begin_of(graph, rank);
    return MPI_SUCCESS;
}

int MPI_Graph_neighbors(MPI_Comm comm, int rank, int maxneighbors, int neighbors[])
{
    GRAPH(comm_ptr, graph, comm, MPI_GRAPH, "MPI_Graph_neighbors")

    if (rank < 0 || (uint32_t)rank >= comm_ptr->size) {
        return keel_mpi_raise(comm, MPI_ERR_RANK, "MPI_Graph_neighbors", "no rank of the communicator");
    }
    for (int i = 0; i < maxneighbors && i < graph->index[rank] - begin_of(graph, rank); i++) {
        neighbors[i] = graph->edges[begin_of(graph, rank) + i];
    }
    return MPI_SUCCESS;
}

/* ---- distributed graphs ---- */

static int are_ranks(const keel_mpi_comm_t *comm_ptr, int count, const int ranks[])
{
    for (int i = 0; i < count; i++) {
        if (ranks[i] < 0 || (uint32_t)ranks[i] >= comm_ptr->size) {
            return 0;
        }
    }
    return count >= 0;
}

/* A copy of the caller's weights; zeros if there are none. */
static int *weights_of(const int weights[], int count, const char *call)
{
    const int is_there = weights != MPI_UNWEIGHTED && weights != MPI_WEIGHTS_EMPTY;

    return keel_mpi_ints_copy(is_there ? weights : NULL, (size_t)count, call);
}

static int dist_make(const keel_mpi_comm_t *comm_ptr, keel_mpi_topology_t *graph, MPI_Info info, MPI_Comm *newcomm,
                     const char *call)
{
    const uint64_t context = keel_mpi_comm_context(comm_ptr, call);
    const int code =
        keel_mpi_comm_derive(comm_ptr, comm_ptr->size, keel_mpi_members_copy(comm_ptr->size, comm_ptr->members, call),
                             context, newcomm, call);

    if (code != MPI_SUCCESS) {
        keel_mpi_topology_free(graph);
        return code;
    }
    keel_mpi_comm_of(*newcomm)->topology = graph;
    return (info != MPI_INFO_NULL) ? PMPI_Comm_set_info(*newcomm, info) : MPI_SUCCESS;
}

int MPI_Dist_graph_create_adjacent(MPI_Comm comm_old, int indegree, const int sources[], const int sourceweights[],
                                   int outdegree, const int destinations[], const int destweights[], MPI_Info info,
                                   int reorder, MPI_Comm *comm_dist_graph)
{
    static const char call[] = "MPI_Dist_graph_create_adjacent";
    keel_mpi_topology_t *graph;
    KEEL_MPI_INTRA(comm_ptr, comm_old, "MPI_Dist_graph_create_adjacent")

    if (!are_ranks(comm_ptr, indegree, sources) || !are_ranks(comm_ptr, outdegree, destinations)) {
        return raise_graph(comm_old, call);
    }
    graph = keel_mpi_topology_make(MPI_DIST_GRAPH, call);
    graph->in_count = indegree;
    graph->out_count = outdegree;
    graph->is_weighted = sourceweights != MPI_UNWEIGHTED && destweights != MPI_UNWEIGHTED;
    graph->in = keel_mpi_ints_copy(sources, (size_t)indegree, call);
    graph->in_weights = weights_of(sourceweights, indegree, call);
    graph->out = keel_mpi_ints_copy(destinations, (size_t)outdegree, call);
    graph->out_weights = weights_of(destweights, outdegree, call);
    return dist_make(comm_ptr, graph, info, comm_dist_graph, call);
}

/* Edges sent to a rank: source, destination and weight of each. */
typedef struct {
    int *edges;
    uint64_t count;
} edge_list_t;

/* The caller's edges that begin or end at the rank. */
static edge_list_t edges_of(int rank, int n, const int sources[], const int degrees[], const int destinations[],
                            const int *weights, const char *call)
{
    edge_list_t list = {0};
    size_t total = 0, at = 0;

    for (int i = 0; i < n; i++) {
        total += (size_t)degrees[i];
    }
    list.edges = keel_mpi_ints_copy(NULL, 3 * total, call);
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < degrees[i]; j++, at++) {
            if (sources[i] == rank || destinations[at] == rank) {
                int *edge = list.edges + 3 * list.count++;

                edge[0] = sources[i];
                edge[1] = destinations[at];
                edge[2] = weights[at];
            }
        }
    }
    return list;
}

static void edges_take(keel_mpi_topology_t *graph, int rank, const edge_list_t *list, const char *call)
{
    graph->in = realloc(graph->in, ((size_t)graph->in_count + list->count + 1) * sizeof(int));
    graph->in_weights = realloc(graph->in_weights, ((size_t)graph->in_count + list->count + 1) * sizeof(int));
    graph->out = realloc(graph->out, ((size_t)graph->out_count + list->count + 1) * sizeof(int));
    graph->out_weights = realloc(graph->out_weights, ((size_t)graph->out_count + list->count + 1) * sizeof(int));
    if (graph->in == NULL || graph->in_weights == NULL || graph->out == NULL || graph->out_weights == NULL) {
        keel_mpi_fatal(call, "no memory");
    }
    for (uint64_t i = 0; i < list->count; i++) {
        const int *edge = list->edges + 3 * i;

        if (edge[1] == rank) {
            graph->in[graph->in_count] = edge[0];
            graph->in_weights[graph->in_count++] = edge[2];
        }
        if (edge[0] == rank) {
            graph->out[graph->out_count] = edge[1];
            graph->out_weights[graph->out_count++] = edge[2];
        }
    }
}

/* Sends edges to all ranks, and then receives from all in rank order. */
static void edges_exchange(const keel_mpi_comm_t *comm_ptr, keel_mpi_topology_t *graph, int n, const int sources[],
                           const int degrees[], const int destinations[], const int *weights)
{
    static const char call[] = "MPI_Dist_graph_create";
    const keel_mpi_coll_t coll = keel_mpi_coll_begin(comm_ptr, call);

    for (uint32_t i = 0; i < comm_ptr->size; i++) {
        edge_list_t list = edges_of((int)i, n, sources, degrees, destinations, weights, call);

        keel_mpi_coll_send(&coll, i, &list.count, sizeof(list.count));
        keel_mpi_coll_send(&coll, i, list.edges, 3 * list.count * sizeof(int));
        free(list.edges);
    }
    for (uint32_t i = 0; i < comm_ptr->size; i++) {
        edge_list_t list = {0};

        keel_mpi_coll_receive(&coll, i, &list.count, sizeof(list.count));
        list.edges = keel_mpi_ints_copy(NULL, 3 * list.count, call);
        keel_mpi_coll_receive(&coll, i, list.edges, 3 * list.count * sizeof(int));
        edges_take(graph, (int)comm_ptr->rank, &list, call);
        free(list.edges);
    }
}

int MPI_Dist_graph_create(MPI_Comm comm_old, int n, const int sources[], const int degrees[], const int destinations[],
                          const int weights[], MPI_Info info, int reorder, MPI_Comm *comm_dist_graph)
{
    static const char call[] = "MPI_Dist_graph_create";
    keel_mpi_topology_t *graph;
    int total = 0, *given;
    KEEL_MPI_INTRA(comm_ptr, comm_old, "MPI_Dist_graph_create")

    for (int i = 0; i < n; i++) {
        if (degrees[i] < 0) {
            return raise_graph(comm_old, call);
        }
        total += degrees[i];
    }
    if (!are_ranks(comm_ptr, n, sources) || !are_ranks(comm_ptr, total, destinations)) {
        return raise_graph(comm_old, call);
    }
    graph = keel_mpi_topology_make(MPI_DIST_GRAPH, call);
    graph->is_weighted = weights != MPI_UNWEIGHTED;
    given = weights_of(weights, total, call);
    edges_exchange(comm_ptr, graph, n, sources, degrees, destinations, given);
    free(given);
    return dist_make(comm_ptr, graph, info, comm_dist_graph, call);
}

int MPI_Dist_graph_neighbors_count(MPI_Comm comm, int *indegree, int *outdegree, int *weighted)
{
    GRAPH(comm_ptr, graph, comm, MPI_DIST_GRAPH, "MPI_Dist_graph_neighbors_count")

    *indegree = graph->in_count;
    *outdegree = graph->out_count;
    *weighted = graph->is_weighted;
    return MPI_SUCCESS;
}

static void fill(int to[], int weights[], int most, const int *from, const int *from_weights, int count,
                 int is_weighted)
{
    for (int i = 0; i < most && i < count; i++) {
        to[i] = from[i];
        if (is_weighted && weights != MPI_UNWEIGHTED && weights != MPI_WEIGHTS_EMPTY) {
            weights[i] = from_weights[i];
        }
    }
}

int MPI_Dist_graph_neighbors(MPI_Comm comm, int maxindegree, int sources[], int sourceweights[], int maxoutdegree,
                             int destinations[], int destweights[])
{
    GRAPH(comm_ptr, graph, comm, MPI_DIST_GRAPH, "MPI_Dist_graph_neighbors")

    fill(sources, sourceweights, maxindegree, graph->in, graph->in_weights, graph->in_count, graph->is_weighted);
    fill(destinations, destweights, maxoutdegree, graph->out, graph->out_weights, graph->out_count, graph->is_weighted);
    return MPI_SUCCESS;
}
