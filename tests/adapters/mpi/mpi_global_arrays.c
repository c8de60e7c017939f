/* A program of Global Arrays, which ARMCI runs over MPI: mpi_global_arrays STEPS. A step puts, gets
 * and accumulates patches of other ranks, draws numbers from a shared counter, updates ghost cells
 * and multiplies matrices. All values are integers, and each rank compares them with the expected
 * ones. */
#include "await_kill.h"
#include "expect.h"

#include <ga.h>
#include <macdecls.h>
#include <mpi.h>

#define SIDE  24
#define TASKS 32

static int create(int type, const char *name, int dims, int *lengths, const int *ghosts)
{
    int array, widths[2] = {0, 0};

    if (ghosts != NULL) {
        memcpy(widths, ghosts, sizeof(widths));
        array = NGA_Create_ghosts(type, dims, lengths, widths, (char *)name, NULL);
    } else {
        array = NGA_Create(type, dims, lengths, (char *)name, NULL);
    }
    GA_Zero(array);
    return array;
}

/* A patch over the parts of several ranks: one rank writes it, all accumulate to it and read it. */
static void check_patches(int square, long step)
{
    int lo[2] = {1, 2}, hi[2] = {SIDE - 2, SIDE - 3}, width[1] = {SIDE - 4};
    static double patch[SIDE - 2][SIDE - 4];
    double factor = 2.0;

    GA_Zero(square);
    for (int i = 0; i < SIDE - 2; i++) {
        for (int j = 0; j < SIDE - 4; j++) {
            patch[i][j] = (double)(100 * i + j) + (double)step;
        }
    }
    if (step % ranks == rank) {
        NGA_Put(square, lo, hi, patch, width);
    }
    GA_Sync();
    NGA_Acc(square, lo, hi, patch, width, &factor);
    GA_Sync();
    NGA_Get(square, lo, hi, patch, width);
    for (int i = 0; i < SIDE - 2; i++) {
        for (int j = 0; j < SIDE - 4; j++) {
            double one = (double)(100 * i + j) + (double)step;

            EXPECT(patch[i][j] == one * (1 + factor * ranks));
        }
    }
    GA_Sync();
}

/* One rank draws each task, and adds the number of the task to the element of the task. */
static void check_tasks(int counter, int done, long step)
{
    int zero[1] = {0}, last[1] = {TASKS - 1}, width[1] = {1}, values[TASKS];

    GA_Zero(counter);
    GA_Zero(done);
    for (;;) {
        int task = (int)NGA_Read_inc(counter, zero, 1);
        int at[1] = {task}, add = task + (int)step, one = 1;

        if (task >= TASKS) {
            break;
        }
        NGA_Acc(done, at, at, &add, width, &one);
    }
    GA_Sync();
    NGA_Get(done, zero, last, values, width);
    for (int task = 0; task < TASKS; task++) {
        EXPECT(values[task] == task + step);
    }
    EXPECT(NGA_Read_inc(counter, zero, 0) == TASKS + ranks);
    GA_Sync();
}

/* Rows and columns of neighbours stand around the part of a rank; the array is periodic. */
static void check_ghosts(int ringed, long step)
{
    int lo[2], hi[2], lengths[2], width[1];
    int *cells, own[SIDE * SIDE];

    NGA_Distribution(ringed, rank, lo, hi);
    if (hi[0] >= lo[0]) {
        width[0] = hi[1] - lo[1] + 1;
        for (int i = lo[0]; i <= hi[0]; i++) {
            for (int j = lo[1]; j <= hi[1]; j++) {
                own[(i - lo[0]) * width[0] + j - lo[1]] = SIDE * i + j + (int)step;
            }
        }
        NGA_Put(ringed, lo, hi, own, width);
    }
    GA_Sync();
    GA_Update_ghosts(ringed);
    if (hi[0] >= lo[0]) {
        NGA_Access_ghosts(ringed, lengths, &cells, width);
        for (int i = lo[0] - 1; i <= hi[0] + 1; i++) {
            for (int j = lo[1] - 1; j <= hi[1] + 1; j++) {
                int is = SIDE * ((i + SIDE) % SIDE) + (j + SIDE) % SIDE + (int)step;

                EXPECT(cells[(i - lo[0] + 1) * width[0] + j - lo[1] + 1] == is);
            }
        }
        NGA_Release_ghosts(ringed);
    }
    GA_Sync();
}

/* A times the transpose of B: a row i of A has i + step, a column j of B has j. Doubles hold the
 * sums exactly. */
static void check_product(int a, int b, int c, long step)
{
    int lo[2], hi[2], width[1] = {SIDE}, all_lo[2] = {0, 0}, all_hi[2] = {SIDE - 1, SIDE - 1};
    static double rows[SIDE][SIDE];

    NGA_Distribution(a, rank, lo, hi);
    for (int i = lo[0]; i <= hi[0]; i++) {
        for (int j = lo[1]; j <= hi[1]; j++) {
            rows[i - lo[0]][j - lo[1]] = (double)(i + step);
        }
    }
    if (hi[0] >= lo[0]) {
        NGA_Put(a, lo, hi, rows, width);
    }
    for (int i = lo[0]; i <= hi[0]; i++) {
        for (int j = lo[1]; j <= hi[1]; j++) {
            rows[i - lo[0]][j - lo[1]] = (double)j;
        }
    }
    if (hi[0] >= lo[0]) {
        NGA_Put(b, lo, hi, rows, width);
    }
    GA_Sync();
    GA_Dgemm('N', 'T', SIDE, SIDE, SIDE, 1.0, a, b, 0.0, c);
    NGA_Get(c, all_lo, all_hi, rows, width);
    for (int i = 0; i < SIDE; i++) {
        for (int j = 0; j < SIDE; j++) {
            EXPECT(rows[i][j] == (double)(i + step) * SIDE * (SIDE - 1) / 2);
        }
    }
    EXPECT(GA_Ddot(a, a) > 0.0);
    GA_Sync();
}

int main(int argc, char **argv)
{
    long steps = argc > 1 ? atol(argv[1]) : 10, sum;
    int side[2] = {SIDE, SIDE}, tasks[1] = {TASKS}, one[1] = {1}, ring[2] = {1, 1};
    int square, counter, done, ringed, a, b, c;

    expect_begin(&argc, &argv);
    GA_Initialize();
    MA_init(C_DBL, 100000, 100000);
    EXPECT(GA_Nodeid() == rank && GA_Nnodes() == ranks);
    square = create(C_DBL, "square", 2, side, NULL);
    counter = create(C_LONG, "counter", 1, one, NULL);
    done = create(C_INT, "done", 1, tasks, NULL);
    ringed = create(C_INT, "ringed", 2, side, ring);
    a = create(C_DBL, "a", 2, side, NULL);
    b = GA_Duplicate(a, (char *)"b");
    c = GA_Duplicate(a, (char *)"c");
    for (long step = 1; step <= steps; step++) {
        check_patches(square, step);
        check_tasks(counter, done, step);
        check_ghosts(ringed, step);
        check_product(a, b, c, step);
        sum = step;
        GA_Lgop(&sum, 1, (char *)"+");
        EXPECT(sum == step * ranks);
        if (rank == 0 && step % 5 == 0) {
            printf("step %ld\n", step);
            fflush(stdout);
        }
        await_kill(rank, step);
    }
    GA_Terminate();
    return expect_end("mpi_global_arrays");
}
