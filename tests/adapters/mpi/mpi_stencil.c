/*
 * A five-point stencil on a grid that is periodic in one dimension, in blocks. Each step puts the
 * borders next to the neighbours' blocks, by fences or by groups. At the end each rank computes the
 * whole grid locally and compares.
 *
 *   mpi_stencil fence|groups [STEPS]
 *       prints "step N" now and then, for keelrun's --kill; with keel_mpi.h (SURVIVES) the
 *       program has a restart point
 */
#include "await_kill.h"

#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef SURVIVES
#include <keel_mpi.h>
#endif

enum { SIDE = 12, ROW = SIDE + 2, PLANE = ROW * ROW, SAY_EVERY = 10 };

/* The four sides, in the order of the ranks' neighbours: up, down, left, right. */
typedef struct {
    MPI_Comm grid;
    MPI_Win win;
    MPI_Group neighbours;
    MPI_Datatype column;
    int dims[2], at[2], ranks[4], is_by_groups;
    double *planes; /* two planes with a border: the current and the next */
} stencil_t;

static struct {
    long step;
} done;

static double first(int x, int y)
{
    return (x * 7 + y * 13) % 31;
}

static double next(const double *is, int row)
{
    return 0.5 * is[0] + 0.125 * (is[-row] + is[row] + is[-1] + is[1]);
}

static void neighbours_make(stencil_t *stencil)
{
    int ranks[4], count = 0;
    MPI_Group all;

    MPI_Cart_shift(stencil->grid, 0, 1, &stencil->ranks[0], &stencil->ranks[1]);
    MPI_Cart_shift(stencil->grid, 1, 1, &stencil->ranks[2], &stencil->ranks[3]);
    for (int i = 0; i < 4; i++) {
        int is_new = stencil->ranks[i] != MPI_PROC_NULL;

        for (int j = 0; j < count; j++) {
            is_new &= ranks[j] != stencil->ranks[i];
        }
        if (is_new) {
            ranks[count++] = stencil->ranks[i];
        }
    }
    MPI_Comm_group(stencil->grid, &all);
    MPI_Group_incl(all, count, ranks, &stencil->neighbours);
    MPI_Group_free(&all);
}

static void stencil_make(stencil_t *stencil, int is_by_groups)
{
    const int periods[] = {1, 0};
    int ranks, me;

    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    memset(stencil, 0, sizeof(*stencil));
    stencil->is_by_groups = is_by_groups;
    MPI_Dims_create(ranks, 2, stencil->dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, stencil->dims, periods, 0, &stencil->grid);
    MPI_Comm_rank(stencil->grid, &me);
    MPI_Cart_coords(stencil->grid, me, 2, stencil->at);
    neighbours_make(stencil);
    MPI_Type_vector(SIDE, 1, ROW, MPI_DOUBLE, &stencil->column);
    MPI_Type_commit(&stencil->column);
    MPI_Win_allocate(2 * PLANE * sizeof(double), sizeof(double), MPI_INFO_NULL, stencil->grid, &stencil->planes,
                     &stencil->win);
    memset(stencil->planes, 0, 2 * PLANE * sizeof(double));
    for (int x = 0; x < SIDE; x++) {
        for (int y = 0; y < SIDE; y++) {
            stencil->planes[(x + 1) * ROW + y + 1] = first(stencil->at[0] * SIDE + x, stencil->at[1] * SIDE + y);
        }
    }
    MPI_Barrier(stencil->grid);
}

static void borders_put(const stencil_t *stencil, long plane)
{
    static const int from[] = {ROW + 1, SIDE * ROW + 1, ROW + 1, ROW + SIDE};
    static const int to[] = {(SIDE + 1) * ROW + 1, 1, ROW + SIDE + 1, ROW};

    for (int i = 0; i < 4; i++) {
        const MPI_Datatype type = (i < 2) ? MPI_DOUBLE : stencil->column;

        MPI_Put(stencil->planes + plane + from[i], i < 2 ? SIDE : 1, type, stencil->ranks[i], plane + to[i],
                i < 2 ? SIDE : 1, type, stencil->win);
    }
}

static void step(const stencil_t *stencil)
{
    const long plane = done.step % 2 * PLANE, other = PLANE - plane;

    if (stencil->is_by_groups) {
        MPI_Win_post(stencil->neighbours, 0, stencil->win);
        MPI_Win_start(stencil->neighbours, 0, stencil->win);
        borders_put(stencil, plane);
        MPI_Win_complete(stencil->win);
        MPI_Win_wait(stencil->win);
    } else {
        MPI_Win_fence(0, stencil->win);
        borders_put(stencil, plane);
        MPI_Win_fence(MPI_MODE_NOSUCCEED, stencil->win);
    }
    for (int x = 1; x <= SIDE; x++) {
        for (int y = 1; y <= SIDE; y++) {
            stencil->planes[other + x * ROW + y] = next(stencil->planes + plane + x * ROW + y, ROW);
        }
    }
    done.step++;
}

/* Computes the whole grid, with a border of its own, on a single rank. */
static double *alone(const stencil_t *stencil, long steps)
{
    const int rows = stencil->dims[0] * SIDE, row = stencil->dims[1] * SIDE + 2;
    double *is = calloc(2 * (size_t)(rows + 2) * (size_t)row, sizeof(*is)), *will = is + (rows + 2) * row;

    for (int x = 0; x < rows; x++) {
        for (int y = 0; y + 2 < row; y++) {
            is[(x + 1) * row + y + 1] = first(x, y);
        }
    }
    for (long i = 0; i < steps; i++) {
        memcpy(is, is + rows * row, (size_t)row * sizeof(*is));
        memcpy(is + (rows + 1) * row, is + row, (size_t)row * sizeof(*is));
        memset(will, 0, (size_t)(rows + 2) * (size_t)row * sizeof(*is));
        for (int x = 1; x <= rows; x++) {
            for (int y = 1; y + 1 < row; y++) {
                will[x * row + y] = next(is + x * row + y, row);
            }
        }
        memcpy(is, will, (size_t)(rows + 2) * (size_t)row * sizeof(*is));
    }
    return is;
}

static int is_right(const stencil_t *stencil)
{
    const double *mine = stencil->planes + done.step % 2 * PLANE;
    const int row = stencil->dims[1] * SIDE + 2;
    double *whole = alone(stencil, done.step);
    int is = 1;

    for (int x = 0; x < SIDE; x++) {
        for (int y = 0; y < SIDE; y++) {
            is &= mine[(x + 1) * ROW + y + 1] ==
                  whole[(stencil->at[0] * SIDE + x + 1) * row + stencil->at[1] * SIDE + y + 1];
        }
    }
    free(whole);
    return is;
}

int main(int argc, char **argv)
{
    const long steps = (argc > 2) ? strtol(argv[2], NULL, 10) : 60;
    stencil_t stencil;
    int rank, mine, all;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    stencil_make(&stencil, argc > 1 && strcmp(argv[1], "groups") == 0);
#ifdef SURVIVES
    keel_mpi_protect(1, &done, sizeof(done));
    KEEL_MPI_RESTART_POINT();
#endif
    while (done.step < steps) {
        step(&stencil);
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
    mine = is_right(&stencil);
    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("mpi_stencil: %ld steps: %s\n", done.step, all ? "right" : "wrong");
        fflush(stdout);
    }
    MPI_Type_free(&stencil.column);
    MPI_Group_free(&stencil.neighbours);
    MPI_Win_free(&stencil.win);
    MPI_Finalize();
    return !all;
}
