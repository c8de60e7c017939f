/*
 * A looping program with a store of keel/store.h: mpi_stores STEPS -|RANK@STEP.PLACE,... Each third
 * step submits a new version, each step loads a part of every rank's blocks, passes a message
 * around the ring and sums over all ranks. The named ranks die in their first incarnation: at place
 * 0 before the submit, 1 behind it, 2 amid the loads, 3 before the sum.
 */
#include "deaths.h"

#include <keel/store.h>
#include <keel_mpi.h>
#include <mpi.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { SAVE_EVERY = 4, SUBMIT_EVERY = 3, WORDS = 4096, WRONG = 1, USAGE = 2 };

static struct {
    long step, version, sum;
} done; /* protected */
static const char *deaths;
static int rank, ranks;
static keel_store_h store;

static void must(int is_right, const char *what)
{
    if (!is_right) {
        fprintf(stderr, "mpi_stores: rank %d, step %ld: %s is wrong\n", rank, done.step, what);
        MPI_Abort(MPI_COMM_WORLD, WRONG);
    }
}

static void die_here(unsigned place)
{
    die_when_said(deaths, (unsigned long)rank, (unsigned long)done.step, place);
}

static uint64_t word_of(long version, int of, long i)
{
    return (uint64_t)version << 40 | (uint64_t)of << 32 | (uint64_t)i;
}

static void make(void)
{
    const keel_store_params_t params = {.field_mask = KEEL_STORE_PARAM_FIELD_BYTES | KEEL_STORE_PARAM_FIELD_COPIES |
                                                      KEEL_STORE_PARAM_FIELD_BLOCK_BYTES,
                                        .bytes = WORDS * sizeof(uint64_t),
                                        .copies = 2,
                                        .block_bytes = sizeof(uint64_t)};

    must(keel_store_create(keel_mpi_context(), &params, &store) == KEEL_OK, "the store");
}

static void submit(void)
{
    static uint64_t words[WORDS];

    for (long i = 0; i < WORDS; i++) {
        words[i] = word_of(done.version + 1, rank, i);
    }
    /* a rollback jumps out of the call */
    must(keel_store_submit(store, words, WORDS) == KEEL_OK, "a submit");
    done.version++;
}

static void load(int of)
{
    static uint64_t words[WORDS];
    const long first = (done.step * 31 + rank * 7) % (WORDS / 2);
    keel_store_part_t part = {.rank = (uint32_t)of, .first = (uint64_t)first, .count = WORDS / 2, .buffer = words};

    must(keel_store_load(store, &part, 1) == KEEL_OK, "a load");
    for (long i = 0; i < WORDS / 2; i++) {
        must(words[i] == word_of(done.version, of, first + i), "a word");
    }
}

static void step(void)
{
    const long given = done.step * 100 + rank;
    long received = -1, sum = 0;

    die_here(0);
    if (done.step % SUBMIT_EVERY == 0) {
        submit();
    }
    die_here(1);
    for (int i = 0; i < ranks; i++) {
        if (i == ranks / 2) {
            die_here(2);
        }
        load((i + rank) % ranks);
    }
    MPI_Sendrecv(&given, 1, MPI_LONG, (rank + 1) % ranks, 1, &received, 1, MPI_LONG, (rank + ranks - 1) % ranks, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    must(received == done.step * 100 + (rank + ranks - 1) % ranks, "a message");
    die_here(3);
    MPI_Allreduce(&given, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    must(sum == done.step * 100 * ranks + ranks * (ranks - 1) / 2, "a sum");
    done.sum += sum;
    done.step++;
}

int main(int argc, char **argv)
{
    const long steps = (argc == 3) ? strtol(argv[1], NULL, 10) : 0;

    if (steps <= 0) {
        fprintf(stderr, "usage: mpi_stores STEPS -|RANK@STEP.PLACE,...\n");
        return USAGE;
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    deaths = (keel_mpi_incarnation() == 0) ? argv[2] : NULL;
    make();
    keel_mpi_protect(1, &done, sizeof(done));
    KEEL_MPI_RESTART_POINT();
    while (done.step < steps) {
        step();
        if (done.step % SAVE_EVERY == 0) {
            keel_mpi_checkpoint();
        }
    }
    must(done.sum == steps * (steps - 1) / 2 * 100 * ranks + steps * ranks * (ranks - 1) / 2, "the end");
    if (rank == 0) {
        printf("mpi_stores: %d ranks, %ld steps: right\n", ranks, steps);
        fflush(stdout);
    }
    MPI_Finalize();
    return 0;
}
