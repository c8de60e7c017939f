/* A rank with a posted receive polls by accesses only until a word is set, without waits. A
 * synchronous send to the rank must end nevertheless. */
#include "expect.h"

static int *base, turn; /* a separate word for each turn */
static MPI_Win win;

static int by_get(void)
{
    int is = -1;

    MPI_Get(&is, 1, MPI_INT, rank, turn, 1, MPI_INT, win);
    MPI_Win_flush(rank, win);
    return is;
}

static int by_get_of_another(void)
{
    int is = -1;

    MPI_Get(&is, 1, MPI_INT, rank + 1, turn, 1, MPI_INT, win);
    MPI_Win_flush_all(win);
    return is;
}

static int by_fetching(void)
{
    int is = -1;

    MPI_Fetch_and_op(NULL, &is, MPI_INT, rank, turn, MPI_NO_OP, win);
    MPI_Win_flush_local(rank, win);
    return is;
}

static int by_adding(void)
{
    const int nothing = 0;
    int is = -1;

    MPI_Get_accumulate(&nothing, 1, MPI_INT, &is, 1, MPI_INT, rank, turn, 1, MPI_INT, MPI_SUM, win);
    MPI_Win_flush_local_all(win);
    return is;
}

static int by_request(void)
{
    MPI_Request request;
    int is = -1;

    MPI_Rget(&is, 1, MPI_INT, rank, turn, 1, MPI_INT, win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return is;
}

static int by_accumulate_request(void)
{
    MPI_Request request;
    int is = -1;

    MPI_Rget_accumulate(NULL, 0, MPI_INT, &is, 1, MPI_INT, rank, turn, 1, MPI_INT, MPI_NO_OP, win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return is;
}

static int by_sync(void)
{
    MPI_Win_sync(win);
    return *(volatile int *)&base[turn];
}

static int by_lock(void)
{
    int is = -1;

    MPI_Win_unlock_all(win);
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
    MPI_Get(&is, 1, MPI_INT, rank, turn, 1, MPI_INT, win);
    MPI_Win_unlock(rank, win);
    MPI_Win_lock_all(0, win);
    return is;
}

static int by_lock_all(void)
{
    int is = -1;

    MPI_Get(&is, 1, MPI_INT, rank, turn, 1, MPI_INT, win);
    MPI_Win_unlock_all(win);
    MPI_Win_lock_all(0, win);
    return is;
}

static int (*const polls[])(void) = {by_get,    by_get_of_another, by_fetching,
                                     by_adding, by_request,        by_accumulate_request,
                                     by_sync,   by_lock,           by_lock_all};

/* The even rank polls. The word is set at both ranks when the send is complete. */
static void check_pair(int other)
{
    const int one = 1;
    int got = -1;
    MPI_Request request;

    if (rank % 2 == 0) {
        MPI_Irecv(&got, 1, MPI_INT, (turn % 2 == 0) ? other : MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &request);
        while (polls[turn]() != 1) {
        }
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        EXPECT(got == 100 + turn);
    } else {
        got = 100 + turn;
        MPI_Ssend(&got, 1, MPI_INT, other, 7, MPI_COMM_WORLD);
        MPI_Accumulate(&one, 1, MPI_INT, rank, turn, 1, MPI_INT, MPI_SUM, win);
        MPI_Accumulate(&one, 1, MPI_INT, other, turn, 1, MPI_INT, MPI_SUM, win);
        MPI_Win_flush_all(win);
    }
}

int main(int argc, char **argv)
{
    const int count = (int)(sizeof(polls) / sizeof(polls[0]));

    expect_begin(&argc, &argv);
    MPI_Win_allocate(count * (MPI_Aint)sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    for (int i = 0; i < count; i++) {
        base[i] = 0;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    for (turn = 0; turn < count; turn++) {
        if ((rank ^ 1) < ranks) {
            check_pair(rank ^ 1);
        }
    }
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    return expect_end("mpi_polls");
}
