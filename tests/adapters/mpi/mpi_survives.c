/*
 * A program that goes round: a counter by MPI_Fetch_and_op, a sum by MPI_Accumulate of doubles, a critical section, a ring by fence over
 * memory of the program's own, and a barrier; all is checked.
 *
 *   mpi_survives STEPS -|RANK@STEP.PLACE,... [plain]   each rank named dies there in its first life: 0 before the step, 1 amid its counters,
 *                                           2 in its critical section, 3 between its fences, 9 in MPI_Finalize's stead, 8 ahead
 *                                           of the restart point (step 0); plain: without a restart point and checkpoints
 */
#include "deaths.h"

#include <keel_mpi.h>
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SAVE_EVERY = 4, WRONG = 1, USAGE = 2, CELLS = 40 };

static struct {
    long step, drawn;
} at; /* protected */
static const char *deaths;
static int rank, ranks;
static long ring[CELLS]; /* a window over memory of the program */

static void die_here(unsigned place)
{
    die_when_said(deaths, (unsigned long)rank, (unsigned long)at.step, place);
}

static void wrong(const char *what, long is)
{
    fprintf(stderr, "mpi_survives: rank %d, step %ld: %s is %ld\n", rank, at.step, what, is);
    MPI_Abort(MPI_COMM_WORLD, WRONG);
}

typedef struct {
    long counter, counted;
    double sum;
} memory_t;

static void step(MPI_Win counters, MPI_Win cells)
{
    const int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks, home = (int)(at.step % ranks);
    const long one = 1, said = (at.step + 1) * 1000 + rank;
    const double half = 0.5;
    long drawn, counted;

    die_here(0);
    MPI_Win_lock_all(0, counters);
    MPI_Fetch_and_op(&one, &drawn, MPI_LONG, home, 0, MPI_SUM, counters);
    MPI_Win_flush(home, counters);
    die_here(1);
    MPI_Accumulate(&half, 1, MPI_DOUBLE, right, 2, 1, MPI_DOUBLE, MPI_SUM, counters);
    MPI_Win_unlock_all(counters);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, counters);
    MPI_Get(&counted, 1, MPI_LONG, 0, 1, 1, MPI_LONG, counters);
    MPI_Win_flush(0, counters);
    die_here(2);
    counted++;
    MPI_Put(&counted, 1, MPI_LONG, 0, 1, 1, MPI_LONG, counters);
    MPI_Win_unlock(0, counters);
    MPI_Win_fence(0, cells);
    MPI_Put(&said, 1, MPI_LONG, right, at.step % CELLS, 1, MPI_LONG, cells);
    die_here(3);
    MPI_Win_fence(0, cells);
    if (ring[at.step % CELLS] != (at.step + 1) * 1000 + left) {
        wrong("what came from the left", ring[at.step % CELLS]);
    }
    at.drawn += drawn;
    at.step++;
}

static void check_end(const memory_t *memory, long steps)
{
    const long turns = (steps - rank + ranks - 1) / ranks;

    MPI_Barrier(MPI_COMM_WORLD);
    if (memory->counter != turns * ranks) {
        wrong("the counter", memory->counter);
    }
    if (memory->sum != 0.5 * (double)steps) {
        wrong("twice the sum", (long)(2 * memory->sum));
    }
    if (rank == 0 && memory->counted != steps * ranks) {
        wrong("what was counted", memory->counted);
    }
    if (ring[CELLS - 1] == 0 || (at.drawn < 0)) {
        wrong("the end", at.drawn);
    }
}

int main(int argc, char **argv)
{
    const long steps = (argc > 2) ? strtol(argv[1], NULL, 10) : 0;
    const int is_plain = argc == 4 && strcmp(argv[3], "plain") == 0;
    const char *job = getenv("KEELRUN_JOB");
    memory_t *memory;
    MPI_Win counters, cells;
    MPI_Comm half;
    int provided;

    if (steps <= 0 || (argc == 4 && !is_plain)) {
        fprintf(stderr, "usage: mpi_survives STEPS -|RANK@STEP.PLACE,... [plain]\n");
        return USAGE;
    }
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    deaths = (keel_mpi_incarnation() == 0 && job != NULL && strcmp(job, "0") == 0) ? argv[2] : NULL;
    MPI_Win_allocate(sizeof(*memory), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &counters);
    MPI_Win_create(ring, sizeof(ring), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &cells);
    memset(memory, 0, sizeof(*memory));
    memset(ring, 0, sizeof(ring));
    MPI_Barrier(MPI_COMM_WORLD);
    die_here(8);
    if (!is_plain) {
        keel_mpi_protect(1, &at, sizeof(at));
        KEEL_MPI_RESTART_POINT();
    }
    while (at.step < steps) {
        step(counters, cells);
        if (!is_plain && at.step % SAVE_EVERY == 0) {
            keel_mpi_checkpoint();
        }
    }
    check_end(memory, steps);
    MPI_Barrier(half);
    MPI_Comm_free(&half);
    die_here(9);
    if (rank == ranks - 1) {
        printf("mpi_survives: %d ranks, %ld steps: right\n", ranks, steps);
        fflush(stdout);
    }
    MPI_Finalize();
    return 0;
}
