/*
 * Accesses by the shared pointer of a file, in a program that survives deaths. A rollback restores
 * the pointer of the checkpoint, so every record is in the file once: mpi_shared_files STEPS
 * -|RANK@STEP.PLACE,... DIRECTORY.
 */
#include <keel_mpi.h>
#include <mpi.h>

#include "deaths.h"

#include <stdio.h>
#include <stdlib.h>

enum { WRONG = 1, USAGE = 2 };

typedef struct record {
    int step, rank, is_ordered;
} record_t;

static struct {
    long step;
} at; /* protected */
static int rank, ranks;
static const char *deaths;

static void die_here(unsigned place)
{
    die_when_said(deaths, (unsigned long)rank, (unsigned long)at.step, place);
}

static void step(MPI_File file)
{
    const record_t any = {(int)at.step, rank, 0}, ordered = {(int)at.step, rank, 1};

    die_here(0);
    MPI_File_write_shared(file, &any, sizeof(any), MPI_BYTE, MPI_STATUS_IGNORE);
    die_here(1);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_write_ordered(file, &ordered, sizeof(ordered), MPI_BYTE, MPI_STATUS_IGNORE);
    die_here(2);
    MPI_Barrier(MPI_COMM_WORLD); /* the next step's records follow the records of this step */
}

static void wrong(const char *what, long where)
{
    fprintf(stderr, "mpi_shared_files: %s, at record %ld\n", what, where);
    MPI_Abort(MPI_COMM_WORLD, WRONG);
}

/* Each step has a record of each rank in any order, and then in the order of ranks. */
static void check(MPI_File file, long steps)
{
    record_t is;
    MPI_Offset size;

    MPI_File_get_size(file, &size);
    if (size != (MPI_Offset)sizeof(is) * steps * 2 * ranks) {
        wrong("the file has another size", (long)(size / (MPI_Offset)sizeof(is)));
    }
    for (long i = 0; i < steps; i++) {
        unsigned long seen = 0;

        for (int j = 0; j < 2 * ranks; j++) {
            const long where = i * 2 * ranks + j;

            MPI_File_read_at(file, (MPI_Offset)sizeof(is) * where, &is, sizeof(is), MPI_BYTE, MPI_STATUS_IGNORE);
            if (is.step != i || is.is_ordered != (j >= ranks) || (is.is_ordered && is.rank != j - ranks)) {
                wrong("another record", where);
            }
            seen |= is.is_ordered ? 0 : 1ul << is.rank;
        }
        if (seen != (1ul << ranks) - 1) {
            wrong("a rank has no record before", (i + 1) * 2 * ranks);
        }
    }
}

int main(int argc, char **argv)
{
    const long steps = (argc == 4) ? strtol(argv[1], NULL, 10) : 0;
    char name[200];
    MPI_File file;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (steps == 0) {
        fputs("usage: mpi_shared_files STEPS -|RANK@STEP.PLACE,... DIRECTORY\n", stderr);
        MPI_Abort(MPI_COMM_WORLD, USAGE);
    }
    deaths = deaths_of_first_life(argv[2], keel_mpi_incarnation());
    snprintf(name, sizeof(name), "%s/records", argv[3]);
    MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    keel_mpi_protect(1, &at, sizeof(at));
    KEEL_MPI_RESTART_POINT();
    while (at.step < steps) {
        step(file);
        at.step++;
        if (at.step % 3 == 0) {
            keel_mpi_checkpoint();
        }
    }
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        check(file, steps);
        printf("mpi_shared_files: %d ranks, %ld steps: right\n", ranks, steps);
    }
    MPI_File_close(&file);
    MPI_Finalize();
    return 0;
}
