/*
 * The cost of a death after each group of calls. In each step the program makes calls of one group,
 * and ends with a barrier; all results are checked: mpi_costs GROUP STEPS RANK@STEP.PLACE,...|-.
 * The named ranks die there in their first incarnation: 0 at the step's begin, 1 between its calls,
 * 2 before the barrier.
 */
#include "deaths.h"

#include <keel_mpi.h>
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MANY = 300,
    ROWS = 15,
    SAVE_EVERY = 5,
    WRONG = 1,
    USAGE = 2,
    CROWD = 3,
    LARGE = 6000,
    LARGER = 90000,
    ROOM = 32 << 10
};

static long *cells, *some; /* windows: of all ranks, and of the ranks of the same parity */
static MPI_Win all_win, half_win;
static MPI_Datatype column; /* ROWS numbers, with the largest distance that the window allows */
static MPI_Comm half;
static int rank, ranks, right, left, mate, mates; /* mate: next rank of the half */
static long step;                                 /* protected */
static const char *deaths;

static void die_here(unsigned place)
{
    die_when_said(deaths, (unsigned long)rank, (unsigned long)step, place);
}

static void check(long is, long should, const char *what)
{
    if (is != should) {
        fprintf(stderr, "mpi_costs: rank %d, step %ld: %s is %ld, not %ld\n", rank, step, what, is, should);
        MPI_Abort(MPI_COMM_WORLD, WRONG);
    }
}

static void fences_of(void)
{
    long said[MANY], got = -1;

    for (long i = 0; i < MANY; i++) {
        said[i] = rank + step + i;
    }
    MPI_Win_fence(0, all_win);
    MPI_Put(said, MANY, MPI_LONG, right, 0, MANY, MPI_LONG, all_win);
    die_here(1);
    MPI_Win_fence(0, all_win);
    check(cells[MANY - 1], left + step + MANY - 1, "what is put");
    MPI_Get(&got, 1, MPI_LONG, right, MANY - 1, 1, MPI_LONG, all_win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, all_win);
    check(got, rank + step + MANY - 1, "what is got");
}

static void fences_of_some_of(void)
{
    const long said = rank + step;

    MPI_Win_fence(0, half_win);
    MPI_Put(&said, 1, MPI_LONG, mate, 0, 1, MPI_LONG, half_win);
    die_here(1);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, half_win);
    check(some[0], (rank + ranks - 2) % ranks + step, "what is put");
}

/* Puts and gets in this number of blocks. */
static void put_column(void)
{
    long said[ROWS];

    for (long i = 0; i < ROWS; i++) {
        said[i] = rank + step + i;
    }
    MPI_Put(said, ROWS, MPI_LONG, right, 0, 1, column, all_win);
}

static void check_column(const long *is, long apart, long first)
{
    for (long i = 0; i < ROWS; i++) {
        check(is[i * apart], first + i, "a part");
    }
}

static void columns_of(void)
{
    long got[ROWS] = {0};

    MPI_Win_fence(0, all_win);
    put_column();
    die_here(1);
    MPI_Win_fence(0, all_win);
    check_column(cells, MANY / ROWS, left + step);
    MPI_Get(got, ROWS, MPI_LONG, right, 0, 1, column, all_win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, all_win);
    check_column(got, 1, rank + step);
}

static void columns_in_flushes_of(void)
{
    long got[ROWS] = {0};

    MPI_Win_lock_all(0, all_win);
    put_column();
    MPI_Win_flush(right, all_win);
    die_here(1);
    MPI_Get(got, ROWS, MPI_LONG, right, 0, 1, column, all_win);
    MPI_Win_unlock_all(all_win);
    check_column(got, 1, rank + step);
}

static void posts_of(void)
{
    const int peers[2] = {left, right};
    const long said = rank + step;
    MPI_Group world, group;

    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 2, peers, &group);
    MPI_Win_post(group, 0, all_win);
    MPI_Win_start(group, 0, all_win);
    MPI_Put(&said, 1, MPI_LONG, right, 0, 1, MPI_LONG, all_win);
    die_here(1);
    MPI_Win_complete(all_win);
    MPI_Win_wait(all_win);
    check(cells[0], left + step, "what is put");
    MPI_Group_free(&group);
    MPI_Group_free(&world);
}

static void messages_of(void)
{
    long said[MANY] = {rank + step}, got[3] = {-1, -1, -1}, much[MANY];
    MPI_Request requests[4];

    MPI_Send(said, 1, MPI_LONG, right, 1, MPI_COMM_WORLD);
    die_here(1);
    MPI_Recv(&got[0], 1, MPI_LONG, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Irecv(&got[1], 1, MPI_LONG, left, 2, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(&got[2], 1, MPI_LONG, right, 3, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(said, 1, MPI_LONG, right, 2, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(said, 1, MPI_LONG, left, 3, MPI_COMM_WORLD, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    MPI_Sendrecv(said, MANY, MPI_LONG, left, 4, much, MANY, MPI_LONG, right, MPI_ANY_TAG, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    check(got[0], left + step, "what is received");
    check(got[1] + got[2] + much[0], left + right + right + 3 * step, "what is received for requests");
}

static void collectives_of(void)
{
    long value = (rank == step % ranks) ? step : -1, sum = 0, all[64] = {0};

    MPI_Bcast(&value, 1, MPI_LONG, (int)step % ranks, MPI_COMM_WORLD);
    check(value, step, "what is broadcast");
    die_here(1);
    value = rank + step;
    MPI_Allreduce(&value, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    check(sum, ranks * (ranks - 1) / 2 + step * ranks, "a sum");
    MPI_Allgather(&value, 1, MPI_LONG, all, 1, MPI_LONG, half);
    check(all[mates - 1], 2 * (mates - 1) + rank % 2 + step, "what is gathered");
    MPI_Barrier(half);
}

static void ahead_of(void)
{
    long value = rank + step, sum = 0;
    MPI_Request requests[2];

    MPI_Iallreduce(&value, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD, &requests[0]);
    die_here(1);
    MPI_Ibarrier(MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    check(sum, ranks * (ranks - 1) / 2 + step * ranks, "a sum");
}

static void objects_of(void)
{
    const long said = rank + step;
    long *memory;
    MPI_Comm dup;
    MPI_Win win;

    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    MPI_Win_allocate(sizeof(*memory), sizeof(*memory), MPI_INFO_NULL, dup, &memory, &win);
    MPI_Win_fence(0, win);
    MPI_Put(&said, 1, MPI_LONG, right, 0, 1, MPI_LONG, win);
    die_here(1);
    MPI_Win_fence(0, win);
    check(*memory, left + step, "what is put");
    MPI_Win_free(&win);
    MPI_Comm_free(&dup);
}

static void accumulates_of(void)
{
    const double half_of = 0.5;
    const long before = cells[1];

    MPI_Win_fence(0, all_win);
    MPI_Accumulate(&half_of, 1, MPI_DOUBLE, right, 0, 1, MPI_DOUBLE, MPI_SUM, all_win);
    die_here(1);
    MPI_Accumulate(&step, 1, MPI_LONG, left, 1, 1, MPI_LONG, MPI_SUM, all_win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, all_win);
    check(cells[1], before + step, "what is added");
}

static void integers_of(void)
{
    const long before = cells[16], last = cells[MANY - 1], add[MANY] = {[16] = step, [MANY - 1] = 1};

    MPI_Win_fence(0, all_win);
    MPI_Accumulate(add, MANY, MPI_LONG, right, 0, MANY, MPI_LONG, MPI_SUM, all_win);
    die_here(1);
    MPI_Accumulate(add + 1, 16, MPI_LONG, left, 1, 16, MPI_LONG, MPI_SUM, all_win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, all_win);
    check(cells[16], before + 2 * step, "what is added");
    check(cells[MANY - 1], last + 1, "what is added at the end");
}

static void flushes_of(void)
{
    const long said = rank + step;
    long got = -1;

    MPI_Win_lock_all(0, all_win);
    MPI_Put(&said, 1, MPI_LONG, right, 0, 1, MPI_LONG, all_win);
    MPI_Win_flush(right, all_win);
    die_here(1);
    MPI_Get(&got, 1, MPI_LONG, right, 0, 1, MPI_LONG, all_win);
    MPI_Win_unlock_all(all_win);
    check(got, said, "what is got");
}

static void counters_of(void)
{
    const long one = 1;
    long was = -1;

    MPI_Win_lock_all(0, all_win);
    MPI_Fetch_and_op(&one, &was, MPI_LONG, right, 0, MPI_SUM, all_win);
    MPI_Win_flush(right, all_win);
    die_here(1);
    MPI_Win_unlock_all(all_win);
    check(was, step, "what is fetched");
}

static void sections_of(void)
{
    long value = 0;

    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, all_win);
    MPI_Get(&value, 1, MPI_LONG, 0, 0, 1, MPI_LONG, all_win);
    MPI_Win_flush(0, all_win);
    die_here(1);
    value++;
    MPI_Put(&value, 1, MPI_LONG, 0, 0, 1, MPI_LONG, all_win);
    MPI_Win_unlock(0, all_win);
    MPI_Barrier(MPI_COMM_WORLD);
    check(rank == 0 ? cells[0] : 0, rank == 0 ? (step + 1) * ranks : 0, "what the lock protects");
}

static void any_of(void)
{
    long said = rank + step, got = -1;
    MPI_Status status;

    MPI_Send(&said, 1, MPI_LONG, right, 1, MPI_COMM_WORLD);
    die_here(1);
    MPI_Recv(&got, 1, MPI_LONG, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &status);
    check(got, left + step, "what is received");
}

static void tests_of(void)
{
    long said = rank + step, got = -1;
    int flag = 0;
    MPI_Request request;

    MPI_Irecv(&got, 1, MPI_LONG, left, 1, MPI_COMM_WORLD, &request);
    MPI_Send(&said, 1, MPI_LONG, right, 1, MPI_COMM_WORLD);
    die_here(1);
    while (!flag) {
        MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    }
    check(got, left + step, "what is received");
}

static void synchronous_of(void)
{
    long said = rank + step, got = -1;
    MPI_Request request;

    MPI_Irecv(&got, 1, MPI_LONG, left, 1, MPI_COMM_WORLD, &request);
    die_here(1);
    MPI_Ssend(&said, 1, MPI_LONG, right, 1, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check(got, left + step, "what is received");
}

static void open_of(void)
{
    const long said = rank + step;

    MPI_Put(&said, 1, MPI_LONG, right, 0, 1, MPI_LONG, all_win);
    MPI_Win_flush(right, all_win);
    die_here(1);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_sync(all_win);
    check(cells[0], left + step, "what is put");
}

static void polls_of(void)
{
    const long said = step + 1;
    long got = -1;

    MPI_Put(&said, 1, MPI_LONG, right, 0, 1, MPI_LONG, all_win);
    MPI_Win_flush(right, all_win);
    die_here(1);
    while (got < said) {
        MPI_Get(&got, 1, MPI_LONG, rank, 0, 1, MPI_LONG, all_win);
        MPI_Win_flush(rank, all_win);
    }
    check(got, said, "what is seen");
}

/* The arena is full, so each message is sent in chunks when its receiver takes it. The receiver
 * first waits for another message. */
static void crowded_of(void)
{
    static long sent[CROWD][LARGE], got[LARGE];
    MPI_Request requests[CROWD];
    long word = step, received = -1;

    for (int i = 0; i < CROWD; i++) {
        sent[i][0] = rank + i;
        sent[i][LARGE - 1] = step;
        MPI_Isend(sent[i], LARGE, MPI_LONG, right, i, MPI_COMM_WORLD, &requests[i]);
    }
    die_here(1);
    MPI_Send(&word, 1, MPI_LONG, left, CROWD, MPI_COMM_WORLD);
    MPI_Recv(&received, 1, MPI_LONG, right, CROWD, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    check(received, step, "the first message");
    for (int i = CROWD; i-- > 0;) {
        MPI_Recv(got, LARGE, MPI_LONG, left, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        check(got[0], left + i, "what a large message begins with");
        check(got[LARGE - 1], step, "what a large message ends with");
    }
    MPI_Waitall(CROWD, requests, MPI_STATUSES_IGNORE);
}

/* Sends more than the arena can hold to all other ranks. They receive it in the next step, after a
 * barrier or checkpoint. */
static void send_larger(void)
{
    static long sent[LARGER];

    for (int to = 0; to < ranks; to++) {
        sent[0] = to;
        sent[LARGER - 1] = step;
        if (to != rank) {
            MPI_Send(sent, LARGER, MPI_LONG, to, 1, MPI_COMM_WORLD);
        }
    }
}

static void receive_larger(int from)
{
    static long got[LARGER];

    if (from != rank) {
        MPI_Recv(got, LARGER, MPI_LONG, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        check(got[0], rank, "what a larger message begins with");
        check(got[LARGER - 1], step - 1, "what a larger message ends with");
    }
}

static void crowded_gsyncs_of(void)
{
    if (step > 0) {
        receive_larger((int)(step - 1) % ranks);
    }
    die_here(1);
    if (step % ranks == rank) {
        send_larger();
    }
}

/* Sends the larger messages across checkpoints only, without barriers. */
static void crowded_saves_of(void)
{
    if (step > 0 && step % SAVE_EVERY == 0) {
        receive_larger((int)(step / SAVE_EVERY - 1) % ranks);
    }
    die_here(1);
    if ((step + 1) % SAVE_EVERY == 0 && step / SAVE_EVERY % ranks == rank) {
        send_larger();
    }
}

/* Allocates the arena, except for free blocks smaller than ROOM. */
static void fill(void)
{
    void *filler;

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (MPI_Aint bytes = 1 << 20; bytes >= ROOM; bytes /= 2) {
        while (MPI_Alloc_mem(bytes, MPI_INFO_NULL, &filler) == MPI_SUCCESS) {
        }
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

/* Calls with local recovery elsewhere, in a job with a window that lacks the promise. */
static void withdrawn_of(void)
{
    fences_of();
}

/* The program itself gives the promise, by a variable set before MPI_Init. */
static void given_of(void)
{
    fences_of();
}

static const struct {
    const char *name;
    void (*of)(void);
} groups[] = {{"fences", fences_of},
              {"fences_of_some", fences_of_some_of},
              {"columns", columns_of},
              {"columns_in_flushes", columns_in_flushes_of},
              {"posts", posts_of},
              {"messages", messages_of},
              {"collectives", collectives_of},
              {"ahead", ahead_of},
              {"objects", objects_of},
              {"accumulates", accumulates_of},
              {"integers", integers_of},
              {"flushes", flushes_of},
              {"open", open_of},
              {"polls", polls_of},
              {"counters", counters_of},
              {"sections", sections_of},
              {"any", any_of},
              {"tests", tests_of},
              {"synchronous", synchronous_of},
              {"crowded", crowded_of},
              {"crowded_gsyncs", crowded_gsyncs_of},
              {"crowded_saves", crowded_saves_of},
              {"withdrawn", withdrawn_of},
              {"given", given_of},
              {"said", fences_of},
              {"said_waits", fences_of},
              {"unclear", fences_of}};

/* The value of the info key of a group's first window; NULL: no key. */
static const char *said_by(const char *name)
{
    static const char *const said[][2] = {{"said", "true"}, {"said_waits", "waits"}, {"unclear", "no"}};

    for (size_t i = 0; i < sizeof(said) / sizeof(said[0]); i++) {
        if (strcmp(said[i][0], name) == 0) {
            return said[i][1];
        }
    }
    return NULL;
}

static void make(int is_withdrawn, const char *said)
{
    MPI_Info no = MPI_INFO_NULL, yes = MPI_INFO_NULL;

    if (is_withdrawn) {
        MPI_Info_create(&no);
        MPI_Info_set(no, "keel_deterministic", "false");
    }
    if (said != NULL) {
        MPI_Info_create(&yes);
        MPI_Info_set(yes, "keel_deterministic", said);
    }
    MPI_Type_vector(ROWS, 1, MANY / ROWS, MPI_LONG, &column);
    MPI_Type_commit(&column);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Comm_rank(half, &mate);
    MPI_Comm_size(half, &mates);
    mate = (mate + 1) % mates;
    MPI_Win_allocate(MANY * sizeof(*cells), sizeof(*cells), yes, MPI_COMM_WORLD, &cells, &all_win);
    MPI_Win_allocate(MANY * sizeof(*some), sizeof(*some), no, half, &some, &half_win);
    if (is_withdrawn) {
        MPI_Info_free(&no);
    }
    if (said != NULL) {
        MPI_Info_free(&yes);
    }
    memset(cells, 0, MANY * sizeof(*cells));
    memset(some, 0, MANY * sizeof(*some));
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    const long steps = (argc == 4) ? strtol(argv[2], NULL, 10) : 0;
    static size_t group; /* static, as KEEL_MPI_RESTART_POINT() requires */

    while (argc == 4 && group < sizeof(groups) / sizeof(groups[0]) && strcmp(groups[group].name, argv[1]) != 0) {
        group++;
    }
    if (steps <= 0 || group == sizeof(groups) / sizeof(groups[0])) {
        fprintf(stderr, "usage: mpi_costs GROUP STEPS RANK@STEP.PLACE,...|-\n");
        return USAGE;
    }
    if (groups[group].of == given_of) {
        setenv("KEEL_DETERMINISTIC", "y", 1);
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    right = (rank + 1) % ranks;
    left = (rank + ranks - 1) % ranks;
    deaths = deaths_of_first_life(argv[3], keel_mpi_incarnation());
    make(groups[group].of == withdrawn_of, said_by(argv[1]));
    if (groups[group].of == open_of || groups[group].of == polls_of) {
        MPI_Win_lock_all(0, all_win);
    }
    if (groups[group].of == crowded_of) {
        fill();
    }
    keel_mpi_protect(1, &step, sizeof(step));
    KEEL_MPI_RESTART_POINT();
    while (step < steps) {
        die_here(0);
        groups[group].of();
        die_here(2);
        if (groups[group].of != crowded_saves_of) {
            MPI_Barrier(MPI_COMM_WORLD);
        }
        step++;
        if (step % SAVE_EVERY == 0) {
            keel_mpi_checkpoint();
        }
    }
    if (groups[group].of == open_of || groups[group].of == polls_of) {
        MPI_Win_unlock_all(all_win);
    }
    if (rank == 0) {
        printf("mpi_costs: %s: right\n", argv[1]);
        fflush(stdout);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_free(&all_win);
    MPI_Win_free(&half_win);
    MPI_Comm_free(&half);
    MPI_Finalize();
    return 0;
}
