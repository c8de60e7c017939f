/*
 * A hash table of all ranks, under a single MPI_Win_lock_all(). A key takes its slot by compare and
 * swap, or a cell drawn by fetch and op, chained to the slot. At the end each rank counts its keys.
 *
 *   mpi_hash [STEPS]     prints "step N" now and then, for keelrun's --kill; with keel_mpi.h
 *                        (SURVIVES) the program has a restart point
 */
#include "await_kill.h"

#include <mpi.h>

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef SURVIVES
#include <keel_mpi.h>
#endif

enum { SLOTS = 64, EACH = 16, SAY_EVERY = 10 };

typedef struct {
    int64_t drawn;        /* number of cells */
    int64_t keys[SLOTS];  /* 0: free */
    int64_t heads[SLOTS]; /* 1 + a cell; 0: none */
    struct {
        int64_t key, next;
    } cells[]; /* more than twice the keys inserted by a rank */
} table_t;

static struct {
    long step;
} done;
static int rank, ranks;
static int64_t cells;
static MPI_Win win;

static uint64_t mixed(uint64_t key)
{
    key = (key ^ key >> 31) * UINT64_C(0x7fb5d329728ea185);
    key = (key ^ key >> 27) * UINT64_C(0x81dadef4bc2dd44d);
    return key ^ key >> 33;
}

#define PLACE(_member) ((MPI_Aint)offsetof(table_t, _member))

static int64_t swap(int home, MPI_Aint place, int64_t expected, int64_t value)
{
    int64_t was;

    MPI_Compare_and_swap(&value, &expected, &was, MPI_INT64_T, home, place, win);
    MPI_Win_flush(home, win);
    return was;
}

static void insert(int64_t key)
{
    const int64_t one = 1;
    const uint64_t hash = mixed((uint64_t)key);
    const int home = (int)(hash % (uint64_t)ranks);
    const MPI_Aint slot = (MPI_Aint)(hash / (uint64_t)ranks % SLOTS) * (MPI_Aint)sizeof(int64_t);
    int64_t cell[2] = {key, 0}, drawn, was;

    if (swap(home, PLACE(keys) + slot, 0, key) == 0) {
        return;
    }
    MPI_Fetch_and_op(&one, &drawn, MPI_INT64_T, home, PLACE(drawn), MPI_SUM, win);
    MPI_Win_flush(home, win);
    if (drawn >= cells) {
        fprintf(stderr, "mpi_hash: rank %d: no cell is free\n", home);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    do {
        MPI_Fetch_and_op(NULL, &cell[1], MPI_INT64_T, home, PLACE(heads) + slot, MPI_NO_OP, win);
        MPI_Win_flush(home, win);
        MPI_Put(cell, 2, MPI_INT64_T, home, PLACE(cells) + (MPI_Aint)(drawn * (int64_t)sizeof(cell)), 2, MPI_INT64_T,
                win);
        MPI_Win_flush(home, win);
        was = swap(home, PLACE(heads) + slot, cell[1], drawn + 1);
    } while (was != cell[1]);
}

/* Counts the keys 1, 2, ... */
static void count_keys(const table_t *table, int64_t counted[2])
{
    counted[0] = counted[1] = 0;
    for (int i = 0; i < SLOTS; i++) {
        counted[0] += table->keys[i] != 0;
        counted[1] += table->keys[i];
        for (int64_t at = table->heads[i]; at != 0; at = table->cells[at - 1].next) {
            counted[0]++;
            counted[1] += table->cells[at - 1].key;
        }
    }
}

int main(int argc, char **argv)
{
    const long steps = (argc > 1) ? strtol(argv[1], NULL, 10) : 60;
    int64_t mine[2], all[2], keys;
    table_t *table;
    MPI_Aint bytes;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    cells = 2 * EACH * steps + SLOTS;
    bytes = (MPI_Aint)(sizeof(*table) + (size_t)cells * sizeof(table->cells[0]));
    MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &table, &win);
    memset(table, 0, (size_t)bytes);
    MPI_Win_lock_all(0, win);
    MPI_Win_sync(win);
    MPI_Barrier(MPI_COMM_WORLD);
#ifdef SURVIVES
    keel_mpi_protect(1, &done, sizeof(done));
    KEEL_MPI_RESTART_POINT();
#endif
    while (done.step < steps) {
        for (int i = 0; i < EACH; i++) {
            insert(1 + (int64_t)rank + (int64_t)ranks * (i + EACH * done.step));
        }
        done.step++;
        if (done.step % SAY_EVERY == 0) {
            MPI_Barrier(MPI_COMM_WORLD);
            if (rank == 0) {
                printf("step %ld\n", done.step);
                fflush(stdout);
            }
            await_kill(rank, done.step);
#if defined(SURVIVES) && !defined(BY_BARRIERS)
            keel_mpi_checkpoint();
#endif
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_sync(win);
    count_keys(table, mine);
    MPI_Reduce(mine, all, 2, MPI_INT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    keys = (int64_t)ranks * EACH * done.step;
    if (rank == 0) {
        printf("mpi_hash: %ld keys: %s\n", (long)all[0],
               all[0] == keys && all[1] == keys * (keys + 1) / 2 ? "right" : "wrong");
        fflush(stdout);
    }
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
