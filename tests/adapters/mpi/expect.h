/* For programs of MPI's chapters: each failed expectation prints a line and is counted. */
#ifndef KEEL_TEST_EXPECT_H_
#define KEEL_TEST_EXPECT_H_

#include <mpi.h>

#include <stdio.h>

static int rank, ranks, flaws;

#define EXPECT(_what) expect((_what) != 0, #_what, __LINE__)

static inline void expect(int is_right, const char *what, int line)
{
    if (!is_right) {
        printf("rank %d, line %d: not %s\n", rank, line, what);
        flaws++;
    }
}

static inline void expect_begin(int *argc, char ***argv)
{
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
}

static inline int expect_end(const char *name)
{
    if (flaws == 0) {
        printf("%s: rank %d of %d: right\n", name, rank, ranks);
    }
    MPI_Finalize();
    return flaws > 0;
}

#endif
