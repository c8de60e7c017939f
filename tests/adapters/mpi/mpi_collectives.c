/* Collectives, communicators and groups, each call's values checked on every rank. */
#include "expect.h"

#include <stdlib.h>
#include <string.h>

/* A type and a place in bytes for each rank. */
static void check_each_type(MPI_Comm comm, int me, int n, const int *from, int *to, int *counts, int *displs)
{
    MPI_Datatype *types = malloc((size_t)n * sizeof(MPI_Datatype));

    for (int i = 0; i < n; i++) {
        types[i] = MPI_INT;
        counts[i] = 1;
        displs[i] = i * (int)sizeof(int);
        to[i] = -1;
    }
    MPI_Alltoallw(from, counts, displs, types, to, counts, displs, types, comm);
    for (int i = 0; i < n; i++) {
        EXPECT(to[i] == i * 100 + me);
    }
    free(types);
}

static void check_data(MPI_Comm comm)
{
    int me, n, value, *all, *other, *counts, *displs;

    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &n);
    all = calloc((size_t)n * n + 10, sizeof(int));
    other = calloc((size_t)n * n + 10, sizeof(int));
    counts = malloc((size_t)n * sizeof(int));
    displs = malloc((size_t)n * sizeof(int));
    for (int root = 0; root < n; root++) {
        value = (me == root) ? root + 40 : -1;
        MPI_Bcast(&value, 1, MPI_INT, root, comm);
        EXPECT(value == root + 40);
        value = me * 3;
        MPI_Gather(&value, 1, MPI_INT, all, 1, MPI_INT, root, comm);
        for (int i = 0; i < n && me == root; i++) {
            EXPECT(all[i] == i * 3);
        }
        value = -1;
        MPI_Scatter(all, 1, MPI_INT, &value, 1, MPI_INT, root, comm);
        EXPECT(value == me * 3);
    }
    for (int i = 0; i < n; i++) {
        counts[i] = i + 1;
        displs[i] = i * n;
        other[i] = me * 10 + i;
    }
    MPI_Gatherv(other, me + 1, MPI_INT, all, counts, displs, MPI_INT, n - 1, comm);
    EXPECT(me != n - 1 || (all[(n - 1) * n + n - 1] == (n - 1) * 10 + n - 1 && all[0] == 0));
    MPI_Scatterv(all, counts, displs, MPI_INT, other, me + 1, MPI_INT, n - 1, comm);
    EXPECT(other[me] == me * 10 + me);
    MPI_Allgather(&me, 1, MPI_INT, all, 1, MPI_INT, comm);
    EXPECT(all[0] == 0 && all[n - 1] == n - 1);
    all[me] = me + 5;
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 1, MPI_INT, comm);
    EXPECT(all[0] == 5 && all[n - 1] == n + 4);
    for (int i = 0; i <= me; i++) {
        other[i] = me * 10 + i;
    }
    MPI_Allgatherv(other, me + 1, MPI_INT, all, counts, displs, MPI_INT, comm);
    EXPECT(all[(n - 1) * n + n - 1] == (n - 1) * 10 + n - 1 && all[0] == 0);
    for (int i = 0; i < n; i++) {
        other[i] = me * 100 + i;
    }
    MPI_Alltoall(other, 1, MPI_INT, all, 1, MPI_INT, comm);
    for (int i = 0; i < n; i++) {
        EXPECT(all[i] == i * 100 + me);
        counts[i] = 1;
        displs[i] = n - 1 - i;
    }
    MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 1, MPI_INT, comm);
    EXPECT(all[0] == me * 100 && all[n - 1] == me * 100 + n - 1);
    MPI_Alltoallv(other, counts, displs, MPI_INT, all, counts, displs, MPI_INT, comm);
    EXPECT(all[n - 1] == n - 1 - me && all[0] == (n - 1) * 100 + n - 1 - me);
    check_each_type(comm, me, n, other, all, counts, displs);
    free(all);
    free(other);
    free(counts);
    free(displs);
}

/* Multiplies 2 by 2 matrices: the product is not commutative. */
static void multiply(void *in, void *inout, int *count, MPI_Datatype *type)
{
    const int *a = in;
    int *b = inout;

    for (int i = 0; i < *count; i++, a += 4, b += 4) {
        const int c[4] = {a[0] * b[0] + a[1] * b[2], a[0] * b[1] + a[1] * b[3], a[2] * b[0] + a[3] * b[2],
                          a[2] * b[1] + a[3] * b[3]};

        memcpy(b, c, sizeof(c));
    }
}

static void check_reductions(MPI_Comm comm)
{
    struct {
        double value;
        int index;
    } mine, least;
    double third, sum, sum_of_all;
    int me, n, in[3], out[3], wide[64], *counts, *all, matrix[4], product[4], expected[4] = {1, 0, 0, 1};
    MPI_Datatype four;
    MPI_Op times;

    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &n);
    for (int i = 0; i < 3; i++) {
        in[i] = me + i;
    }
    for (int root = 0; root < n; root++) {
        MPI_Reduce(in, out, 3, MPI_INT, MPI_SUM, root, comm);
        EXPECT(me != root || (out[0] == n * (n - 1) / 2 && out[2] == n * (n - 1) / 2 + 2 * n));
    }
    MPI_Allreduce(in, out, 3, MPI_INT, MPI_MAX, comm);
    EXPECT(out[0] == n - 1 && out[2] == n + 1);
    memcpy(out, in, sizeof(in));
    MPI_Allreduce(MPI_IN_PLACE, out, 3, MPI_INT, MPI_MIN, comm);
    EXPECT(out[0] == 0 && out[2] == 2);
    mine.value = (me == n / 2) ? -1.5 : me;
    mine.index = me;
    MPI_Allreduce(&mine, &least, 1, MPI_DOUBLE_INT, MPI_MINLOC, comm);
    EXPECT(least.value == -1.5 && least.index == n / 2);
    third = 1.0 / (3 + me);
    MPI_Reduce(&third, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, comm);
    MPI_Bcast(&sum, 1, MPI_DOUBLE, 0, comm);
    MPI_Allreduce(&third, &sum_of_all, 1, MPI_DOUBLE, MPI_SUM, comm);
    EXPECT(memcmp(&sum, &sum_of_all, sizeof(sum)) == 0);
    MPI_Scan(in, out, 3, MPI_INT, MPI_SUM, comm);
    EXPECT(out[0] == me * (me + 1) / 2);
    out[0] = -7;
    MPI_Exscan(in, out, 3, MPI_INT, MPI_SUM, comm);
    EXPECT(out[0] == (me == 0 ? -7 : me * (me - 1) / 2));
    all = malloc((size_t)n * sizeof(int));
    for (int i = 0; i < n; i++) {
        all[i] = me * i;
    }
    MPI_Reduce_scatter_block(all, out, 1, MPI_INT, MPI_SUM, comm);
    EXPECT(out[0] == n * (n - 1) / 2 * me);
    counts = calloc((size_t)n, sizeof(int));
    counts[n - 1] = n; /* all elements go to the last rank */
    MPI_Reduce_scatter(all, wide, counts, MPI_INT, MPI_SUM, comm);
    EXPECT(me != n - 1 || (wide[0] == 0 && wide[n - 1] == n * (n - 1) / 2 * (n - 1)));
    free(counts);
    free(all);
    MPI_Type_contiguous(4, MPI_INT, &four);
    MPI_Type_commit(&four);
    MPI_Op_create(multiply, 0, &times);
    for (int i = 0; i < n; i++) {
        int step[4] = {1, i + 1, i % 2, 1}, count = 1;

        memcpy(matrix, i == me ? step : matrix, sizeof(matrix));
        multiply(expected, step, &count, &four);
        memcpy(expected, step, sizeof(step));
    }
    MPI_Allreduce(matrix, product, 1, four, times, comm);
    EXPECT(memcmp(product, expected, sizeof(product)) == 0);
    MPI_Op_free(&times);
    MPI_Type_free(&four);
}

static void check_ahead(MPI_Comm comm)
{
    int me, n, value, sum = 0, flag = 0;
    MPI_Request requests[3];

    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &n);
    value = (me == n - 1) ? 99 : 0;
    MPI_Ibcast(&value, 1, MPI_INT, n - 1, comm, &requests[0]);
    MPI_Iallreduce(&me, &sum, 1, MPI_INT, MPI_SUM, comm, &requests[1]);
    MPI_Ibarrier(comm, &requests[2]);
    MPI_Barrier(comm);
    while (!flag) {
        MPI_Testall(3, requests, &flag, MPI_STATUSES_IGNORE);
    }
    EXPECT(value == 99 && sum == n * (n - 1) / 2 && requests[2] == MPI_REQUEST_NULL);
}

static void check_comms(void)
{
    MPI_Comm dup, half, node, picked, among, single;
    MPI_Group world, evens, odds, both, none;
    int n, me, result, picks[] = {0, ranks - 1}, translated[2], range[1][3] = {{0, ranks - 1, 2}};

    MPI_Comm_dup_with_info(MPI_COMM_WORLD, MPI_INFO_NULL, &dup);
    MPI_Comm_test_inter(dup, &result);
    EXPECT(!result);
    MPI_Comm_disconnect(&dup);
    EXPECT(dup == MPI_COMM_NULL);
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    MPI_Comm_compare(MPI_COMM_WORLD, dup, &result);
    EXPECT(result == MPI_CONGRUENT);
    check_data(dup);
    MPI_Comm_split(dup, rank % 2, -rank, &half); /* in reverse order */
    MPI_Comm_size(half, &n);
    MPI_Comm_rank(half, &me);
    EXPECT(n == (ranks + 1 - rank % 2) / 2 && me == n - 1 - rank / 2);
    check_data(half);
    check_reductions(half);
    check_ahead(half);
    MPI_Comm_split(half, me == 0 ? MPI_UNDEFINED : 3, 0, &single);
    EXPECT((single == MPI_COMM_NULL) == (me == 0));
    if (single != MPI_COMM_NULL) {
        MPI_Comm_size(single, &result);
        EXPECT(result == n - 1);
        MPI_Comm_free(&single);
    }
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &n);
    EXPECT(n >= 1 && n <= ranks);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_range_incl(world, 1, range, &evens);
    MPI_Group_difference(world, evens, &odds);
    MPI_Group_union(odds, evens, &both);
    MPI_Group_intersection(odds, evens, &none);
    MPI_Group_size(both, &n);
    MPI_Group_compare(both, world, &result);
    EXPECT(n == ranks && result == (ranks == 1 ? MPI_IDENT : MPI_SIMILAR) && none == MPI_GROUP_EMPTY);
    MPI_Group_range_excl(world, 1, range, &none);
    MPI_Group_compare(none, odds, &result);
    EXPECT(result == MPI_IDENT);
    MPI_Group_excl(world, 1, picks, &none);
    MPI_Group_size(none, &n);
    EXPECT(n == ranks - 1);
    MPI_Group_rank(evens, &me);
    EXPECT(me == (rank % 2 == 0 ? rank / 2 : MPI_UNDEFINED));
    MPI_Group_translate_ranks(world, 2, picks, evens, translated);
    EXPECT(translated[0] == 0 && translated[1] == ((ranks - 1) % 2 == 0 ? (ranks - 1) / 2 : MPI_UNDEFINED));
    MPI_Comm_create(MPI_COMM_WORLD, evens, &picked);
    EXPECT((picked == MPI_COMM_NULL) == (rank % 2 == 1));
    if (picked != MPI_COMM_NULL) {
        MPI_Comm_create_group(MPI_COMM_WORLD, evens, 12, &among);
        check_data(picked);
        check_reductions(among);
        MPI_Comm_free(&among);
        MPI_Comm_free(&picked);
    }
    MPI_Group_free(&world);
    MPI_Group_free(&evens);
    MPI_Group_free(&both);
    EXPECT(world == MPI_GROUP_NULL);
    MPI_Comm_free(&node);
    MPI_Comm_free(&half);
    MPI_Comm_free(&dup);
    EXPECT(dup == MPI_COMM_NULL);
}

int main(int argc, char **argv)
{
    expect_begin(&argc, &argv);
    check_data(MPI_COMM_WORLD);
    check_data(MPI_COMM_SELF);
    check_reductions(MPI_COMM_WORLD);
    check_ahead(MPI_COMM_WORLD);
    check_comms();
    return expect_end("mpi_collectives");
}
