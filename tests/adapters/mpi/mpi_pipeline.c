/*
 * A wavefront: for each row, each rank waits for a number of its left neighbour and passes a number
 * on, so many small messages are outstanding, and most ranks wait at both ends of a sweep. The last
 * corner goes back to the first rank for the next sweep; its value is known in advance.
 */
#include "expect.h"

#include <string.h>

enum { SWEEPS = 10, ROWS = 200, COLUMNS = 16 };

/* Columns of a rank, after the last column of its left neighbour. */
static double grid[ROWS][COLUMNS + 1];

static double *first_of(int row)
{
    return (rank == 0) ? &grid[row][1] : &grid[row][0];
}

static void grid_begin(void)
{
    memset(grid, 0, sizeof(grid));
    for (int i = 0; i <= COLUMNS; i++) {
        grid[0][i] = rank * COLUMNS + i - 1; /* the bottom row: the number of the column */
    }
    for (int j = 0; rank == 0 && j < ROWS; j++) {
        grid[j][1] = j;
    }
}

static void sweep(void)
{
    const int begin = (rank == 0) ? 2 : 1;
    double corner;

    for (int j = 1; j < ROWS; j++) {
        if (rank > 0) {
            MPI_Recv(first_of(j), 1, MPI_DOUBLE, rank - 1, j, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        for (int i = begin; i <= COLUMNS; i++) {
            grid[j][i] = grid[j][i - 1] + grid[j - 1][i] - grid[j - 1][i - 1];
        }
        if (rank < ranks - 1) {
            MPI_Send(&grid[j][COLUMNS], 1, MPI_DOUBLE, rank + 1, j, MPI_COMM_WORLD);
        }
    }
    corner = -grid[ROWS - 1][COLUMNS];
    if (ranks > 1 && rank == ranks - 1) {
        MPI_Send(&corner, 1, MPI_DOUBLE, 0, 888, MPI_COMM_WORLD);
    }
    if (ranks > 1 && rank == 0) {
        MPI_Recv(&corner, 1, MPI_DOUBLE, ranks - 1, 888, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (rank == 0) {
        grid[0][1] = corner;
    }
}

int main(int argc, char **argv)
{
    expect_begin(&argc, &argv);
    grid_begin();
    for (int i = 0; i < SWEEPS; i++) {
        sweep();
    }
    EXPECT(rank < ranks - 1 || grid[ROWS - 1][COLUMNS] == (double)SWEEPS * (ROWS - 1 + ranks * COLUMNS - 1));
    return expect_end("mpi_pipeline");
}
