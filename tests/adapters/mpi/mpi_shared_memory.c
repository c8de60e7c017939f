/* Shared memory of the ranks of a node, by loads and stores and by accesses. */
#include "expect.h"

#include <string.h>

enum { CELLS = 100 };

static MPI_Comm node;
static int me, n, right, left;

static void meet(MPI_Win win)
{
    MPI_Win_sync(win);
    MPI_Barrier(node);
    MPI_Win_sync(win);
}

/* Contiguous memory: each rank finds the others' parts after its own. */
static void check_piece(void)
{
    const int five = 5;
    int *mine, *all, *other, unit, is_there, *flavor, was;
    void *base;
    MPI_Aint bytes;
    MPI_Win win;

    MPI_Win_allocate_shared(CELLS * sizeof(int), sizeof(int), MPI_INFO_NULL, node, &mine, &win);
    MPI_Win_shared_query(win, 0, &bytes, &unit, &all);
    EXPECT(bytes == CELLS * sizeof(int) && unit == sizeof(int) && (me != 0 || all == mine));
    MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
    for (int i = 0; i < CELLS; i++) {
        mine[i] = me * CELLS + i;
    }
    meet(win);
    for (int i = 0; i < n * CELLS; i++) {
        EXPECT(all[i] == i);
    }
    MPI_Win_shared_query(win, right, &bytes, &unit, &other);
    EXPECT(other == all + right * CELLS);
    meet(win);
    other[3] = 1000 + me;
    meet(win);
    EXPECT(mine[3] == 1000 + left);
    meet(win);
    MPI_Put(&five, 1, MPI_INT, right, 4, 1, MPI_INT, win);
    MPI_Accumulate(&five, 1, MPI_INT, right, 3, 1, MPI_INT, MPI_SUM, win);
    MPI_Fetch_and_op(&five, &was, MPI_INT, right, 5, MPI_SUM, win);
    MPI_Win_flush(right, win);
    EXPECT(was == right * CELLS + 5 && other[5] == was + 5 && other[4] == 5);
    meet(win);
    EXPECT(mine[3] == 1005 + left);
    MPI_Win_unlock_all(win);
    for (int i = 0; i < 20; i++) { /* protected by the lock only */
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
        all[50]++;
        MPI_Win_unlock(0, win);
    }
    MPI_Win_fence(0, win);
    EXPECT(me != 0 || mine[50] == 50 + 20 * n);
    MPI_Put(&me, 1, MPI_INT, left, 7, 1, MPI_INT, win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    EXPECT(mine[7] == right);
    MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &flavor, &is_there);
    EXPECT(is_there && *flavor == MPI_WIN_FLAVOR_SHARED);
    MPI_Win_get_attr(win, MPI_WIN_BASE, &base, &is_there);
    EXPECT(is_there && base == mine);
    MPI_Win_free(&win);
}

/* Parts of different sizes, some empty. */
static void check_sizes(void)
{
    char *mine, *all;
    MPI_Aint bytes;
    MPI_Win win;
    int unit, at = 0;

    MPI_Win_allocate_shared(me % 2 ? 0 : 5 + me, 1, MPI_INFO_NULL, node, &mine, &win);
    MPI_Win_fence(0, win);
    if (me % 2 == 0) {
        memset(mine, 'a' + me, (size_t)(5 + me));
    }
    MPI_Win_fence(0, win);
    MPI_Win_shared_query(win, MPI_PROC_NULL, &bytes, &unit, &all);
    EXPECT(bytes == 5);
    for (int i = 0; i < n; i += 2) {
        EXPECT(all[at] == 'a' + i && all[at + 4 + i] == 'a' + i);
        at += 5 + i;
    }
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
    MPI_Win_allocate_shared(me == n - 1 ? 64 : 0, 1, MPI_INFO_NULL, node, &mine, &win);
    MPI_Win_shared_query(win, MPI_PROC_NULL, &bytes, &unit, &all);
    EXPECT(bytes == 64);
    MPI_Win_fence(0, win);
    if (me == 0) {
        all[9] = 'x';
    }
    MPI_Win_fence(0, win);
    EXPECT(me != n - 1 || mine[9] == 'x');
    MPI_Win_free(&win);
}

/* Each part in separate memory. */
static void check_apart(void)
{
    const int five = 5;
    int *mine, *other, unit;
    MPI_Aint bytes;
    MPI_Info info;
    MPI_Win win;

    MPI_Info_create(&info);
    MPI_Info_set(info, "alloc_shared_noncontig", "true");
    MPI_Win_allocate_shared(CELLS * sizeof(int), sizeof(int), info, node, &mine, &win);
    MPI_Info_free(&info);
    MPI_Win_lock_all(0, win);
    for (int i = 0; i < CELLS; i++) {
        mine[i] = me;
    }
    meet(win);
    for (int i = 0; i < n; i++) {
        MPI_Win_shared_query(win, i, &bytes, &unit, &other);
        EXPECT(bytes == CELLS * sizeof(int) && other[CELLS - 1] == i);
    }
    meet(win);
    MPI_Put(&five, 1, MPI_INT, right, 1, 1, MPI_INT, win);
    MPI_Win_flush(right, win);
    meet(win);
    EXPECT(mine[1] == 5);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
}

/* A window of all ranks over memory that some ranks share. */
static void check_over(void)
{
    MPI_Win shared, win;
    int *mine;

    MPI_Win_allocate_shared(CELLS * sizeof(int), sizeof(int), MPI_INFO_NULL, node, &mine, &shared);
    MPI_Win_create(me == 0 ? mine : NULL, me == 0 ? CELLS * sizeof(int) : 0, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD,
                   &win);
    MPI_Win_fence(0, win);
    if (rank == ranks - 1) {
        MPI_Put(&ranks, 1, MPI_INT, 0, 2, 1, MPI_INT, win); /* rank 0 is the first of its node */
    }
    MPI_Win_fence(0, win);
    EXPECT(rank != 0 || mine[2] == ranks);
    MPI_Win_free(&win);
    MPI_Win_free(&shared);
}

/* Windows over each rank's part, which may be the memory of another rank; and parts of no bytes. */
static void check_over_all(void)
{
    MPI_Win shared, win;
    int *mine, *last = NULL, unit;
    MPI_Aint bytes;
    MPI_Info info;

    MPI_Win_allocate_shared(CELLS * sizeof(int), sizeof(int), MPI_INFO_NULL, node, &mine, &shared);
    MPI_Win_create(mine, CELLS * sizeof(int), sizeof(int), MPI_INFO_NULL, node, &win);
    MPI_Win_shared_query(shared, n - 1, &bytes, &unit, &last);
    MPI_Win_fence(0, win);
    if (me == 0) {
        MPI_Put(&n, 1, MPI_INT, n - 1, 3, 1, MPI_INT, win);
    }
    MPI_Accumulate(&n, 1, MPI_INT, n - 1, 4, 1, MPI_INT, MPI_REPLACE, win);
    MPI_Win_fence(0, win);
    EXPECT(last[3] == n && last[4] == n);
    EXPECT(me < n - 1 || (mine[3] == n && mine[4] == n));
    MPI_Win_free(&win);
    MPI_Win_free(&shared);
    MPI_Info_create(&info);
    MPI_Info_set(info, "alloc_shared_noncontig", "true");
    MPI_Win_allocate_shared(me == 0 ? 0 : 8, 1, info, node, &mine, &shared);
    EXPECT((mine == NULL) == (me == 0));
    MPI_Win_shared_query(shared, 0, &bytes, &unit, &last);
    EXPECT(bytes == 0 && last == NULL);
    MPI_Win_free(&shared);
    MPI_Info_free(&info);
}

static void check_wrong(void)
{
    int class, unit;
    MPI_Aint bytes;
    void *base;
    MPI_Win win;

    MPI_Comm_set_errhandler(node, MPI_ERRORS_RETURN);
    MPI_Error_class(MPI_Win_allocate_shared(-1, 1, MPI_INFO_NULL, node, &base, &win), &class);
    EXPECT(class == MPI_ERR_SIZE);
    MPI_Error_class(MPI_Win_allocate_shared(10, 0, MPI_INFO_NULL, node, &base, &win), &class);
    EXPECT(class == MPI_ERR_DISP);
    MPI_Win_allocate(10, 1, MPI_INFO_NULL, node, &base, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Error_class(MPI_Win_shared_query(win, 0, &bytes, &unit, &base), &class);
    EXPECT(class == MPI_ERR_RMA_FLAVOR);
    MPI_Win_free(&win);
    MPI_Win_allocate_shared(10, 1, MPI_INFO_NULL, node, &base, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Error_class(MPI_Win_shared_query(win, n, &bytes, &unit, &base), &class);
    EXPECT(class == MPI_ERR_RANK);
    MPI_Win_free(&win);
}

int main(int argc, char **argv)
{
    expect_begin(&argc, &argv);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, &me);
    MPI_Comm_size(node, &n);
    right = (me + 1) % n;
    left = (me + n - 1) % n;
    check_piece();
    check_sizes();
    check_apart();
    check_over();
    check_over_all();
    check_wrong();
    MPI_Comm_free(&node);
    return expect_end("mpi_shared_memory");
}
