/* Epochs of all kinds one after another, and calls outside of an epoch or in the wrong kind. */
#include "expect.h"

#include <string.h>

enum { WORDS = 256 };

static int *base, right, left;
static MPI_Win win;
static MPI_Group world;

static void check_groups(void)
{
    MPI_Win_post(MPI_GROUP_EMPTY, 0, win);
    MPI_Win_start(MPI_GROUP_EMPTY, 0, win);
    MPI_Win_complete(win);
    MPI_Win_wait(win);
    for (int turn = 0; turn < 5; turn++) { /* all ranks with all ranks, including themselves */
        const int said = rank * 100 + turn;

        MPI_Win_post(world, 0, win);
        MPI_Win_start(world, 0, win);
        for (int i = 0; i < ranks; i++) {
            MPI_Put(&said, 1, MPI_INT, i, rank, 1, MPI_INT, win);
        }
        MPI_Win_complete(win);
        MPI_Win_wait(win);
        for (int i = 0; i < ranks; i++) {
            EXPECT(base[i] == i * 100 + turn);
        }
    }
}

/* Two ranks take turns. The origin may call MPI_Win_start() before the target's MPI_Win_post(). */
static void check_turns(void)
{
    const int other = rank ^ 1;
    MPI_Group pair;
    int flag;

    if (other >= ranks) {
        return;
    }
    MPI_Group_incl(world, 1, &other, &pair);
    for (int turn = 0; turn < 40; turn++) {
        if (turn % 2 == rank % 2) {
            MPI_Win_start(pair, 0, win);
            MPI_Put(&turn, 1, MPI_INT, other, 20, 1, MPI_INT, win);
            MPI_Win_complete(win);
        } else {
            MPI_Win_post(pair, MPI_MODE_NOSTORE, win);
            for (flag = 0; !flag;) {
                MPI_Win_test(win, &flag);
            }
            EXPECT(base[20] == turn);
        }
    }
    MPI_Group_free(&pair);
}

/* A rank has two targets; each target knows only this source. */
static void check_two_targets(void)
{
    const int targets[] = {1, 2}, zero = 0;
    int mine[50], got = 0;
    MPI_Group group;

    if (ranks < 3) {
        return;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        memset(mine, 1, sizeof(mine));
        MPI_Group_incl(world, 2, targets, &group);
        MPI_Win_start(group, 0, win);
        MPI_Put(mine, 50, MPI_INT, 1, 100, 50, MPI_INT, win);
        MPI_Get(&got, 1, MPI_INT, 2, 200, 1, MPI_INT, win);
        MPI_Win_complete(win);
        EXPECT(got == 77);
        MPI_Group_free(&group);
    } else if (rank < 3) {
        base[200] = 77;
        MPI_Group_incl(world, 1, &zero, &group);
        MPI_Win_post(group, 0, win);
        MPI_Win_wait(win);
        EXPECT(rank == 2 || base[149] == 0x01010101);
        MPI_Group_free(&group);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void check_mixed(void)
{
    const int one = 1;
    MPI_Group to, from;
    int value;

    base[1] = base[2] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Group_incl(world, 1, &right, &to);
    MPI_Group_incl(world, 1, &left, &from);
    for (int turn = 0; turn < 10; turn++) {
        value = turn * 10 + rank;
        MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
        MPI_Put(&value, 1, MPI_INT, right, 0, 1, MPI_INT, win);
        /* both allow an epoch of another kind next */
        MPI_Win_fence(turn % 2 ? MPI_MODE_NOSUCCEED : 0, win);
        EXPECT(base[0] == turn * 10 + left);
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right, 0, win);
        MPI_Accumulate(&one, 1, MPI_INT, right, 1, 1, MPI_INT, MPI_SUM, win);
        MPI_Win_unlock(right, win);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Win_post(from, 0, win);
        MPI_Win_start(to, 0, win);
        MPI_Get(&value, 1, MPI_INT, right, 0, 1, MPI_INT, win);
        MPI_Win_complete(win);
        MPI_Win_wait(win);
        EXPECT(value == turn * 10 + rank);
        MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
        MPI_Fetch_and_op(&one, &value, MPI_INT, 0, 2, MPI_SUM, win);
        MPI_Win_flush_local(0, win);
        MPI_Win_unlock_all(win);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    MPI_Get(&value, 1, MPI_INT, 0, 2, 1, MPI_INT, win);
    MPI_Win_unlock(0, win);
    EXPECT(value == 10 * ranks && base[1] == 10);
    MPI_Group_free(&to);
    MPI_Group_free(&from);
}

/* Epochs of two windows, and several locks at a time. */
static void check_together(void)
{
    const int five = 5;
    MPI_Win other;
    int *memory;

    for (int i = 0; i < ranks; i++) {
        MPI_Win_lock(MPI_LOCK_SHARED, i, 0, win);
    }
    for (int i = 0; i < ranks; i++) {
        MPI_Put(&rank, 1, MPI_INT, i, 30 + rank, 1, MPI_INT, win);
    }
    for (int i = ranks - 1; i >= 0; i--) {
        MPI_Win_unlock(i, win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    EXPECT(base[30] == 0 && base[30 + ranks - 1] == ranks - 1);
    MPI_Win_allocate(64, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &other);
    MPI_Win_fence(0, other);
    MPI_Win_lock_all(0, win);
    MPI_Put(&five, 1, MPI_INT, right, 0, 1, MPI_INT, other);
    MPI_Put(&five, 1, MPI_INT, right, 50, 1, MPI_INT, win);
    MPI_Win_unlock_all(win);
    MPI_Win_fence(0, other);
    EXPECT(memory[0] == 5 && base[50] == 5);
    MPI_Win_free(&other);
}

static int class_of(int code)
{
    int class;

    MPI_Error_class(code, &class);
    return class;
}

#define WRONG(_call) EXPECT(class_of(_call) == MPI_ERR_RMA_SYNC)

static void check_wrong_none(int *value)
{
    WRONG(MPI_Win_unlock(0, win));
    WRONG(MPI_Win_unlock_all(win));
    WRONG(MPI_Win_complete(win));
    WRONG(MPI_Win_wait(win));
    WRONG(MPI_Win_test(win, value));
    WRONG(MPI_Win_flush(0, win));
    WRONG(MPI_Win_flush_local(0, win));
    WRONG(MPI_Win_flush_all(win));
    WRONG(MPI_Win_flush_local_all(win));
    WRONG(MPI_Put(value, 1, MPI_INT, 0, 0, 1, MPI_INT, win));
    WRONG(MPI_Get(value, 1, MPI_INT, 0, 0, 1, MPI_INT, win));
    WRONG(MPI_Accumulate(value, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, win));
}

static void check_wrong(void)
{
    MPI_Group group;
    int value = 1;

    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    check_wrong_none(&value);
    MPI_Win_lock_all(0, win);
    WRONG(MPI_Win_lock_all(0, win));
    WRONG(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
    WRONG(MPI_Win_unlock(0, win));
    WRONG(MPI_Win_start(world, 0, win));
    WRONG(MPI_Win_fence(0, win));
    WRONG(MPI_Win_free(&win));
    MPI_Win_unlock_all(win);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    WRONG(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
    WRONG(MPI_Win_lock_all(0, win));
    if (ranks > 1) {
        WRONG(MPI_Put(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win));
        WRONG(MPI_Win_unlock(1, win));
    }
    MPI_Win_unlock(0, win);
    MPI_Group_incl(world, 1, &rank, &group);
    MPI_Win_post(group, 0, win);
    WRONG(MPI_Win_post(group, 0, win));
    MPI_Win_start(group, 0, win);
    WRONG(MPI_Win_start(group, 0, win));
    WRONG(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
    WRONG(MPI_Win_fence(0, win));
    if (ranks > 1) {
        WRONG(MPI_Put(&value, 1, MPI_INT, right, 0, 1, MPI_INT, win));
    }
    MPI_Win_complete(win);
    MPI_Win_wait(win);
    MPI_Group_free(&group);
    MPI_Win_fence(0, win);
    MPI_Put(&value, 1, MPI_INT, right, 60, 1, MPI_INT, win);
    WRONG(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
    WRONG(MPI_Win_lock_all(0, win));
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    check_wrong_none(&value);
}

int main(int argc, char **argv)
{
    expect_begin(&argc, &argv);
    right = (rank + 1) % ranks;
    left = (rank + ranks - 1) % ranks;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Win_allocate(WORDS * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    memset(base, 0, WORDS * sizeof(int));
    MPI_Win_fence(MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED, win);
    check_groups();
    check_turns();
    check_two_targets();
    check_mixed();
    check_together();
    check_wrong();
    MPI_Group_free(&world);
    MPI_Win_free(&win);
    return expect_end("mpi_epochs");
}
