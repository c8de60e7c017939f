/* Intercommunicators: two groups that send to each other, and become one. */
#include "expect.h"

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

static void check_wrong(MPI_Comm inter)
{
    int class, value;
    MPI_Comm made;

    MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Error_class(MPI_Barrier(inter), &class);
    EXPECT(class == MPI_ERR_COMM);
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
        check_merged(copy, is_low, is_low, low); /* the low group after the other */
        check_merged(inter, 0, is_low, low);     /* as they agree */
        check_wrong(inter);
        MPI_Comm_free(&copy);
        MPI_Comm_free(&inter);
        MPI_Comm_free(&half);
    }
    return expect_end("mpi_intercomms");
}
