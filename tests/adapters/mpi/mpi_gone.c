/*
 * Objects made before the restart point and freed after it, at once or later. They stay freed in a
 * replacement or after a rollback, and other objects may use their memory; a freed file is closed.
 * Adjacent windows with another block of the arena between them come back even if the arena has no
 * contiguous space for them: mpi_gone STEPS -|RANK@STEP.PLACE,... DIRECTORY, the place of the
 * files.
 */
#include <keel_mpi.h>
#include <mpi.h>

#include "deaths.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WRONG = 1, USAGE = 2, PAGE = 4096, BLOCKS = 6, LARGE = 5 << 20, MUCH = 200000, CELLS = 100 };

static struct {
    long step;
} at; /* protected */
static struct {
    /* `first` and `second` become windows, the rest does not */
    char beside[100], first[PAGE], second[2 * PAGE], behind[100];
} memory __attribute__((aligned(PAGE)));
static struct {
    char beside[100], window[PAGE], behind[100];
} apart __attribute__((aligned(PAGE))); /* on pages without other windows */
static char large[2 * LARGE] __attribute__((aligned(PAGE)));
static int rank, ranks, right;
static const char *deaths, *directory;
static MPI_Win allocated, alone, first, second, halves[2];
/* moved: a copy of `put`; the communicator is freed by this handle */
static MPI_Comm copy, put, moved;
static MPI_Request pair[2];       /* persistent: from the left neighbour, to the right one */
static long came, goes, freed[2]; /* freed: received before the restart point by freed requests */
static MPI_Datatype changing;     /* freed and replaced between two checkpoints */
static MPI_File file, closed;     /* closed: with the freed objects */
static char *blocks[BLOCKS];
static char *kept[BLOCKS]; /* protected: the program's knowledge of the blocks */

static void die_here(unsigned place)
{
    die_when_said(deaths, (unsigned long)rank, (unsigned long)at.step, place);
}

static void expect_is(const char *what, long is, long expected)
{
    if (is != expected) {
        fprintf(stderr, "mpi_gone: rank %d, step %ld: %s is %ld, not %ld\n", rank, at.step, what, is, expected);
        MPI_Abort(MPI_COMM_WORLD, WRONG);
    }
}

/* Makes blocks as large as the freed ones, and smaller. */
static void blocks_make(void)
{
    for (int i = 0; i < BLOCKS; i++) {
        MPI_Alloc_mem((i % 2 == 0) ? PAGE + 200 : 256, MPI_INFO_NULL, &blocks[i]);
        memset(blocks[i], 'a' + i, 256);
        kept[i] = blocks[i];
    }
}

static void blocks_check(void)
{
    for (int i = 0; i < BLOCKS; i++) {
        for (int j = 0; kept[i] != NULL && j < 256; j++) {
            expect_is("a block's byte", kept[i][j], 'a' + i);
        }
    }
}

static void free_some(void)
{
    if (allocated != MPI_WIN_NULL) {
        MPI_Win_free(&allocated);
    }
    if (first != MPI_WIN_NULL) {
        MPI_Win_free(&first);
    }
    if (alone != MPI_WIN_NULL) {
        MPI_Win_free(&alone);
    }
    if (copy != MPI_COMM_NULL) {
        MPI_Comm_free(&copy);
    }
    if (moved != MPI_COMM_NULL) {
        MPI_Comm_free(&moved);
    }
    if (closed != MPI_FILE_NULL) {
        MPI_File_close(&closed);
    }
    for (int i = 0; i < 2; i++) {
        if (pair[i] != MPI_REQUEST_NULL) {
            MPI_Request_free(&pair[i]);
        }
    }
}

static void use_pair(void)
{
    if (pair[0] != MPI_REQUEST_NULL) {
        goes = at.step * 100 + rank;
        MPI_Startall(2, pair);
        MPI_Waitall(2, pair, MPI_STATUSES_IGNORE);
        expect_is("what came", came, at.step * 100 + (rank + ranks - 1) % ranks);
    }
}

/* A receive with a freed request. Its message is sent after a message from here, and has arrived
 * when the following message has. */
static void use_freed(long *in, long value)
{
    const long out = value + rank;
    long word = 0;
    MPI_Request request;
    const int left = (rank + ranks - 1) % ranks;

    *in = -1;
    MPI_Irecv(in, 1, MPI_LONG, left, 3, MPI_COMM_WORLD, &request);
    MPI_Request_free(&request);
    MPI_Send(&out, 1, MPI_LONG, left, 4, MPI_COMM_WORLD);
    MPI_Recv(&word, 1, MPI_LONG, right, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(&out, 1, MPI_LONG, right, 3, MPI_COMM_WORLD);
    MPI_Send(&out, 1, MPI_LONG, right, 5, MPI_COMM_WORLD);
    MPI_Recv(&word, 1, MPI_LONG, left, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    expect_is("what a freed receive got", *in, value + left);
}

/* Before the restart point: the message is taken at the restart point, as no receive follows. */
static void use_freed_late(void)
{
    const long out = 2000 + rank;
    MPI_Request request;

    MPI_Irecv(&freed[1], 1, MPI_LONG, (rank + ranks - 1) % ranks, 6, MPI_COMM_WORLD, &request);
    MPI_Request_free(&request);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Send(&out, 1, MPI_LONG, right, 6, MPI_COMM_WORLD);
}

static void change(void)
{
    int size;

    if (at.step == 1) {
        MPI_Type_size(changing, &size);
        expect_is("the size of a type", size, 2);
        MPI_Type_free(&changing);
        MPI_Type_contiguous(5, MPI_CHAR, &changing);
        MPI_Type_commit(&changing);
    } else if (at.step > 1) {
        expect_is("a type that was freed", changing == MPI_DATATYPE_NULL, 1);
    }
}

/* Writes a word of each rank and step. */
static void use_file(void)
{
    const long value = at.step * 100 + rank, other = at.step * 100 + right;
    long got = -1;

    MPI_File_write_at(file, (at.step * ranks + rank) * (MPI_Offset)sizeof(value), &value, 1, MPI_LONG,
                      MPI_STATUS_IGNORE);
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_read_at(file, (at.step * ranks + right) * (MPI_Offset)sizeof(value), &got, 1, MPI_LONG, MPI_STATUS_IGNORE);
    expect_is("a word of the file", got, other);
}

/* Puts to the right neighbour, gets from it, and accesses both halves at their common border. */
static void use(void)
{
    const int cell = (int)(at.step * 37 % CELLS);
    char value = (char)at.step, got = 0;

    for (int i = 0; i < 3; i++) {
        MPI_Win win = (i == 0) ? second : halves[i - 1];
        const MPI_Aint disp = (i == 1) ? LARGE - 1 - cell : cell;
        const char *mine = (i == 0) ? memory.second + cell : large + (i - 1) * LARGE + disp;

        MPI_Win_fence(0, win);
        MPI_Put(&value, 1, MPI_CHAR, right, disp, 1, MPI_CHAR, win);
        die_here((unsigned)i);
        MPI_Win_fence(0, win);
        expect_is("a cell", *mine, value);
        MPI_Get(&got, 1, MPI_CHAR, right, disp, 1, MPI_CHAR, win);
        MPI_Win_fence(0, win);
        expect_is("what was got", got, value);
    }
}

static void step(void)
{
    long in;

    if (at.step == 2) {
        free_some();
        blocks_make();
    } else if (at.step > 2) {
        expect_is("a window that was freed", allocated == MPI_WIN_NULL && first == MPI_WIN_NULL, 1);
        expect_is("a communicator that was freed", copy == MPI_COMM_NULL, 1);
        expect_is("a file that was closed", closed == MPI_FILE_NULL, 1);
        expect_is("a request that was freed", pair[0] == MPI_REQUEST_NULL && pair[1] == MPI_REQUEST_NULL, 1);
        free_some();
    }
    change();
    use_pair();
    use_freed(&in, at.step * 10);
    expect_is("what the first freed receive got", freed[0], 1000 + (rank + ranks - 1) % ranks);
    expect_is("what the second one got", freed[1], 2000 + (rank + ranks - 1) % ranks);
    use();
    use_file();
    if (at.step == 1) {
        MPI_Type_free(&changing);
    }
    blocks_check();
    expect_is("a byte beside a window", apart.beside[99] + apart.behind[0], 2 * 'w');
    expect_is("a byte beside a window", memory.beside[99] + memory.behind[0], 'x' + 'y');
    if (at.step > 2) { /* the memory is the program's again */
        expect_is("a byte of what was a window", memory.first[PAGE - 1], 'z');
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void file_make(MPI_File *made, const char *what)
{
    char name[1000];

    snprintf(name, sizeof(name), "%s/%s", directory, what);
    if (MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                      MPI_INFO_NULL, made) != MPI_SUCCESS) {
        expect_is("a file", 0, 1);
    }
}

/* Sends more than a ring can hold, and tests repeatedly. The record has every result. */
static void send_and_test(void)
{
    MPI_Request requests[2];
    int is_done = 0;

    memset(large, rank + 1, MUCH);
    MPI_Irecv(large + LARGE, MUCH, MPI_CHAR, (rank + ranks - 1) % ranks, 2, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(large, MUCH, MPI_CHAR, right, 2, MPI_COMM_WORLD, &requests[1]);
    while (!is_done) {
        MPI_Test(&requests[1], &is_done, MPI_STATUS_IGNORE);
    }
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    expect_is("what was tested for", large[LARGE + MUCH - 1], (rank + ranks - 1) % ranks + 1);
}

static void make(void)
{
    char *base;

    file_make(&file, "kept");
    file_make(&closed, "closed");
    MPI_File_set_size(file, 0); /* once, and not again by a replacement */
    send_and_test();
    MPI_Comm_dup(MPI_COMM_WORLD, &put);
    moved = put;
    MPI_Recv_init(&came, 1, MPI_LONG, (rank + ranks - 1) % ranks, 1, MPI_COMM_WORLD, &pair[0]);
    MPI_Send_init(&goes, 1, MPI_LONG, right, 1, MPI_COMM_WORLD, &pair[1]);
    MPI_Type_contiguous(2, MPI_CHAR, &changing);
    MPI_Type_commit(&changing);

    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    memset(memory.beside, 'x', sizeof(memory.beside));
    memset(memory.behind, 'y', sizeof(memory.behind));
    memset(memory.first, 'z', sizeof(memory.first));
    MPI_Win_allocate(256, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &allocated);
    memset(&apart, 'w', sizeof(apart));
    MPI_Win_create(apart.window, PAGE, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &alone);
    MPI_Win_create(memory.first, PAGE, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &first);
    MPI_Win_create(memory.second, sizeof(memory.second), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &second);
    MPI_Win_create(large, LARGE, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &halves[0]);
    MPI_Alloc_mem(1 << 20, MPI_INFO_NULL, &base); /* leaves no space for adjacent halves */
    MPI_Win_create(large + LARGE, LARGE, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &halves[1]);
}

int main(int argc, char **argv)
{
    const long steps = (argc == 4) ? strtol(argv[1], NULL, 10) : 0;

    if (steps <= 0) {
        fprintf(stderr, "usage: mpi_gone STEPS -|RANK@STEP.PLACE,... DIRECTORY\n");
        return USAGE;
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    right = (rank + 1) % ranks;
    deaths = deaths_of_first_life(argv[2], keel_mpi_incarnation());
    directory = argv[3];
    make();
    use_freed(&freed[0], 1000);
    use_freed_late();
    keel_mpi_protect(1, &at, sizeof(at));
    keel_mpi_protect(2, kept, sizeof(kept));
    KEEL_MPI_RESTART_POINT();
    while (at.step < steps) {
        step();
        at.step++;
        keel_mpi_checkpoint();
    }
    if (rank == 0) {
        printf("mpi_gone: %d ranks, %ld steps: right\n", ranks, steps);
        fflush(stdout);
    }
    MPI_File_close(&file);
    MPI_Finalize();
    return 0;
}
