/*
 * Waves on a torus, as in FT of the NAS benchmarks: each step transforms the square, turns each
 * wave by a phase of its own, and transforms the square back. Each rank has rows; columns are put
 * to it between fences. The waves after any number of steps are known.
 *
 *   mpi_fft [STEPS]     on a power of two of ranks; prints "step N" now and then, for keelrun's
 *                       --kill; with keel_mpi.h (SURVIVES) the program has a restart point
 */
#include "await_kill.h"

#include <mpi.h>

#include <complex.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef SURVIVES
#include <keel_mpi.h>
#endif

enum { ROWS = 8, SAY_EVERY = 10, WAVES = 3, USAGE = 2 };

typedef double _Complex value_t;

typedef struct {
    MPI_Win win;
    MPI_Datatype column; /* a column there for a row from here */
    int rank, ranks, side;
    value_t *is, *turned; /* two planes of ROWS rows */
} fft_t;

static struct {
    long step;
} done;

static const int waves[WAVES][2] = {{1, 2}, {3, 0}, {5, 7}}; /* along rows and columns */

static double phase_of(int along, int across)
{
    return 0.01 * (along * along + 2 * across * across);
}

/* The value at a place after this number of steps. */
static value_t known(int x, int y, int side, long steps)
{
    value_t sum = 0;

    for (int i = 0; i < WAVES; i++) {
        const int place = (waves[i][0] * y + waves[i][1] * x) % side;

        sum += (i + 1) * cexp(I * (2 * M_PI * place / side + (double)steps * phase_of(waves[i][0], waves[i][1])));
    }
    return sum;
}

/* Transforms a row in place, with decreasing distances between the combined elements; @a sign: of
 * the exponent. */
static void transform(value_t *row, int count, int sign)
{
    for (int i = 1, j = 0; i < count; i++) {
        int bit = count >> 1;

        for (; (j & bit) != 0; bit >>= 1) {
            j ^= bit;
        }
        j ^= bit;
        if (i < j) {
            const value_t other = row[i];

            row[i] = row[j];
            row[j] = other;
        }
    }
    for (int length = 2; length <= count; length *= 2) {
        for (int begin = 0; begin < count; begin += length) {
            for (int i = 0; i < length / 2; i++) {
                const value_t low = row[begin + i];
                const value_t high = row[begin + i + length / 2] * cexp(sign * 2 * M_PI * I * i / length);

                row[begin + i] = low + high;
                row[begin + i + length / 2] = low - high;
            }
        }
    }
}

static void transform_rows(value_t *plane, int side, int sign)
{
    for (int i = 0; i < ROWS; i++) {
        transform(plane + i * side, side, sign);
    }
}

/* Turns rows of @a from into columns of the plane at @a to, an element of the window. */
static void turn(const fft_t *fft, const value_t *from, MPI_Aint to)
{
    MPI_Win_fence(0, fft->win);
    for (int i = 0; i < ROWS; i++) {
        for (int rank = 0; rank < fft->ranks; rank++) {
            MPI_Put(from + i * fft->side + rank * ROWS, ROWS, MPI_C_DOUBLE_COMPLEX, rank, to + fft->rank * ROWS + i, 1,
                    fft->column, fft->win);
        }
    }
    MPI_Win_fence(MPI_MODE_NOSUCCEED, fft->win);
}

static void step(const fft_t *fft)
{
    const int side = fft->side, plane = ROWS * side;

    transform_rows(fft->is, side, -1);
    turn(fft, fft->is, plane);
    transform_rows(fft->turned, side, -1);
    for (int i = 0; i < ROWS; i++) {
        for (int j = 0; j < side; j++) {
            const int along = fft->rank * ROWS + i;

            fft->turned[i * side + j] *= cexp(I * phase_of(along, j)) / ((double)side * side);
        }
    }
    transform_rows(fft->turned, side, 1);
    turn(fft, fft->turned, 0);
    transform_rows(fft->is, side, 1);
    done.step++;
}

static int is_right(const fft_t *fft)
{
    double worst = 0;

    for (int i = 0; i < ROWS; i++) {
        for (int j = 0; j < fft->side; j++) {
            const double off = cabs(fft->is[i * fft->side + j] - known(fft->rank * ROWS + i, j, fft->side, done.step));

            worst = (off > worst || isnan(off)) ? off : worst;
        }
    }
    return worst < 1e-7;
}

static void fft_make(fft_t *fft)
{
    MPI_Comm_rank(MPI_COMM_WORLD, &fft->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &fft->ranks);
    if ((fft->ranks & (fft->ranks - 1)) != 0) {
        fprintf(stderr, "mpi_fft: %d ranks are no power of two\n", fft->ranks);
        MPI_Abort(MPI_COMM_WORLD, USAGE);
    }
    fft->side = fft->ranks * ROWS;
    MPI_Type_vector(ROWS, 1, fft->side, MPI_C_DOUBLE_COMPLEX, &fft->column);
    MPI_Type_commit(&fft->column);
    MPI_Win_allocate(2 * ROWS * fft->side * (MPI_Aint)sizeof(value_t), sizeof(value_t), MPI_INFO_NULL, MPI_COMM_WORLD,
                     &fft->is, &fft->win);
    fft->turned = fft->is + ROWS * fft->side;
    for (int i = 0; i < ROWS; i++) {
        for (int j = 0; j < fft->side; j++) {
            fft->is[i * fft->side + j] = known(fft->rank * ROWS + i, j, fft->side, 0);
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    const long steps = (argc > 1) ? strtol(argv[1], NULL, 10) : 60;
    fft_t fft;
    int mine, all;

    MPI_Init(&argc, &argv);
    fft_make(&fft);
#ifdef SURVIVES
    keel_mpi_protect(1, &done, sizeof(done));
    KEEL_MPI_RESTART_POINT();
#endif
    while (done.step < steps) {
        step(&fft);
        if (done.step % SAY_EVERY == 0) {
            MPI_Barrier(MPI_COMM_WORLD);
            if (fft.rank == 0) {
                printf("step %ld\n", done.step);
                fflush(stdout);
            }
            await_kill(fft.rank, done.step);
#if defined(SURVIVES) && !defined(BY_BARRIERS)
            keel_mpi_checkpoint();
#endif
        }
    }
    mine = is_right(&fft);
    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
    if (fft.rank == 0) {
        printf("mpi_fft: %ld steps: %s\n", done.step, all ? "right" : "wrong");
        fflush(stdout);
    }
    MPI_Type_free(&fft.column);
    MPI_Win_free(&fft.win);
    MPI_Finalize();
    return !all;
}
