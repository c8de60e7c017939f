/*
 * Every kind of lock gets its turn: a writer among readers without a gap, a reader among writers,
 * and a reader that a holder of the lock waits for. A turn is bounded by the number of locks that
 * the others take meanwhile: many, since a rank may get a core late.
 */
#include "expect.h"

enum { TURNS = 5, MOST = 1000000, WORK = 50 };

/* [0]: turns of the single rank, [1]: for the inner reader, [2]: read by the others */
static long *memory;
static MPI_Win win;

static long read_flag(int index)
{
    long value = -1;

    MPI_Get(&value, 1, MPI_LONG, 0, index, 1, MPI_LONG, win);
    MPI_Win_flush(0, win);
    return value;
}

static void write_flag(int index, long value)
{
    MPI_Put(&value, 1, MPI_LONG, 0, index, 1, MPI_LONG, win);
    MPI_Win_flush(0, win);
}

/* Takes the lock in a loop, and holds it for some work, until the single rank has had its turn. */
static void others_loop(int how, long turn)
{
    long seen = 0, locks = 0;

    while (seen < turn && locks < MOST) {
        MPI_Win_lock(how, 0, 0, win);
        for (int i = 0; i < WORK; i++) {
            (void)read_flag(2);
        }
        seen = read_flag(0);
        MPI_Win_unlock(0, win);
        locks++;
    }
    EXPECT(seen >= turn);
}

/* Rank 0 locks one way, all others lock the other way. */
static void check_turns(int single, int others, long first)
{
    for (long turn = first; turn < first + TURNS; turn++) {
        if (rank == 0) {
            MPI_Win_lock(single, 0, 0, win);
            write_flag(0, turn);
            MPI_Win_unlock(0, win);
        } else {
            others_loop(others, turn);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* Rank 1 shares the lock until rank 2 has shared it, too. Rank 0 waits for the exclusive lock
 * meanwhile. */
static void check_inner_reader(void)
{
    for (long turn = 1; turn <= TURNS && ranks >= 3; turn++) {
        if (rank == 1) {
            MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
            MPI_Barrier(MPI_COMM_WORLD);
            while (read_flag(1) < turn) {
            }
            MPI_Win_unlock(0, win);
        } else {
            MPI_Barrier(MPI_COMM_WORLD);
            MPI_Win_lock((rank == 0) ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, 0, 0, win);
            if (rank == 2) {
                write_flag(1, turn);
            }
            MPI_Win_unlock(0, win);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    expect_begin(&argc, &argv);
    MPI_Win_allocate((rank == 0) ? 3 * sizeof(long) : 0, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    if (rank == 0) {
        memory[0] = memory[1] = memory[2] = 0;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    check_turns(MPI_LOCK_EXCLUSIVE, MPI_LOCK_SHARED, 1);
    check_turns(MPI_LOCK_SHARED, MPI_LOCK_EXCLUSIVE, 1 + TURNS);
    check_inner_reader();
    MPI_Win_free(&win);
    return expect_end("mpi_turns");
}
