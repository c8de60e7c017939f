/*
 * A looping program: a counter by MPI_Fetch_and_op, a sum by MPI_Accumulate of doubles, a critical
 * section, a ring by fence over memory of the program's own, another by a persistent request, older
 * handles of all kinds, and a barrier. All results are checked, and the handles are freed at the
 * end.
 *
 *   mpi_survives STEPS -|RANK@STEP.PLACE,... [plain]
 *       the named ranks die there in their first incarnation: 0 before the step, 1 between its
 *       counters, 2 in its critical section, 3 between its fences, 9 instead of MPI_Finalize,
 *       8 before the restart point (step 0), 10 in MPI_Finalize; plain: without a restart point
 *       and checkpoints
 */
#include "deaths.h"
#include "lost.h"

#include <keel_mpi.h>
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SAVE_EVERY = 4, WRONG = 1, USAGE = 2, CELLS = 40 };

static struct {
    long step, drawn;
} at; /* protected */
static const char *deaths;
static int rank, ranks;
static long ring[CELLS]; /* a window over memory of the program */

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

static void wrong(const char *what, long is)
{
    fprintf(stderr, "mpi_survives: rank %d, step %ld: %s is %ld\n", rank, at.step, what, is);
    MPI_Abort(MPI_COMM_WORLD, WRONG);
}

typedef struct {
    long counter, counted;
    double sum;
} memory_t;

static struct {
    MPI_Datatype pair;
    MPI_Group all, same;
    MPI_Op add;
    MPI_Info info;
    MPI_Errhandler handler;
    MPI_Request receive;
    long got;
} made;

static void add(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *count; i++) {
        ((long *)inout)[i] += ((const long *)in)[i];
    }
}

static void handle_error(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    wrong("an error", *code);
}

static void made_make(void)
{
    MPI_Info info;

    MPI_Type_contiguous(2, MPI_LONG, &made.pair);
    MPI_Type_commit(&made.pair);
    MPI_Comm_group(MPI_COMM_WORLD, &made.all);
    MPI_Comm_group(MPI_COMM_WORLD, &made.same);
    MPI_Op_create(add, 1, &made.add);
    MPI_Info_create(&info);
    MPI_Info_set(info, "key", "value");
    MPI_Info_dup(info, &made.info);
    MPI_Info_free(&info);
    MPI_Comm_create_errhandler(handle_error, &made.handler);
    MPI_Recv_init(&made.got, 1, MPI_LONG, (rank + ranks - 1) % ranks, 5, MPI_COMM_WORLD, &made.receive);
}

static void made_use(MPI_Comm half)
{
    const long pair[2] = {rank, at.step};
    long sum[2] = {1, 1};
    int size, keys;

    MPI_Start(&made.receive);
    MPI_Sendrecv(pair, 1, made.pair, rank, 6, sum, 1, made.pair, rank, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Reduce_local(pair, sum, 2, MPI_LONG, made.add);
    MPI_Send(&sum[0], 1, MPI_LONG, (rank + 1) % ranks, 5, MPI_COMM_WORLD);
    MPI_Group_size(made.all, &size);
    size = (made.same == made.all) ? size : -1;
    MPI_Info_get_nkeys(made.info, &keys);
    MPI_Comm_set_errhandler(half, made.handler);
    MPI_Wait(&made.receive, MPI_STATUS_IGNORE);
    if (made.got != 2L * ((rank + ranks - 1) % ranks) || sum[1] != 2 * at.step || size != ranks || keys != 1) {
        wrong("what the handles are for", made.got);
    }
}

/* Dies in MPI_Finalize, when an attribute of MPI_COMM_SELF is deleted. */
static int die_at_the_end(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm;
    (void)key;
    (void)value;
    (void)extra;
    die_here(10);
    return MPI_SUCCESS;
}

/* Frees the handles and checks that they are null. */
static void made_free(void)
{
    MPI_Type_free(&made.pair);
    MPI_Group_free(&made.all);
    MPI_Group_free(&made.same);
    MPI_Op_free(&made.add);
    MPI_Info_free(&made.info);
    MPI_Errhandler_free(&made.handler);
    MPI_Request_free(&made.receive);
    if (made.pair != MPI_DATATYPE_NULL || made.all != MPI_GROUP_NULL || made.same != MPI_GROUP_NULL ||
        made.add != MPI_OP_NULL || made.info != MPI_INFO_NULL || made.handler != MPI_ERRHANDLER_NULL ||
        made.receive != MPI_REQUEST_NULL) {
        wrong("a handle that was freed", at.step);
    }
}

static void step(MPI_Win counters, MPI_Win cells)
{
    const int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks, home = (int)(at.step % ranks);
    const long one = 1, said = (at.step + 1) * 1000 + rank;
    const double half = 0.5;
    long drawn, counted;

    die_here(0);
    MPI_Win_lock_all(0, counters);
    MPI_Fetch_and_op(&one, &drawn, MPI_LONG, home, 0, MPI_SUM, counters);
    MPI_Win_flush(home, counters);
    die_here(1);
    MPI_Accumulate(&half, 1, MPI_DOUBLE, right, 2, 1, MPI_DOUBLE, MPI_SUM, counters);
    MPI_Win_unlock_all(counters);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, counters);
    MPI_Get(&counted, 1, MPI_LONG, 0, 1, 1, MPI_LONG, counters);
    MPI_Win_flush(0, counters);
    die_here(2);
    counted++;
    MPI_Put(&counted, 1, MPI_LONG, 0, 1, 1, MPI_LONG, counters);
    MPI_Win_unlock(0, counters);
    MPI_Win_fence(0, cells);
    MPI_Put(&said, 1, MPI_LONG, right, at.step % CELLS, 1, MPI_LONG, cells);
    die_here(3);
    MPI_Win_fence(0, cells);
    if (ring[at.step % CELLS] != (at.step + 1) * 1000 + left) {
        wrong("what came from the left", ring[at.step % CELLS]);
    }
    at.drawn += drawn;
    at.step++;
}

static void check_end(const memory_t *memory, long steps)
{
    const long turns = (steps - rank + ranks - 1) / ranks;

    MPI_Barrier(MPI_COMM_WORLD);
    if (memory->counter != turns * ranks) {
        wrong("the counter", memory->counter);
    }
    if (memory->sum != 0.5 * (double)steps) {
        wrong("twice the sum", (long)(2 * memory->sum));
    }
    if (rank == 0 && memory->counted != steps * ranks) {
        wrong("what was counted", memory->counted);
    }
    if (ring[CELLS - 1] == 0 || (at.drawn < 0)) {
        wrong("the end", at.drawn);
    }
}

int main(int argc, char **argv)
{
    const long steps = (argc > 2) ? strtol(argv[1], NULL, 10) : 0;
    const int is_plain = argc == 4 && strcmp(argv[3], "plain") == 0;
    memory_t *memory;
    MPI_Win counters, cells;
    MPI_Comm half;
    int provided, key;

    if (steps <= 0 || (argc == 4 && !is_plain)) {
        fprintf(stderr, "usage: mpi_survives STEPS -|RANK@STEP.PLACE,... [plain]\n");
        return USAGE;
    }
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, die_at_the_end, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
    deaths = deaths_of_first_life(argv[2], keel_mpi_incarnation());
    MPI_Win_allocate(sizeof(*memory), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &counters);
    MPI_Win_create(ring, sizeof(ring), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &cells);
    memset(memory, 0, sizeof(*memory));
    memset(ring, 0, sizeof(ring));
    made_make();
    MPI_Barrier(MPI_COMM_WORLD);
    die_here(8);
    if (!is_plain) {
        keel_mpi_protect(1, &at, sizeof(at));
        KEEL_MPI_RESTART_POINT();
    }
    while (at.step < steps) {
        made_use(half);
        step(counters, cells);
        if (!is_plain && at.step % SAVE_EVERY == 0) {
            keel_mpi_checkpoint();
        }
    }
    check_end(memory, steps);
    made_free();
    MPI_Barrier(half);
    MPI_Comm_free(&half);
    die_here(9);
    if (rank == ranks - 1) {
        printf("mpi_survives: %d ranks, %ld steps: right\n", ranks, steps);
        fflush(stdout);
    }
    MPI_Finalize();
    return 0;
}
