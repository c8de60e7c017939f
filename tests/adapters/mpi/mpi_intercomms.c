/* Intercommunicators: two groups that exchange messages, run collectives, are split, and are
 * merged. */
#include "expect.h"

#include <stdlib.h>
#include <string.h>

static void check_messages(MPI_Comm inter, int is_low, int low)
{
    int me, others, got = -1, expected;
    MPI_Request request;
    MPI_Status status;

    MPI_Comm_rank(inter, &me);
    MPI_Comm_remote_size(inter, &others);
    if (me < others) {
        expected = is_low ? rank + low : rank - low;
        MPI_Sendrecv(&rank, 1, MPI_INT, me, 1, &got, 1, MPI_INT, MPI_ANY_SOURCE, 1, inter, &status);
        EXPECT(got == expected && status.MPI_SOURCE == me);
        MPI_Irecv(&got, 1, MPI_INT, me, 2, inter, &request);
        MPI_Ssend(&rank, 1, MPI_INT, me, 2, inter);
        MPI_Wait(&request, &status);
        EXPECT(got == expected && status.MPI_SOURCE == me);
    }
}

static void check_merged(MPI_Comm inter, int high, int is_low, int low)
{
    int me, n, *base, expected;
    MPI_Comm all;
    MPI_Win win;

    MPI_Intercomm_merge(inter, high, &all);
    MPI_Comm_rank(all, &me);
    MPI_Comm_size(all, &n);
    expected = high ? (is_low ? ranks - low + rank : rank - low) : me;
    EXPECT(n == ranks && me == expected);
    MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, all, &base, &win);
    MPI_Win_fence(0, win);
    MPI_Put(&me, 1, MPI_INT, (me + 1) % n, 0, 1, MPI_INT, win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    EXPECT(base[0] == (me + n - 1) % n);
    MPI_Win_free(&win);
    MPI_Comm_free(&all);
}

/* The caller's group and the other group: size, and first rank in the job. */
typedef struct {
    int size, first, others, their_first, me;
} sides_t;

/* The sum of the other group's ranks, each times @a factor. */
static long sum_of_others(const sides_t *sides, long factor)
{
    long sum = 0;

    for (int i = 0; i < sides->others; i++) {
        sum += (sides->their_first + i) * factor;
    }
    return sum;
}

/* The root argument of a call: @a root belongs to the caller's group if @a is_here. */
static int root_for(const sides_t *sides, int is_here, int root)
{
    return !is_here ? root : (sides->me == root) ? MPI_ROOT : MPI_PROC_NULL;
}

static void wait_for(int is_ahead, MPI_Request *request)
{
    if (is_ahead) {
        MPI_Wait(request, MPI_STATUS_IGNORE);
    }
}

/* Collectives with a root, in this group or in the other. */
static void check_rooted(MPI_Comm inter, const sides_t *sides, int is_here, int root, int is_ahead)
{
    const int to = root_for(sides, is_here, root), is_root = to == MPI_ROOT, is_other = !is_here;
    int value = is_root ? 1000 + rank : -1, mine[2] = {rank, rank + 1}, got[64], counts[32], displs[32];
    const int root_rank = is_here ? sides->first + root : sides->their_first + root;
    MPI_Request request = MPI_REQUEST_NULL;
    long elements[2] = {rank, rank * 2L}, sums[2] = {-1, -1};

    (void)(is_ahead ? MPI_Ibcast(&value, 1, MPI_INT, to, inter, &request) : MPI_Bcast(&value, 1, MPI_INT, to, inter));
    wait_for(is_ahead, &request);
    EXPECT(value == (is_other || is_root ? 1000 + root_rank : -1));
    (void)(is_ahead ? MPI_Igather(mine, 2, MPI_INT, got, 2, MPI_INT, to, inter, &request)
                    : MPI_Gather(mine, 2, MPI_INT, got, 2, MPI_INT, to, inter));
    wait_for(is_ahead, &request);
    for (int i = 0; is_root && i < 2 * sides->others; i++) {
        EXPECT(got[i] == sides->their_first + i / 2 + i % 2);
    }
    for (int i = 0; i < sides->others; i++) { /* in reverse order, and only the second number */
        counts[i] = 1;
        displs[i] = sides->others - 1 - i;
    }
    (void)(is_ahead ? MPI_Igatherv(&mine[1], 1, MPI_INT, got, counts, displs, MPI_INT, to, inter, &request)
                    : MPI_Gatherv(&mine[1], 1, MPI_INT, got, counts, displs, MPI_INT, to, inter));
    wait_for(is_ahead, &request);
    for (int i = 0; is_root && i < sides->others; i++) {
        EXPECT(got[displs[i]] == sides->their_first + i + 1);
    }
    for (int i = 0; i < 2 * sides->others; i++) {
        got[i] = root_rank * 100 + i;
    }
    (void)(is_ahead ? MPI_Iscatter(got, 2, MPI_INT, mine, 2, MPI_INT, to, inter, &request)
                    : MPI_Scatter(got, 2, MPI_INT, mine, 2, MPI_INT, to, inter));
    wait_for(is_ahead, &request);
    EXPECT(is_here || (mine[0] == root_rank * 100 + 2 * sides->me && mine[1] == mine[0] + 1));
    (void)(is_ahead ? MPI_Iscatterv(got, counts, displs, MPI_INT, mine, 1, MPI_INT, to, inter, &request)
                    : MPI_Scatterv(got, counts, displs, MPI_INT, mine, 1, MPI_INT, to, inter));
    wait_for(is_ahead, &request);
    EXPECT(is_here || mine[0] == root_rank * 100 + sides->size - 1 - sides->me);
    (void)(is_ahead ? MPI_Ireduce(elements, sums, 2, MPI_LONG, MPI_SUM, to, inter, &request)
                    : MPI_Reduce(elements, sums, 2, MPI_LONG, MPI_SUM, to, inter));
    wait_for(is_ahead, &request);
    EXPECT(sums[0] == (is_root ? sum_of_others(sides, 1) : -1) && sums[1] == (is_root ? sum_of_others(sides, 2) : -1));
}

static void check_all(MPI_Comm inter, const sides_t *sides, int is_ahead)
{
    int mine[2] = {rank, rank * 3}, got[64], to[64], counts[32], displs[32];
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Datatype types[32];
    long elements[2] = {rank, rank * 2L}, sums[2] = {-1, -1};

    (void)(is_ahead ? MPI_Ibarrier(inter, &request) : MPI_Barrier(inter));
    wait_for(is_ahead, &request);
    (void)(is_ahead ? MPI_Iallgather(mine, 2, MPI_INT, got, 2, MPI_INT, inter, &request)
                    : MPI_Allgather(mine, 2, MPI_INT, got, 2, MPI_INT, inter));
    wait_for(is_ahead, &request);
    for (int i = 0; i < sides->others; i++) {
        EXPECT(got[2 * i] == sides->their_first + i && got[2 * i + 1] == 3 * (sides->their_first + i));
        counts[i] = 1;
        displs[i] = sides->others - 1 - i;
        to[2 * i] = rank * 100 + i;
        to[2 * i + 1] = rank * 100 + 50 + i;
    }
    (void)(is_ahead ? MPI_Iallgatherv(mine, 1, MPI_INT, got, counts, displs, MPI_INT, inter, &request)
                    : MPI_Allgatherv(mine, 1, MPI_INT, got, counts, displs, MPI_INT, inter));
    wait_for(is_ahead, &request);
    for (int i = 0; i < sides->others; i++) {
        EXPECT(got[displs[i]] == sides->their_first + i);
    }
    (void)(is_ahead ? MPI_Ialltoall(to, 2, MPI_INT, got, 2, MPI_INT, inter, &request)
                    : MPI_Alltoall(to, 2, MPI_INT, got, 2, MPI_INT, inter));
    wait_for(is_ahead, &request);
    for (int i = 0; i < sides->others; i++) {
        const int base = (sides->their_first + i) * 100 + sides->me;

        EXPECT(got[2 * i] == base && got[2 * i + 1] == base + 50);
    }
    (void)(is_ahead ? MPI_Ialltoallv(to, counts, displs, MPI_INT, got, counts, displs, MPI_INT, inter, &request)
                    : MPI_Alltoallv(to, counts, displs, MPI_INT, got, counts, displs, MPI_INT, inter));
    wait_for(is_ahead, &request);
    /* senders have the parts for these in reverse order */
    for (int i = 0; i < sides->others; i++) {
        const int from = sides->size - 1 - sides->me;

        EXPECT(got[displs[i]] == (sides->their_first + i) * 100 + (from % 2) * 50 + from / 2);
        types[i] = MPI_INT;
        displs[i] = i * 2 * (int)sizeof(int);
    }
    (void)(is_ahead ? MPI_Ialltoallw(to, counts, displs, types, got, counts, displs, types, inter, &request)
                    : MPI_Alltoallw(to, counts, displs, types, got, counts, displs, types, inter));
    wait_for(is_ahead, &request);
    for (int i = 0; i < sides->others; i++) {
        EXPECT(got[2 * i] == (sides->their_first + i) * 100 + sides->me);
    }
    (void)(is_ahead ? MPI_Iallreduce(elements, sums, 2, MPI_LONG, MPI_SUM, inter, &request)
                    : MPI_Allreduce(elements, sums, 2, MPI_LONG, MPI_SUM, inter));
    wait_for(is_ahead, &request);
    EXPECT(sums[0] == sum_of_others(sides, 1) && sums[1] == sum_of_others(sides, 2));
}

/* Each group has the same number of elements, and distributes them among its members. */
static void check_reduce_scatter(MPI_Comm inter, const sides_t *sides, int is_ahead)
{
    MPI_Request request = MPI_REQUEST_NULL;
    const int total = sides->size * sides->others;
    long *elements = malloc((size_t)total * sizeof(*elements)), got[64];
    int *counts = calloc((size_t)sides->size, sizeof(*counts)), rest = total;

    for (int i = 0; i < total; i++) {
        elements[i] = rank * (i + 1L);
    }
    (void)(is_ahead ? MPI_Ireduce_scatter_block(elements, got, sides->others, MPI_LONG, MPI_SUM, inter, &request)
                    : MPI_Reduce_scatter_block(elements, got, sides->others, MPI_LONG, MPI_SUM, inter));
    wait_for(is_ahead, &request);
    for (int i = 0; i < sides->others; i++) {
        EXPECT(got[i] == sum_of_others(sides, sides->me * sides->others + i + 1));
    }
    for (int i = 0; i + 1 < sides->size; i++) { /* 1 for each rank except the last */
        counts[i] = 1;
        rest--;
    }
    counts[sides->size - 1] = rest;
    got[0] = -1;
    (void)(is_ahead ? MPI_Ireduce_scatter(elements, got, counts, MPI_LONG, MPI_SUM, inter, &request)
                    : MPI_Reduce_scatter(elements, got, counts, MPI_LONG, MPI_SUM, inter));
    wait_for(is_ahead, &request);
    EXPECT(rest <= 64 && got[0] == sum_of_others(sides, sides->me + 1));
    free(elements);
    free(counts);
}

static void check_collectives(MPI_Comm inter, int is_low, int low)
{
    sides_t sides = {is_low ? low : ranks - low, is_low ? 0 : low, is_low ? ranks - low : low, is_low ? low : 0, 0};

    sides.me = rank - sides.first;
    for (int is_ahead = 0; is_ahead < 2; is_ahead++) {
        check_all(inter, &sides, is_ahead);
        /* the root is in the low group, then in the other */
        check_rooted(inter, &sides, is_low, 0, is_ahead);
        check_rooted(inter, &sides, !is_low, ranks - low - 1, is_ahead);
        check_reduce_scatter(inter, &sides, is_ahead);
    }
}

/* Splits each group by parity: some parts have no rank of one group. */
static void check_split(MPI_Comm inter, int is_low, int low)
{
    const int me = is_low ? rank : rank - low, mine = is_low ? low : ranks - low, others = ranks - mine;
    int is_inter, size, remote, sum;
    MPI_Comm part;

    MPI_Comm_split(inter, me % 2, -me, &part);
    if (others <= me % 2) {
        EXPECT(part == MPI_COMM_NULL);
    } else {
        MPI_Comm_test_inter(part, &is_inter);
        MPI_Comm_size(part, &size);
        MPI_Comm_remote_size(part, &remote);
        EXPECT(is_inter && size == (mine + 1 - me % 2) / 2 && remote == (others + 1 - me % 2) / 2);
        MPI_Comm_rank(part, &is_inter);
        EXPECT(is_inter == size - 1 - me / 2); /* in the order of their keys */
        MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, part);
        EXPECT(sum == remote * (remote - 1) + remote * (me % 2));
        MPI_Comm_free(&part);
    }
    MPI_Comm_split(inter, rank == 0 ? MPI_UNDEFINED : 1, 0, &part);
    EXPECT((part == MPI_COMM_NULL) == (rank == 0 || (low == 1 && !is_low)));
    if (part != MPI_COMM_NULL) {
        MPI_Comm_free(&part);
    }
}

/* A communicator of the last rank of each group. */
static void check_create(MPI_Comm inter, int is_low, int low)
{
    const int last = (is_low ? low : ranks - low) - 1;
    MPI_Group all, one;
    MPI_Comm part;
    int got = -1;

    MPI_Comm_group(inter, &all);
    MPI_Group_incl(all, 1, &last, &one);
    MPI_Comm_create(inter, one, &part);
    EXPECT((part != MPI_COMM_NULL) == (rank == low - 1 || rank == ranks - 1));
    if (part != MPI_COMM_NULL) {
        MPI_Sendrecv(&rank, 1, MPI_INT, 0, 4, &got, 1, MPI_INT, 0, 4, part, MPI_STATUS_IGNORE);
        EXPECT(got == (is_low ? ranks - 1 : low - 1));
        MPI_Comm_free(&part);
    }
    MPI_Comm_create(inter, is_low ? one : MPI_GROUP_EMPTY, &part);
    EXPECT(part == MPI_COMM_NULL);
    MPI_Group_free(&one);
    MPI_Group_free(&all);
}

static void check_wrong(MPI_Comm inter)
{
    int class, value;
    MPI_Comm made;

    MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Error_class(MPI_Scan(&rank, &value, 1, MPI_INT, MPI_SUM, inter), &class);
    EXPECT(class == MPI_ERR_COMM);
    MPI_Error_class(MPI_Allgather(MPI_IN_PLACE, 0, MPI_INT, &value, 1, MPI_INT, inter), &class);
    EXPECT(class == MPI_ERR_ARG);
    MPI_Error_class(MPI_Bcast(&value, 1, MPI_INT, ranks, inter), &class);
    EXPECT(class == MPI_ERR_ROOT);
    MPI_Error_class(MPI_Comm_remote_size(MPI_COMM_WORLD, &value), &class);
    EXPECT(class == MPI_ERR_COMM);
    MPI_Error_class(MPI_Intercomm_merge(MPI_COMM_WORLD, 0, &made), &class);
    EXPECT(class == MPI_ERR_COMM);
    MPI_Error_class(MPI_Send(&value, 1, MPI_INT, ranks, 0, inter), &class);
    EXPECT(class == MPI_ERR_RANK);
    MPI_Error_class(MPI_Intercomm_create(MPI_COMM_SELF, 1, MPI_COMM_WORLD, 0, 1, &made), &class);
    EXPECT(class == MPI_ERR_RANK);
}

int main(int argc, char **argv)
{
    int low, is_low, is_inter, result, size;
    MPI_Comm half, inter, copy;
    MPI_Request request;
    MPI_Group others, world;

    expect_begin(&argc, &argv);
    low = ranks / 2;
    is_low = rank < low;
    MPI_Comm_get_parent(&inter);
    EXPECT(inter == MPI_COMM_NULL);
    if (ranks > 1) {
        MPI_Comm_split(MPI_COMM_WORLD, is_low, rank, &half);
        MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, is_low ? low : 0, 12, &inter);
        MPI_Comm_test_inter(inter, &is_inter);
        MPI_Comm_remote_size(inter, &size);
        EXPECT(is_inter && size == (is_low ? ranks - low : low));
        MPI_Comm_remote_group(inter, &others);
        MPI_Comm_group(MPI_COMM_WORLD, &world);
        MPI_Group_translate_ranks(others, 1, &(int){0}, world, &result);
        EXPECT(result == (is_low ? low : 0));
        MPI_Group_free(&others);
        MPI_Group_free(&world);
        check_messages(inter, is_low, low);
        MPI_Comm_dup(inter, &copy);
        MPI_Comm_compare(inter, copy, &result);
        EXPECT(result == MPI_CONGRUENT);
        MPI_Comm_compare(inter, MPI_COMM_WORLD, &result);
        EXPECT(result == MPI_UNEQUAL);
        check_messages(copy, is_low, low);
        check_collectives(copy, is_low, low);
        MPI_Comm_free(&copy);
        MPI_Comm_idup(inter, &copy, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        check_messages(copy, is_low, low);
        check_split(copy, is_low, low);
        check_create(copy, is_low, low);
        check_merged(copy, is_low, is_low, low); /* the low group after the other */
        check_merged(inter, 0, is_low, low);     /* in the order that the groups agree on */
        check_wrong(inter);
        MPI_Comm_free(&copy);
        MPI_Comm_free(&inter);
        MPI_Comm_free(&half);
    }
    return expect_end("mpi_intercomms");
}
