/* Grids and graphs, and collectives of their neighbours. */
#include "expect.h"

#include <stdlib.h>

/* The value of a neighbour; -1 without a neighbour. */
static int from(int neighbour, int value)
{
    return (neighbour == MPI_PROC_NULL) ? -1 : value;
}

static void check_line_data(MPI_Comm line, int before, int behind)
{
    const int out[] = {rank * 10, rank * 10 + 1}, ones[] = {1, 1}, turned[] = {1, 0};
    const MPI_Aint bytes[] = {sizeof(int), 0};
    const MPI_Datatype types[] = {MPI_INT, MPI_INT};
    int in[2] = {-1, -1}, again[2] = {-1, -1};

    MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, line);
    EXPECT(in[0] == from(before, before * 10 + 1) && in[1] == from(behind, behind * 10));
    MPI_Neighbor_allgather(&rank, 1, MPI_INT, in, 1, MPI_INT, line);
    EXPECT(in[0] == from(before, before) && in[1] == from(behind, behind));
    MPI_Neighbor_allgatherv(&rank, 1, MPI_INT, again, ones, turned, MPI_INT, line);
    EXPECT(again[1] == from(before, before) && again[0] == from(behind, behind));
    in[0] = in[1] = -1;
    MPI_Neighbor_alltoallv(out, ones, turned, MPI_INT, in, ones, turned, MPI_INT, line);
    EXPECT(in[1] == from(before, before * 10) && in[0] == from(behind, behind * 10 + 1));
    again[0] = again[1] = -1;
    MPI_Neighbor_alltoallw(out, ones, bytes, types, again, ones, bytes, types, line);
    EXPECT(again[1] == from(before, before * 10) && again[0] == from(behind, behind * 10 + 1));
}

static void check_line_ahead(MPI_Comm line, int before, int behind)
{
    const int out[] = {rank * 10, rank * 10 + 1}, ones[] = {1, 1}, straight[] = {0, 1};
    const MPI_Aint bytes[] = {0, sizeof(int)};
    const MPI_Datatype types[] = {MPI_INT, MPI_INT};
    int in[5][2];
    MPI_Request requests[5];

    for (int i = 0; i < 5; i++) {
        in[i][0] = in[i][1] = -1;
    }
    MPI_Ineighbor_alltoall(out, 1, MPI_INT, in[0], 1, MPI_INT, line, &requests[0]);
    MPI_Ineighbor_alltoallv(out, ones, straight, MPI_INT, in[1], ones, straight, MPI_INT, line, &requests[1]);
    MPI_Ineighbor_alltoallw(out, ones, bytes, types, in[2], ones, bytes, types, line, &requests[2]);
    MPI_Ineighbor_allgather(&rank, 1, MPI_INT, in[3], 1, MPI_INT, line, &requests[3]);
    MPI_Ineighbor_allgatherv(&rank, 1, MPI_INT, in[4], ones, straight, MPI_INT, line, &requests[4]);
    MPI_Waitall(5, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 3; i++) {
        EXPECT(in[i][0] == from(before, before * 10 + 1) && in[i][1] == from(behind, behind * 10));
    }
    for (int i = 3; i < 5; i++) {
        EXPECT(in[i][0] == from(before, before) && in[i][1] == from(behind, behind));
    }
}

static void check_line(int is_ring)
{
    const int before = (rank > 0) ? rank - 1 : is_ring ? ranks - 1 : MPI_PROC_NULL;
    const int behind = (rank + 1 < ranks) ? rank + 1 : is_ring ? 0 : MPI_PROC_NULL;
    int source, destination, kind, number, *base;
    MPI_Comm line, copy;
    MPI_Win win;

    MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &is_ring, 0, &line);
    MPI_Cart_shift(line, 0, 1, &source, &destination);
    EXPECT(source == before && destination == behind);
    check_line_data(line, before, behind);
    check_line_ahead(line, before, behind);
    MPI_Comm_dup(line, &copy);
    MPI_Topo_test(copy, &kind);
    MPI_Cartdim_get(copy, &number);
    EXPECT(kind == MPI_CART && number == 1);
    MPI_Comm_free(&copy);
    MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, line, &base, &win);
    base[0] = -1;
    MPI_Win_fence(0, win);
    MPI_Put(&rank, 1, MPI_INT, destination, 0, 1, MPI_INT, win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    EXPECT(base[0] == from(before, before));
    MPI_Win_free(&win);
    MPI_Comm_free(&line);
}

static void check_grid(void)
{
    const int periods[] = {1, 0}, kept[] = {0, 1};
    int dims[2] = {0, 0}, coords[2], got_dims[2], got_periods[2], me, at, size, before, behind;
    double out[4], in[4] = {-1, -1, -1, -1};
    MPI_Comm grid, row;

    MPI_Dims_create(ranks, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 1, &grid);
    MPI_Comm_rank(grid, &me);
    MPI_Cart_coords(grid, me, 2, coords);
    MPI_Cart_rank(grid, coords, &at);
    EXPECT(at == me && me == coords[0] * dims[1] + coords[1]);
    MPI_Cart_get(grid, 2, got_dims, got_periods, coords);
    EXPECT(got_dims[0] == dims[0] && got_dims[1] == dims[1] && got_periods[0] == 1 && got_periods[1] == 0);
    coords[0] -= dims[0]; /* once round */
    MPI_Cart_rank(grid, coords, &at);
    EXPECT(at == me);
    MPI_Cart_sub(grid, kept, &row);
    MPI_Comm_size(row, &size);
    MPI_Comm_rank(row, &at);
    EXPECT(size == dims[1] && at == coords[1]);
    MPI_Cart_get(row, 1, got_dims, got_periods, &at);
    EXPECT(got_dims[0] == dims[1] && got_periods[0] == 0 && at == coords[1]);
    MPI_Comm_free(&row);
    for (int i = 0; i < 4; i++) {
        out[i] = me + i * 0.125;
    }
    MPI_Neighbor_alltoall(out, 1, MPI_DOUBLE, in, 1, MPI_DOUBLE, grid);
    MPI_Cart_shift(grid, 0, 1, &before, &behind);
    EXPECT(in[0] == before + 0.125 && in[1] == behind);
    MPI_Cart_shift(grid, 1, 1, &before, &behind);
    EXPECT(in[2] == (before == MPI_PROC_NULL ? -1 : before + 0.375));
    EXPECT(in[3] == (behind == MPI_PROC_NULL ? -1 : behind + 0.25));
    MPI_Comm_free(&grid);
}

static void check_graph(void)
{
    int *index = malloc((size_t)ranks * sizeof(int)), *edges = malloc(2 * (size_t)ranks * sizeof(int));
    int kind, nodes, count, neighbours[2], in[2], me;
    MPI_Comm ring;

    for (int i = 0; i < ranks; i++) {
        index[i] = 2 * (i + 1);
        edges[2 * i] = (i + ranks - 1) % ranks;
        edges[2 * i + 1] = (i + 1) % ranks;
    }
    MPI_Graph_map(MPI_COMM_WORLD, ranks, index, edges, &me);
    EXPECT(me == rank);
    MPI_Graph_create(MPI_COMM_WORLD, ranks, index, edges, 0, &ring);
    MPI_Topo_test(ring, &kind);
    MPI_Graphdims_get(ring, &nodes, &count);
    EXPECT(kind == MPI_GRAPH && nodes == ranks && count == 2 * ranks);
    MPI_Graph_neighbors_count(ring, rank, &count);
    MPI_Graph_neighbors(ring, rank, 2, neighbours);
    EXPECT(count == 2 && neighbours[0] == (rank + ranks - 1) % ranks && neighbours[1] == (rank + 1) % ranks);
    index[ranks - 1] = edges[0] = -1;
    MPI_Graph_get(ring, ranks, 2 * ranks, index, edges);
    EXPECT(index[ranks - 1] == 2 * ranks && edges[0] == ranks - 1);
    MPI_Neighbor_allgather(&rank, 1, MPI_INT, in, 1, MPI_INT, ring);
    EXPECT(in[0] == neighbours[0] && in[1] == neighbours[1]);
    MPI_Comm_free(&ring);
    free(index);
    free(edges);
}

/* Each rank passes two edges: from the left neighbour, and from the rank to itself. */
static void check_adjacent(void)
{
    const int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
    const int sources[] = {left, rank}, destinations[] = {right, rank}, in_weights[] = {left + 2, 7},
              out_weights[] = {rank + 2, 7}, out[] = {rank * 2, rank * 2 + 1};
    int ins, outs, is_weighted, got[2][2], weights[2][2], in[2];
    MPI_Comm graph;

    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, sources, in_weights, 2, destinations, out_weights, MPI_INFO_NULL,
                                   0, &graph);
    MPI_Dist_graph_neighbors_count(graph, &ins, &outs, &is_weighted);
    EXPECT(ins == 2 && outs == 2 && is_weighted);
    MPI_Dist_graph_neighbors(graph, 2, got[0], weights[0], 2, got[1], weights[1]);
    EXPECT(got[0][0] == left && weights[0][0] == left + 2 && got[1][1] == rank && weights[1][1] == 7);
    MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, graph);
    EXPECT(in[0] == left * 2 && in[1] == rank * 2 + 1);
    MPI_Comm_free(&graph);
}

/* A single rank passes all edges, from the rank to every other rank. */
static void check_star(void)
{
    const int zero = 0, degree = ranks - 1, said = 42 + rank;
    int *others = calloc((size_t)ranks, sizeof(int)), ins, outs, is_weighted, got = -1;
    MPI_Comm star;

    for (int i = 1; i < ranks; i++) {
        others[i - 1] = i;
    }
    MPI_Dist_graph_create(MPI_COMM_WORLD, rank == 0, &zero, &degree, others, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &star);
    MPI_Dist_graph_neighbors_count(star, &ins, &outs, &is_weighted);
    EXPECT(ins == (rank != 0) && outs == (rank == 0 ? degree : 0) && !is_weighted);
    MPI_Neighbor_allgather(&said, 1, MPI_INT, &got, 1, MPI_INT, star);
    EXPECT(got == (rank == 0 ? -1 : 42));
    MPI_Comm_free(&star);
    free(others);
}

static int class_of(int code)
{
    int class;

    MPI_Error_class(code, &class);
    return class;
}

static void check_wrong(void)
{
    const int more = ranks + 1, none = 0;
    int value, dims[1] = {ranks}, coords[1] = {ranks};
    MPI_Comm made;

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    EXPECT(class_of(MPI_Cart_create(MPI_COMM_WORLD, 1, &more, &none, 0, &made)) == MPI_ERR_DIMS);
    EXPECT(class_of(MPI_Cart_map(MPI_COMM_WORLD, 1, &more, &none, &value)) == MPI_ERR_DIMS);
    EXPECT(class_of(MPI_Cartdim_get(MPI_COMM_WORLD, &value)) == MPI_ERR_TOPOLOGY);
    EXPECT(class_of(MPI_Neighbor_allgather(&rank, 1, MPI_INT, &value, 1, MPI_INT, MPI_COMM_WORLD)) == MPI_ERR_TOPOLOGY);
    EXPECT(class_of(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &more, MPI_UNWEIGHTED, 0, NULL, MPI_UNWEIGHTED,
                                                   MPI_INFO_NULL, 0, &made)) == MPI_ERR_ARG);
    MPI_Cart_map(MPI_COMM_WORLD, 1, dims, &none, &value);
    EXPECT(value == rank);
    MPI_Cart_create(MPI_COMM_WORLD, 1, dims, &none, 0, &made);
    EXPECT(class_of(MPI_Cart_rank(made, coords, &value)) == MPI_ERR_ARG);
    EXPECT(class_of(MPI_Cart_coords(made, ranks, 1, coords)) == MPI_ERR_RANK);
    EXPECT(class_of(MPI_Cart_shift(made, 1, 1, &value, &value)) == MPI_ERR_DIMS);
    EXPECT(class_of(MPI_Graphdims_get(made, &value, &value)) == MPI_ERR_TOPOLOGY);
    MPI_Comm_free(&made);
    if (ranks > 1) { /* the last rank is not part of the grid */
        dims[0] = ranks - 1;
        MPI_Cart_create(MPI_COMM_WORLD, 1, dims, &none, 0, &made);
        EXPECT((made == MPI_COMM_NULL) == (rank == ranks - 1));
        if (made != MPI_COMM_NULL) {
            MPI_Comm_free(&made);
        }
    }
}

int main(int argc, char **argv)
{
    expect_begin(&argc, &argv);
    check_line(0);
    check_line(1);
    check_grid();
    check_graph();
    check_adjacent();
    check_star();
    check_wrong();
    return expect_end("mpi_topologies");
}
