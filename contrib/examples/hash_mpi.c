/*
 * A hash table over all ranks by MPI's one-sided calls: each insertion claims a place by compare
 * and swap, and tries the next place after a collision. Kill a rank during the run: each key is
 * still there exactly once. Lines for Keel are marked.
 */
#include <mpi.h>
#include <keel_mpi.h> /* Keel */

#include <stdio.h>
#include <unistd.h>

enum { PLACES = 4096, KEYS = 1500, EVERY = 50 };

static long next_key; /* of this rank: count of inserted keys */

/*
 * Inserts a key. A place holds a key or 0; if taken, the next place is tried, with the first rank
 * after the last.
 */
static void insert(MPI_Win win, int ranks, long key)
{
    const long none = 0;
    long was, place = (long)((unsigned long)key * 2654435761u % ((unsigned long)PLACES * (unsigned long)ranks));

    do {
        MPI_Compare_and_swap(&key, &none, &was, MPI_LONG, (int)(place / PLACES), place % PLACES, win);
        MPI_Win_flush((int)(place / PLACES), win);
        place = (place + 1) % ((long)PLACES * ranks);
    } while (was != 0 && was != key);
}

int main(int argc, char **argv)
{
    long *table, mine = 0, all, sum = 0, total;
    int rank, ranks;
    MPI_Win win;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Win_allocate(PLACES * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &table, &win);
    for (int i = 0; i < PLACES; i++)
        table[i] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    keel_mpi_protect(1, &next_key, sizeof(next_key)); /* Keel */
    KEEL_MPI_RESTART_POINT();                         /* Keel */
    while (next_key < KEYS) {
        MPI_Win_lock_all(0, win);
        for (int i = 0; i < EVERY; i++, next_key++)
            insert(win, ranks, 1 + next_key * ranks + rank);
        MPI_Win_unlock_all(win);
        keel_mpi_checkpoint(); /* Keel */
        if (rank == 0 && next_key == KEYS / 3) {
            printf("a third is there\n");
            fflush(stdout);
        }
        usleep(20000); /* otherwise the run ends before a kill */
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < PLACES; i++) {
        mine += table[i] != 0;
        sum += table[i];
    }
    MPI_Reduce(&mine, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(&sum, &total, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        const long keys = (long)KEYS * ranks;

        printf("%ld keys, their sum %s\n", all, total == keys * (keys + 1) / 2 ? "right" : "wrong");
        fflush(stdout);
    }
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
