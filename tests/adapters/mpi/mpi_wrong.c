/* A single call that ends the job, by a word: mpi_wrong port|shared|native|abort [CODE]. */
#include <mpi.h>

#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    char port[MPI_MAX_PORT_NAME];
    int rank;
    const char *word = (argc > 1) ? argv[1] : "";
    MPI_Win win;
    void *base;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (strcmp(word, "port") == 0) {
        MPI_Open_port(MPI_INFO_NULL, port);
    } else if (strcmp(word, "shared") == 0) {
        MPI_Win_allocate_shared(100, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    } else if (strcmp(word, "native") == 0 && rank == 1) {
        /* an error detected by the system's MPI */
        MPI_Comm_delete_attr(MPI_COMM_WORLD, MPI_KEYVAL_INVALID);
    } else if (strcmp(word, "abort") == 0 && rank == 1) {
        MPI_Abort(MPI_COMM_WORLD, argc > 2 ? atoi(argv[2]) : 9);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
