/* Nonblocking collectives: several at a time, completed in another order, and mixed with
 * messages. */
#include "expect.h"

#include <stdlib.h>
#include <string.h>

enum { LARGE = 200000 };

/* Collectives with a root, and reductions, all outstanding at once. */
static void check_rooted(int root)
{
    int said = (rank == root) ? root + 5 : -1, mine = rank * 3, part = -1, one = rank + 1, sum = -1, most, up_to,
        before = -9, own = -1, count = 0, *all = calloc(2 * (size_t)ranks, sizeof(int)), *parts = all + ranks;
    int *each = malloc((size_t)ranks * sizeof(int));
    MPI_Request requests[9];

    for (int i = 0; i < ranks; i++) {
        parts[i] = i + root;
        each[i] = rank + i;
    }
    MPI_Ibcast(&said, 1, MPI_INT, root, MPI_COMM_WORLD, &requests[count++]);
    MPI_Igather(&mine, 1, MPI_INT, all, 1, MPI_INT, root, MPI_COMM_WORLD, &requests[count++]);
    MPI_Iscatter(parts, 1, MPI_INT, &part, 1, MPI_INT, root, MPI_COMM_WORLD, &requests[count++]);
    MPI_Ireduce(&one, &sum, 1, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD, &requests[count++]);
    MPI_Iallreduce(&one, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD, &requests[count++]);
    MPI_Iscan(&one, &up_to, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[count++]);
    MPI_Iexscan(&one, &before, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[count++]);
    MPI_Ibarrier(MPI_COMM_WORLD, &requests[count++]);
    MPI_Ireduce_scatter_block(each, &own, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[count++]);
    while (count > 0) {
        MPI_Wait(&requests[--count], MPI_STATUS_IGNORE);
    }
    EXPECT(said == root + 5 && part == rank + root && most == ranks && up_to == (rank + 1) * (rank + 2) / 2);
    EXPECT(before == (rank == 0 ? -9 : rank * (rank + 1) / 2) && own == ranks * (ranks - 1) / 2 + ranks * rank);
    EXPECT(sum == (rank == root ? ranks * (ranks + 1) / 2 : -1));
    for (int i = 0; i < ranks && rank == root; i++) {
        EXPECT(all[i] == i * 3);
    }
    free(all);
    free(each);
}

typedef struct {
    int *to, *from, *other, *counts, *displs;
} rooms_t;

/* Parts of different sizes. */
static void check_uneven(const rooms_t *rooms)
{
    int total = 0, before = 0;
    MPI_Request requests[2];

    for (int i = 0; i < ranks; i++) {
        rooms->counts[i] = i + 1;
        rooms->displs[i] = i * ranks;
        rooms->to[i] = rank * 10 + i;
    }
    MPI_Iallgatherv(rooms->to, rank + 1, MPI_INT, rooms->from, rooms->counts, rooms->displs, MPI_INT, MPI_COMM_WORLD,
                    &requests[0]);
    MPI_Igatherv(rooms->to, rank + 1, MPI_INT, rooms->other, rooms->counts, rooms->displs, MPI_INT, ranks - 1,
                 MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < ranks; i++) {
        EXPECT(rooms->from[i * ranks + i] == i * 10 + i);
    }
    EXPECT(rank != ranks - 1 || rooms->other[(ranks - 1) * ranks] == (ranks - 1) * 10);
    MPI_Iscatterv(rooms->other, rooms->counts, rooms->displs, MPI_INT, rooms->from, rank + 1, MPI_INT, ranks - 1,
                  MPI_COMM_WORLD, requests);
    MPI_Wait(requests, MPI_STATUS_IGNORE);
    EXPECT(rooms->from[rank] == rank * 10 + rank);
    for (int i = 0; i < ranks; i++) {
        rooms->counts[i] = i % 2 ? 2 : 1;
        before += (i < rank) ? rooms->counts[i] : 0;
        total += rooms->counts[i];
    }
    for (int i = 0; i < total; i++) {
        rooms->to[i] = i + rank;
    }
    MPI_Ireduce_scatter(rooms->to, rooms->from, rooms->counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD, requests);
    MPI_Wait(requests, MPI_STATUS_IGNORE);
    for (int i = 0; i < rooms->counts[rank]; i++) {
        EXPECT(rooms->from[i] == ranks * (before + i) + ranks * (ranks - 1) / 2);
    }
}

static void check_all(const rooms_t *rooms)
{
    int *third = calloc(2 * (size_t)ranks, sizeof(int)), *bytes = third + ranks, is_done = 0;
    MPI_Datatype *types = malloc((size_t)ranks * sizeof(MPI_Datatype));
    MPI_Request requests[3];

    for (int i = 0; i < ranks; i++) {
        rooms->to[i] = rank * 100 + i;
        rooms->counts[i] = 1;
        rooms->displs[i] = ranks - 1 - i;
        types[i] = MPI_INT;
        bytes[i] = i * (int)sizeof(int);
    }
    MPI_Ialltoall(rooms->to, 1, MPI_INT, rooms->from, 1, MPI_INT, MPI_COMM_WORLD, &requests[0]);
    MPI_Ialltoallv(rooms->to, rooms->counts, rooms->displs, MPI_INT, rooms->other, rooms->counts, rooms->displs,
                   MPI_INT, MPI_COMM_WORLD, &requests[1]);
    MPI_Ialltoallw(rooms->to, rooms->counts, bytes, types, third, rooms->counts, bytes, types, MPI_COMM_WORLD,
                   &requests[2]);
    while (!is_done) {
        MPI_Testall(3, requests, &is_done, MPI_STATUSES_IGNORE);
    }
    for (int i = 0; i < ranks; i++) {
        EXPECT(rooms->from[i] == i * 100 + rank && third[i] == i * 100 + rank);
        EXPECT(rooms->other[i] == (ranks - 1 - i) * 100 + ranks - 1 - rank);
    }
    MPI_Iallgather(&rank, 1, MPI_INT, third, 1, MPI_INT, MPI_COMM_WORLD, requests);
    MPI_Wait(requests, MPI_STATUS_IGNORE);
    EXPECT(third[0] == 0 && third[ranks - 1] == ranks - 1);
    free(third);
    free(types);
}

static void check_in_place(const rooms_t *rooms)
{
    int sum = rank, up_to = 1, part = rank;
    MPI_Request requests[4];

    for (int i = 0; i < ranks; i++) {
        rooms->to[i] = rank * 100 + i;
    }
    rooms->from[rank] = rank + 9;
    MPI_Ialltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, rooms->to, 1, MPI_INT, MPI_COMM_WORLD, &requests[0]);
    MPI_Iallgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, rooms->from, 1, MPI_INT, MPI_COMM_WORLD, &requests[1]);
    MPI_Iallreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[2]);
    MPI_Iscan(MPI_IN_PLACE, &up_to, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < ranks; i++) {
        EXPECT(rooms->to[i] == i * 100 + rank && rooms->from[i] == i + 9);
    }
    EXPECT(sum == ranks * (ranks - 1) / 2 && up_to == rank + 1);
    rooms->other[0] = 0;
    if (rank == 0) {
        MPI_Igather(MPI_IN_PLACE, 0, MPI_INT, rooms->other, 1, MPI_INT, 0, MPI_COMM_WORLD, requests);
    } else {
        MPI_Igather(&part, 1, MPI_INT, NULL, 0, MPI_INT, 0, MPI_COMM_WORLD, requests);
    }
    MPI_Wait(requests, MPI_STATUS_IGNORE);
    EXPECT(rank != 0 || rooms->other[ranks - 1] == ranks - 1);
    part = -1;
    if (rank == 0) {
        MPI_Iscatter(rooms->other, 1, MPI_INT, MPI_IN_PLACE, 0, MPI_INT, 0, MPI_COMM_WORLD, requests);
    } else {
        MPI_Iscatter(NULL, 0, MPI_INT, &part, 1, MPI_INT, 0, MPI_COMM_WORLD, requests);
    }
    MPI_Wait(requests, MPI_STATUS_IGNORE);
    EXPECT(rank == 0 || part == rank);
}

/* x -> a x + b: not commutative. */
static void compose(void *in, void *inout, int *count, MPI_Datatype *type)
{
    const int *a = in;
    int *b = inout;

    for (int i = 0; i < *count; i++, a += 2, b += 2) {
        b[1] = a[1] * b[0] + b[1];
        b[0] = a[0] * b[0];
    }
}

static void check_order(void)
{
    const int mine[] = {2, rank + 1};
    int all[2], up_to[2], expected[2], commutes;
    MPI_Request requests[2];
    MPI_Datatype two;
    MPI_Op op;

    MPI_Op_create(compose, 0, &op);
    MPI_Op_commutative(op, &commutes);
    EXPECT(!commutes);
    MPI_Type_contiguous(2, MPI_INT, &two);
    MPI_Type_commit(&two);
    MPI_Iallreduce(mine, all, 1, two, op, MPI_COMM_WORLD, &requests[0]);
    MPI_Iscan(mine, up_to, 1, two, op, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Allreduce(mine, expected, 1, two, op, MPI_COMM_WORLD);
    EXPECT(all[0] == expected[0] && all[1] == expected[1]);
    MPI_Scan(mine, expected, 1, two, op, MPI_COMM_WORLD);
    EXPECT(up_to[0] == expected[0] && up_to[1] == expected[1]);
    MPI_Op_free(&op);
    MPI_Type_free(&two);
}

static void check_large(void)
{
    const int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;
    double *out = malloc(3 * LARGE * sizeof(double)), *in = out + LARGE, *sums = in + LARGE;
    MPI_Request requests[3];

    for (int i = 0; i < LARGE; i++) {
        out[i] = rank + i;
    }
    MPI_Irecv(in, LARGE, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Iallreduce(out, sums, LARGE, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(out, LARGE, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &requests[2]);
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    EXPECT(in[LARGE - 1] == left + LARGE - 1 && sums[5] == ranks * (ranks - 1) / 2.0 + 5.0 * ranks);
    free(out);
}

/* Two duplicates at a time with separate messages; one is freed with a receive posted. */
static void check_idup(void)
{
    const int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks, first = 1 + rank, second = 200 + rank;
    int got[3];
    MPI_Request requests[4];
    MPI_Comm one, two;
    MPI_Status status;

    MPI_Comm_idup(MPI_COMM_WORLD, &one, &requests[0]);
#if MPI_VERSION >= 4
    MPI_Comm_idup_with_info(MPI_COMM_WORLD, MPI_INFO_NULL, &two, &requests[1]);
#else
    MPI_Comm_idup(MPI_COMM_WORLD, &two, &requests[1]);
#endif
    MPI_Sendrecv(&rank, 1, MPI_INT, right, 3, &got[0], 1, MPI_INT, left, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Irecv(&got[1], 1, MPI_INT, MPI_ANY_SOURCE, 0, two, &requests[0]);
    MPI_Irecv(&got[0], 1, MPI_INT, MPI_ANY_SOURCE, 0, one, &requests[1]);
    MPI_Isend(&first, 1, MPI_INT, right, 0, one, &requests[2]);
    MPI_Isend(&second, 1, MPI_INT, right, 0, two, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    EXPECT(got[0] == 1 + left && got[1] == 200 + left);
    MPI_Comm_free(&one);
    MPI_Irecv(&got[2], 1, MPI_INT, left, 5, two, &requests[0]);
    MPI_Send(&second, 1, MPI_INT, right, 5, two);
    MPI_Comm_free(&two);
    MPI_Wait(&requests[0], &status);
    EXPECT(got[2] == 200 + left && status.MPI_SOURCE == left);
}

static void check_wrong(void)
{
    MPI_Request request;
    int class, value = 0;

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Error_class(MPI_Ibcast(&value, 1, MPI_INT, ranks, MPI_COMM_WORLD, &request), &class);
    EXPECT(class == MPI_ERR_ROOT);
    MPI_Error_class(MPI_Ireduce(&rank, &value, 1, MPI_INT, MPI_SUM, -7, MPI_COMM_WORLD, &request), &class);
    EXPECT(class == MPI_ERR_ROOT);
    MPI_Error_class(MPI_Igather(&rank, -1, MPI_INT, &value, 1, MPI_INT, 0, MPI_COMM_WORLD, &request), &class);
    EXPECT(class == MPI_ERR_COUNT);
    MPI_Error_class(MPI_Iallreduce(&rank, &value, 1, MPI_INT, MPI_OP_NULL, MPI_COMM_WORLD, &request), &class);
    EXPECT(class == MPI_ERR_OP);
    MPI_Error_class(MPI_Ibarrier(MPI_COMM_NULL, &request), &class);
    EXPECT(class == MPI_ERR_COMM);
}

int main(int argc, char **argv)
{
    rooms_t rooms;
    size_t room;

    expect_begin(&argc, &argv);
    room = ((size_t)ranks * (size_t)ranks + 2 * (size_t)ranks) * sizeof(int);
    rooms = (rooms_t){malloc(room), malloc(room), malloc(room), malloc(room), malloc(room)};
    for (int root = 0; root < ranks; root++) {
        check_rooted(root);
    }
    check_uneven(&rooms);
    check_all(&rooms);
    check_in_place(&rooms);
    check_order();
    check_large();
    check_idup();
    check_wrong();
    free(rooms.to);
    free(rooms.from);
    free(rooms.other);
    free(rooms.counts);
    free(rooms.displs);
    return expect_end("mpi_nonblocking");
}
