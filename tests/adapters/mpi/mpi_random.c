/*
 * Steps drawn from a seed, the same on all ranks, with all styles mixed and known results, all
 * checked. A message sent in a step is received in the next, so checkpoints find messages in
 * transit.
 *
 *   mpi_random SEED STEPS -|RANK@STEP.PLACE,...[!]
 *       the named ranks die there in their first incarnation: 0 before the step, 1 during it,
 *       2 with an exclusive lock and 3 between collectives (the place selects the kind of step);
 *       8 before the restart point and 9 instead of MPI_Finalize (of step 0); with !, each
 *       replacement dies once more, before it reaches the restart point
 */
#include "deaths.h"
#include "lost.h"

#include <keel_mpi.h>
#include <mpi.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WRONG = 1, USAGE = 2, CELLS = 64 };

static struct {
    long step, pending, added; /* pending: a message of the last step is outstanding */
    uint64_t draw;
} at; /* protected */
static int rank, ranks, right, left;
static const char *deaths, *asked; /* deaths: NULL in a life without deaths; asked: in all lives */
/* Windows over static memory, one made late. A page border is within the cells. */
static struct {
    long beside[512 - CELLS / 2], cells[CELLS], late[500];
} fixed_memory __attribute__((aligned(4096)));
static long *const cells = fixed_memory.cells;
static MPI_Win beside, fixed, heap, dynamic, some; /* some: of the ranks of the same parity only */
static MPI_Win open;                               /* locked from the start to the end */
static long *counts;
static MPI_Comm half;
static MPI_Aint theirs; /* address of the right neighbour's memory in the dynamic window */
static long *attached, *allocated, *shared_out;

/* Lets the writing of files advance. */
static void look(void)
{
    int flag;

    MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
}

static void die_here(unsigned place)
{
    die_when_said(deaths, (unsigned long)rank, (unsigned long)at.step, place);
    lose_when_said(rank, at.step, place, look);
}

/* True if any rank's death requires this kind of step: the same on all ranks and in all
 * incarnations. */
static int is_place_asked(unsigned place)
{
    char text[32];

    snprintf(text, sizeof(text), "@%ld.%u", at.step, place);
    return strstr(asked, text) != NULL;
}

static void expect_is(const char *what, long is, long expected)
{
    if (is != expected) {
        fprintf(stderr, "mpi_random: rank %d, step %ld: %s is %ld, not %ld\n", rank, at.step, what, is, expected);
        MPI_Abort(MPI_COMM_WORLD, WRONG);
    }
}

static unsigned draw(unsigned limit)
{
    at.draw = at.draw * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(at.draw >> 33) % limit;
}

static void step_fence(unsigned cell)
{
    const long value = at.step * 1000 + rank, values[2] = {value, value};
    const int count = (cell + 1 < CELLS) ? 2 : 1;

    MPI_Win_fence(0, fixed);
    MPI_Put(values, count, MPI_LONG, right, cell, count, MPI_LONG, fixed);
    die_here(1);
    MPI_Win_fence(0, fixed);
    expect_is("a cell after a fence", cells[cell], at.step * 1000 + left);
    expect_is("the last cell after a fence", cells[cell + (unsigned)count - 1], at.step * 1000 + left);
}

static void step_post(unsigned cell)
{
    const int peers[2] = {left, right};
    const long value = at.step * 1000 + rank;
    MPI_Group world, group;

    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, ranks > 2 ? 2 : 1, peers, &group);
    MPI_Win_post(group, 0, heap);
    MPI_Win_start(group, 0, heap);
    MPI_Put(&value, 1, MPI_LONG, right, cell, 1, MPI_LONG, heap);
    die_here(1);
    MPI_Win_complete(heap);
    MPI_Win_wait(heap);
    expect_is("a cell after a post", allocated[cell], at.step * 1000 + left);
    MPI_Group_free(&world);
    MPI_Group_free(&group);
}

/* Each rank fetches and adds 1 at each rank. */
static void step_accumulate(unsigned cell)
{
    const long one = 1;
    long was, before, sums[2] = {0}; /* of the fetched values; of the values before */

    MPI_Barrier(MPI_COMM_WORLD);
    before = allocated[cell];
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, heap);
    for (int i = 0; i < ranks; i++) {
        MPI_Fetch_and_op(&one, &was, MPI_LONG, i, cell, MPI_SUM, heap);
        MPI_Win_flush(i, heap);
        sums[0] += was;
        die_here(1);
    }
    MPI_Win_unlock_all(heap);
    MPI_Barrier(MPI_COMM_WORLD);
    expect_is("what all have counted", allocated[cell] - before, ranks);
    /* each rank's cell counts from its value before, and no two ranks fetch the same value */
    sums[1] = before;
    MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    expect_is("the sum of the fetched values", sums[0], ranks * sums[1] + (long)ranks * ranks * (ranks - 1) / 2);
}

static void step_critical(unsigned cell)
{
    long value, before = 0;

    if (rank == 0) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, heap);
        before = allocated[cell];
        MPI_Win_unlock(0, heap);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, heap);
    MPI_Get(&value, 1, MPI_LONG, 0, cell, 1, MPI_LONG, heap);
    MPI_Win_flush(0, heap);
    die_here(1);
    die_here(2);
    value += rank + 1;
    MPI_Put(&value, 1, MPI_LONG, 0, cell, 1, MPI_LONG, heap);
    MPI_Win_unlock(0, heap);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        expect_is("what the lock protects", allocated[cell] - before, (long)ranks * (ranks + 1) / 2);
    }
}

static void step_collect(unsigned root)
{
    long value = at.step + rank, sum = 0, expected = 0, all[64];
    int size;

    MPI_Comm_size(half, &size);
    MPI_Allreduce(&value, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    expect_is("a sum", sum, ranks * at.step + (long)ranks * (ranks - 1) / 2);
    die_here(1);
    die_here(3);
    value = (rank == (int)root) ? at.step * 7 : 0;
    MPI_Bcast(&value, 1, MPI_LONG, (int)root, MPI_COMM_WORLD);
    expect_is("what was broadcast", value, at.step * 7);
    value = rank;
    MPI_Allgather(&value, 1, MPI_LONG, all, 1, MPI_LONG, half);
    for (int i = 0; i < size; i++) {
        expected += all[i] == 2 * i + rank % 2;
    }
    expect_is("what was gathered", expected, size);
}

static void step_dynamic(unsigned cell)
{
    const double value = (double)(at.step * 1000 + rank);
    double before = 0;

    MPI_Win_lock(MPI_LOCK_SHARED, right, 0, dynamic);
    MPI_Accumulate(&value, 1, MPI_DOUBLE, right, MPI_Aint_add(theirs, cell * (MPI_Aint)sizeof(double)), 1, MPI_DOUBLE,
                   MPI_REPLACE, dynamic);
    MPI_Win_unlock(right, dynamic);
    die_here(1);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, dynamic);
    memcpy(&before, &attached[cell], sizeof(before));
    MPI_Win_unlock(rank, dynamic);
    expect_is("a dynamic cell", (long)before, at.step * 1000 + left);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* A window and a communicator freed in the same step. */
static void step_late(unsigned cell)
{
    long *memory = fixed_memory.late;
    long value = at.step + 1;
    MPI_Comm dup;
    MPI_Win win;

    memset(memory, 0, sizeof(fixed_memory.late));
    MPI_Comm_dup(half, &dup);
    MPI_Win_create(memory, sizeof(fixed_memory.late), sizeof(long), MPI_INFO_NULL, dup, &win);
    MPI_Win_fence(0, win);
    MPI_Put(&value, 1, MPI_LONG, 0, cell, 1, MPI_LONG, win);
    die_here(1);
    MPI_Win_fence(0, win);
    expect_is("a cell of a window of the step", memory[cell], rank < 2 ? value : 0);
    MPI_Win_free(&win);
    MPI_Comm_free(&dup);
}

/* Puts a column of own memory to a row of the neighbour's window, within the half. */
static void step_types(unsigned cell)
{
    long matrix[4][8], got[4];
    int size, me;
    MPI_Datatype column;

    MPI_Comm_size(half, &size);
    MPI_Comm_rank(half, &me);
    for (int i = 0; i < 32; i++) {
        matrix[i / 8][i % 8] = at.step * 100 + i;
    }
    MPI_Type_vector(4, 1, 8, MPI_LONG, &column);
    MPI_Type_commit(&column);
    MPI_Win_fence(0, some);
    MPI_Put(&matrix[0][cell % 8], 1, column, (me + 1) % size, cell % 32, 4, MPI_LONG, some);
    MPI_Win_fence(0, some);
    die_here(1);
    MPI_Get(got, 4, MPI_LONG, (me + 1) % size, cell % 32, 4, MPI_LONG, some);
    MPI_Win_fence(0, some);
    expect_is("a column", got[3], at.step * 100 + 24 + cell % 8);
    expect_is("a column at home", shared_out[cell % 32 + 1], at.step * 100 + 8 + cell % 8);
    MPI_Type_free(&column);
}

/* Under the permanent lock, each rank draws once from a counter. */
static void step_open(unsigned cell)
{
    const int home = (int)(cell % (unsigned)ranks);
    const long one = 1;
    long was, sum = 0;

    MPI_Fetch_and_op(&one, &was, MPI_LONG, home, 0, MPI_SUM, open);
    MPI_Win_flush(home, open);
    die_here(1);
    MPI_Allreduce(&was, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    expect_is("what was drawn", (2 * sum - (long)ranks * (ranks - 1)) % (2L * ranks * ranks), 0);
    MPI_Accumulate(&one, 1, MPI_LONG, right, 1, 1, MPI_LONG, MPI_SUM, open);
    MPI_Win_flush(right, open);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_sync(open);
    at.added++;
    expect_is("what the left has added", counts[1], at.added);
}

static void receive_pending(void)
{
    long got[2];
    MPI_Status status;

    if (at.pending) {
        MPI_Recv(got, 2, MPI_LONG, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &status);
        expect_is("the source of the message", status.MPI_SOURCE, left);
        expect_is("the pending message", got[1], got[0] * 10 + left);
        at.pending = 0;
    }
}

static void step(void)
{
    static void (*const kinds[])(unsigned) = {step_fence,   step_post, step_accumulate, step_critical,
                                              step_dynamic, step_late, step_types,      step_open};
    const unsigned drawn = draw(9), cell = draw(CELLS), kind = is_place_asked(2) ? 3 : is_place_asked(3) ? 8 : drawn;
    long said[2] = {at.step, at.step * 10 + rank};

    die_here(0);
    receive_pending();
    if (kind == 8) {
        step_collect(draw((unsigned)ranks));
    } else {
        kinds[kind](cell);
    }
    if (draw(2) == 0) {
        MPI_Send(said, 2, MPI_LONG, right, 7, MPI_COMM_WORLD);
        at.pending = 1;
    }
    at.step++;
}

/* Calls that a replacement replays from the record: requests, probes, atomics. */
static void talk(void)
{
    const long one = 1;
    long in = -1, out = rank, drawn;
    int flag = 0;
    MPI_Request requests[2];
    MPI_Status status;

    MPI_Irecv(&in, 1, MPI_LONG, left, 3, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(&out, 1, MPI_LONG, right, 3, MPI_COMM_WORLD, &requests[1]);
    while (!flag) {
        MPI_Testall(2, requests, &flag, MPI_STATUSES_IGNORE);
    }
    expect_is("what a request received", in, left);
    MPI_Send(&out, 1, MPI_LONG, right, 4, MPI_COMM_WORLD);
    for (flag = 0; !flag;) {
        MPI_Iprobe(MPI_ANY_SOURCE, 4, MPI_COMM_WORLD, &flag, &status);
    }
    MPI_Recv(&in, 1, MPI_LONG, status.MPI_SOURCE, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    expect_is("what a probe found", in, left);
    MPI_Win_lock_all(0, open);
    MPI_Fetch_and_op(&one, &drawn, MPI_LONG, 0, 2, MPI_SUM, open);
    MPI_Win_flush(0, open);
    MPI_Allreduce(MPI_IN_PLACE, &drawn, 1, MPI_LONG, MPI_MAX, MPI_COMM_WORLD);
    expect_is("the last that was drawn", drawn, ranks - 1);
}

static void make(void)
{
    MPI_Aint mine;

    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Win_create(fixed_memory.beside, sizeof(fixed_memory.beside), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD,
                   &beside);
    MPI_Win_allocate(CELLS * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &allocated, &heap);
    MPI_Win_allocate(CELLS * sizeof(long), sizeof(long), MPI_INFO_NULL, half, &shared_out, &some);
    MPI_Win_create(cells, CELLS * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &fixed);
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &dynamic);
    MPI_Alloc_mem(CELLS * sizeof(*attached), MPI_INFO_NULL, &attached);
    memset(attached, 0, CELLS * sizeof(*attached));
    MPI_Win_attach(dynamic, attached, CELLS * sizeof(*attached));
    MPI_Get_address(attached, &mine);
    MPI_Sendrecv(&mine, 1, MPI_AINT, left, 0, &theirs, 1, MPI_AINT, right, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Win_create(counts, CELLS * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &open);
    memset(counts, 0, CELLS * sizeof(long));
    memset(cells, 0, CELLS * sizeof(long));
    memset(allocated, 0, CELLS * sizeof(long));
    memset(shared_out, 0, CELLS * sizeof(long));
    MPI_Barrier(MPI_COMM_WORLD);
    talk();
}

int main(int argc, char **argv)
{
    const long steps = (argc == 4) ? strtol(argv[2], NULL, 10) : 0;
    long stack[CELLS]; /* a window, too */

    if (steps <= 0) {
        fprintf(stderr, "usage: mpi_random SEED STEPS -|RANK@STEP.PLACE,...\n");
        return USAGE;
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    right = (rank + 1) % ranks;
    left = (rank + ranks - 1) % ranks;
    asked = argv[3];
    deaths = deaths_of_first_life(argv[3], keel_mpi_incarnation());
    at.draw = strtoull(argv[1], NULL, 10);
    counts = stack;
    make();
    die_when_said(deaths, (unsigned long)rank, 0, 8);
    if (keel_mpi_incarnation() == 1 && strchr(argv[3], '!') != NULL) {
        raise(SIGKILL);
    }
    keel_mpi_protect(1, &at, sizeof(at));
    KEEL_MPI_RESTART_POINT();
    while (at.step < steps) {
        step();
        if (draw(3) == 0) {
            keel_mpi_checkpoint();
        }
    }
    receive_pending();
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        printf("mpi_random: seed %s, %d ranks, %ld steps: right\n", argv[1], ranks, steps);
        fflush(stdout);
    }
    MPI_Win_unlock_all(open);
    MPI_Win_free(&open);
    MPI_Win_free(&fixed);
    MPI_Win_free(&beside);
    MPI_Win_free(&heap);
    MPI_Win_free(&some);
    MPI_Win_detach(dynamic, attached);
    MPI_Win_free(&dynamic);
    MPI_Comm_free(&half);
    die_when_said(deaths, (unsigned long)rank, 0, 9);
    MPI_Finalize();
    return 0;
}
