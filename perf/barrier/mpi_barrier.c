/*
 * MPI's barrier, for comparison with a gsync: mpi_barrier [COUNT]. Rank 0 prints the median time in
 * us.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { COUNT = 300, WARM_UP_PART = 10 };

static int compare(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;

    return (a > b) - (a < b);
}

int main(int argc, char **argv)
{
    const long count = (argc > 1) ? strtol(argv[1], NULL, 10) : COUNT;
    double *us;
    int rank;

    if (count < 1) {
        return EXIT_FAILURE;
    }
    us = malloc((size_t)count * sizeof(*us));
    if (us == NULL || MPI_Init(&argc, &argv) != MPI_SUCCESS) {
        free(us);
        return EXIT_FAILURE;
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (long i = 0; i < count / WARM_UP_PART; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
    }
    for (long i = 0; i < count; i++) {
        const double begin = MPI_Wtime();

        MPI_Barrier(MPI_COMM_WORLD);
        us[i] = (MPI_Wtime() - begin) * 1e6;
    }
    qsort(us, (size_t)count, sizeof(*us), compare);
    if (rank == 0) {
        printf("%.3f\n", us[count / 2]);
    }
    free(us);
    return (MPI_Finalize() == MPI_SUCCESS) ? EXIT_SUCCESS : EXIT_FAILURE;
}
