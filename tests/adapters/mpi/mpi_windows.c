/* Windows of all kinds of memory, and accesses to them, each call's values checked on every
 * rank. */
#include "expect.h"

#include <stdlib.h>
#include <string.h>

enum { MANY = 3000 };

static int right, left;

static void check_fence(void)
{
    long *base, value;
    MPI_Win win;

    MPI_Win_allocate(MANY * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    memset(base, 0, MANY * sizeof(long));
    MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
    for (long round = 1; round <= 20; round++) {
        value = round * 100 + rank;
        MPI_Put(&value, 1, MPI_LONG, right, round, 1, MPI_LONG, win);
        MPI_Win_fence(0, win);
        EXPECT(base[round] == round * 100 + left);
        value = 0;
        MPI_Get(&value, 1, MPI_LONG, right, round, 1, MPI_LONG, win);
        MPI_Win_fence(0, win);
        EXPECT(value == round * 100 + rank);
    }
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    MPI_Win_free(&win);
    EXPECT(win == MPI_WIN_NULL);
}

/* Memory of the program. The bytes next to the window stay the program's own. */
static void check_memory(char *memory, size_t bytes, size_t room)
{
    char *first = memory - (room > 0 ? 8 : 0), got[200], byte = (char)(rank + 1);
    const size_t all = bytes + (room > 0 ? 16 : 0), some = bytes < sizeof(got) ? bytes : sizeof(got);
    MPI_Win win;

    for (size_t i = 0; i < all; i++) {
        first[i] = (char)(i * 7 + (size_t)rank);
    }
    MPI_Win_create(memory, (MPI_Aint)bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    for (size_t i = 0; i < all; i++) {
        EXPECT(first[i] == (char)(i * 7 + (size_t)rank));
    }
    memory[0] = (char)(rank + 50);
    MPI_Win_fence(0, win);
    MPI_Get(got, (int)some, MPI_CHAR, right, 0, (int)some, MPI_CHAR, win);
    MPI_Win_fence(0, win);
    EXPECT(got[0] == (char)(right + 50));
    EXPECT(got[some - 1] == (char)((memory - first + (long)some - 1) * 7 + right));
    MPI_Put(&byte, 1, MPI_CHAR, right, (MPI_Aint)bytes - 1, 1, MPI_CHAR, win);
    MPI_Win_fence(0, win);
    EXPECT(memory[bytes - 1] == (char)(left + 1));
    EXPECT(room == 0 || first[all - 1] == (char)((all - 1) * 7 + (size_t)rank));
    MPI_Win_free(&win);
    EXPECT(memory[bytes - 1] == (char)(left + 1) && memory[0] == (char)(rank + 50));
}

static void check_create(void)
{
    static char fixed[20000];
    char stack[500], *heap = malloc(100000), *odd = malloc(64), *given;

    check_memory(fixed + 8, 10000, 8);
    check_memory(stack + 8, 300, 8);
    check_memory(heap + 1008, 90000, 8);
    check_memory(odd + 13, 29, 8);
    MPI_Alloc_mem(5000, MPI_INFO_NULL, &given);
    check_memory(given, 5000, 0);
    MPI_Free_mem(given);
    free(heap);
    free(odd);
}

/* Two windows over the same memory, and two adjacent windows. */
static void check_overlap(void)
{
    static int memory[1000];
    MPI_Win all, half, other;
    int value = rank + 1, got;

    MPI_Win_create(memory, sizeof(memory), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &all);
    MPI_Win_create(memory, 500 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &half);
    MPI_Win_create(memory + 500, 500 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &other);
    MPI_Win_fence(0, other);
    MPI_Put(&value, 1, MPI_INT, right, 2, 1, MPI_INT, other);
    MPI_Win_fence(0, other);
    MPI_Win_fence(0, all);
    MPI_Get(&got, 1, MPI_INT, right, 502, 1, MPI_INT, all);
    MPI_Win_fence(0, all);
    EXPECT(got == rank + 1 && memory[502] == left + 1);
    MPI_Win_free(&all);
    MPI_Win_fence(0, half);
    MPI_Put(&value, 1, MPI_INT, right, 499, 1, MPI_INT, half);
    MPI_Win_fence(0, half);
    EXPECT(memory[499] == left + 1);
    MPI_Win_free(&half);
    MPI_Win_free(&other);
    EXPECT(memory[499] == left + 1 && memory[502] == left + 1);
}

static void check_locks(void)
{
    const long one = 1;
    long *base, old, none = 0, sum = 0;
    MPI_Win win;

    MPI_Win_allocate(4 * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    memset(base, 0, 4 * sizeof(long));
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 100; i++) { /* a counter protected by the lock only */
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
        MPI_Get(&old, 1, MPI_LONG, 0, 0, 1, MPI_LONG, win);
        MPI_Win_flush(0, win);
        old++;
        MPI_Put(&old, 1, MPI_LONG, 0, 0, 1, MPI_LONG, win);
        MPI_Win_unlock(0, win);
    }
    MPI_Win_lock_all(0, win);
    for (int i = 0; i < 100; i++) {
        MPI_Fetch_and_op(&one, &old, MPI_LONG, ranks - 1, 1, MPI_SUM, win);
        MPI_Win_flush(ranks - 1, win);
        sum += old;
        MPI_Accumulate(&one, 1, MPI_LONG, right, 2, 1, MPI_LONG, MPI_SUM, win);
        MPI_Win_flush_local(right, win);
    }
    EXPECT(sum >= 4950);
    MPI_Win_flush_local_all(win);
    do { /* a mutex by compare and swap */
        MPI_Compare_and_swap(&one, &none, &old, MPI_LONG, 0, 3, win);
        MPI_Win_flush_all(win);
    } while (old != 0);
    MPI_Accumulate(&none, 1, MPI_LONG, 0, 3, 1, MPI_LONG, MPI_REPLACE, win);
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
    EXPECT(base[0] == (rank == 0 ? 100L * ranks : 0) && base[1] == (rank == ranks - 1 ? 100L * ranks : 0));
    EXPECT(base[2] == 100 && base[3] == 0);
    MPI_Win_sync(win);
    MPI_Win_unlock(rank, win);
    MPI_Win_free(&win);
}

int main(int argc, char **argv)
{
    expect_begin(&argc, &argv);
    right = (rank + 1) % ranks;
    left = (rank + ranks - 1) % ranks;
    check_fence();
    check_create();
    check_overlap();
    check_locks();
    return expect_end("mpi_windows");
}
