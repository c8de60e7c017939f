/*
 * Windows over the program's own memory that are adjacent, on the same page, or overlapping, in any
 * order: mpi_adjacent SEEDS. Each rank draws its own windows. Only the left neighbour writes there,
 * and knows the expected contents.
 */
#include "expect.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE = 4096, MEMORY = 12 * PAGE, WINDOWS = 9, ACCESSES = 400, MOST = 2 * PAGE };

/* model: the expected memory of the right neighbour */
static char memory[MEMORY] __attribute__((aligned(PAGE))), model[MEMORY];
static int right, left;
static uint64_t drawn;

static uint64_t draw(uint64_t below)
{
    drawn = drawn * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (drawn >> 33) % below;
}

typedef struct {
    size_t begin, bytes;
} range_t;

/* The ranges of a rank: some begin at the end of another, and some are at odd addresses. */
static void ranges_draw(int of, uint64_t seed, range_t ranges[WINDOWS])
{
    drawn = seed * 1000 + (uint64_t)of;
    for (int i = 0; i < WINDOWS; i++) {
        const size_t unit = (i % 3 == 2) ? 1 : 8;

        ranges[i].begin =
            (i > 0 && draw(2) == 0) ? ranges[i - 1].begin + ranges[i - 1].bytes : draw(MEMORY / unit) * unit;
        ranges[i].bytes = (1 + draw(MEMORY / 2 / unit)) * unit;
        if (ranges[i].begin + ranges[i].bytes > MEMORY) {
            ranges[i].begin %= PAGE;
        }
    }
}

/* Operands of sums are whole numbers, so every order gives the same sum. */
static void numbers_draw(void *at, MPI_Datatype type, int count)
{
    for (int i = 0; i < count; i++) {
        if (type == MPI_INT) {
            ((int *)at)[i] = (int)draw(1000);
        } else if (type == MPI_DOUBLE) {
            ((double *)at)[i] = (double)draw(1000);
        } else {
            ((long *)at)[i] = (long)draw(1000);
        }
    }
}

/* The model's memory may be unaligned. */
static void model_sum(char *there, const void *operand, MPI_Datatype type, int size, int count)
{
    for (int i = 0; i < count; i++) {
        char element[sizeof(double)];

        memcpy(element, there + i * size, (size_t)size);
        MPI_Reduce_local((const char *)operand + i * size, element, 1, type, MPI_SUM);
        memcpy(there + i * size, element, (size_t)size);
    }
}

static void use_sums(char *there, MPI_Aint disp, size_t room, MPI_Win win)
{
    static const MPI_Datatype types[] = {MPI_INT, MPI_LONG, MPI_DOUBLE};
    const MPI_Datatype type = types[draw(3)];
    long operands[300], before[300];
    int size, count;

    MPI_Type_size(type, &size);
    count = (int)(1 + draw(300));
    if ((size_t)(count * size) > room) {
        return;
    }
    if (type == MPI_DOUBLE) { /* the bytes there may not be a valid number */
        double zeros[300] = {0};

        MPI_Put(zeros, count, type, right, disp, count, type, win);
        MPI_Win_flush(right, win);
        memcpy(there, zeros, (size_t)(count * size));
    }
    numbers_draw(operands, type, count);
    if (draw(2) == 0) {
        MPI_Accumulate(operands, count, type, right, disp, count, type, MPI_SUM, win);
    } else {
        MPI_Get_accumulate(operands, count, type, before, count, type, right, disp, count, type, MPI_SUM, win);
        MPI_Win_flush(right, win);
        EXPECT(memcmp(before, there, (size_t)(count * size)) == 0);
    }
    MPI_Win_flush(right, win);
    model_sum(there, operands, type, size, count);
}

static void use_words(char *there, MPI_Aint disp, size_t room, MPI_Win win)
{
    long was = 0, expected, value = (long)draw(1000000);

    if (room < sizeof(was)) {
        return;
    }
    memcpy(&expected, there, sizeof(expected));
    if (draw(2) == 0) {
        MPI_Fetch_and_op(&value, &was, MPI_LONG, right, disp, MPI_REPLACE, win);
    } else {
        MPI_Compare_and_swap(&value, &expected, &was, MPI_LONG, right, disp, win);
    }
    MPI_Win_flush(right, win);
    EXPECT(was == expected);
    memcpy(there, &value, sizeof(value));
}

/* Accesses every 20th byte. */
static void use_strides(char *there, MPI_Aint disp, size_t room, MPI_Win win)
{
    static char bytes[MOST], got[MOST];
    const int count = (int)(1 + draw(200));
    MPI_Datatype type;

    if ((size_t)count * 20 > room) {
        return;
    }
    MPI_Type_vector(count, 1, 20, MPI_CHAR, &type);
    MPI_Type_commit(&type);
    for (int i = 0; i < count; i++) {
        bytes[i] = (char)draw(256);
        there[i * 20] = bytes[i];
    }
    MPI_Put(bytes, count, MPI_CHAR, right, disp, 1, type, win);
    MPI_Win_flush(right, win);
    MPI_Get(got, count, MPI_CHAR, right, disp, 1, type, win);
    MPI_Win_flush(right, win);
    EXPECT(memcmp(bytes, got, (size_t)count) == 0);
    MPI_Type_free(&type);
}

static void use_bytes(char *there, MPI_Aint disp, size_t room, MPI_Win win)
{
    static char bytes[MOST];
    const size_t some = 1 + draw(room < MOST ? room : MOST);

    if (draw(2) == 0) {
        MPI_Get(bytes, (int)some, MPI_CHAR, right, disp, (int)some, MPI_CHAR, win);
        MPI_Win_flush(right, win);
        EXPECT(memcmp(bytes, there, some) == 0);
        return;
    }
    for (size_t i = 0; i < some; i++) {
        bytes[i] = there[i] = (char)draw(256);
    }
    MPI_Put(bytes, (int)some, MPI_CHAR, right, disp, (int)some, MPI_CHAR, win);
    MPI_Win_flush(right, win);
}

/* @a disp: displacement of the range's first byte. */
static void use(const range_t *range, MPI_Aint disp, MPI_Win win)
{
    static void (*const uses[])(char *, MPI_Aint, size_t, MPI_Win) = {use_sums, use_words, use_strides, use_bytes};
    const size_t what = draw(4), unit = (what == 0 || what == 1) ? 8 : 1;
    const size_t at = draw(range->bytes / unit + 1) * unit;

    if (at < range->bytes) {
        uses[what](model + range->begin + at, disp + (MPI_Aint)at, range->bytes - at, win);
    }
}

static void check_memory(void)
{
    static char theirs[MEMORY];

    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Sendrecv(model, MEMORY, MPI_CHAR, right, 0, theirs, MEMORY, MPI_CHAR, left, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    EXPECT(memcmp(theirs, memory, MEMORY) == 0);
}

static void model_begin(void)
{
    for (int i = 0; i < MEMORY; i++) {
        memory[i] = (char)(i * 7 + rank);
        model[i] = (char)(i * 7 + right);
    }
}

static void check_windows(uint64_t seed)
{
    range_t mine[WINDOWS], theirs[WINDOWS];
    MPI_Win wins[WINDOWS];
    void *between[WINDOWS]; /* separates blocks of the arena with adjacent memory */

    ranges_draw(rank, seed, mine);
    ranges_draw(right, seed, theirs);
    model_begin();
    for (int i = 0; i < WINDOWS; i++) {
        MPI_Win_create(memory + mine[i].begin, (MPI_Aint)mine[i].bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &wins[i]);
        MPI_Alloc_mem(PAGE, MPI_INFO_NULL, &between[i]);
        MPI_Win_lock_all(0, wins[i]);
    }
    for (int i = 0; i < ACCESSES; i++) {
        const size_t which = draw(WINDOWS);

        use(&theirs[which], 0, wins[which]);
    }
    for (int i = 0; i < WINDOWS; i++) { /* again with fewer and fewer windows */
        const int last = (i * 4 + 1) % WINDOWS;

        MPI_Win_unlock_all(wins[last]);
        check_memory();
        MPI_Win_free(&wins[last]);
        MPI_Free_mem(between[last]);
        for (int j = 0; i + 1 < WINDOWS && j < 10; j++) {
            const int left_one = ((i + 1) * 4 + 1) % WINDOWS;

            use(&theirs[left_one], 0, wins[left_one]);
        }
        check_memory();
    }
}

/* A type with elements in several attached blocks; the memory between them is not attached. */
static void use_absolute(const MPI_Aint at[2], const range_t ranges[2], MPI_Win win)
{
    const int lengths[2] = {5, 9};
    char bytes[14], got[14];
    MPI_Datatype type;

    MPI_Type_create_hindexed(2, lengths, at, MPI_CHAR, &type);
    MPI_Type_commit(&type);
    for (int i = 0; i < 14; i++) {
        bytes[i] = (char)draw(256);
    }
    MPI_Put(bytes, 14, MPI_CHAR, right, 0, 1, type, win);
    MPI_Win_flush(right, win);
    MPI_Get(got, 14, MPI_CHAR, right, 0, 1, type, win);
    MPI_Win_flush(right, win);
    EXPECT(memcmp(bytes, got, 14) == 0);
    memcpy(model + ranges[0].begin, bytes, 5);
    memcpy(model + ranges[1].begin, bytes + 5, 9);
    MPI_Type_free(&type);
}

/* Attaches adjacent blocks, first the even ones. Accesses cross their borders. */
static void check_attached(void)
{
    enum { PIECES = 7, EACH = PAGE + 1000 };
    range_t all = {8, PIECES * EACH};
    void *between[PIECES];
    MPI_Aint mine, theirs;
    MPI_Win win;
    int size;

    model_begin();
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    for (int i = 0; i < PIECES; i++) {
        const int which = i * 2 % PIECES;

        MPI_Win_attach(win, memory + 8 + which * EACH, EACH);
        MPI_Alloc_mem(PAGE, MPI_INFO_NULL, &between[which]);
    }
    MPI_Get_address(memory, &mine);
    MPI_Sendrecv(&mine, 1, MPI_AINT, left, 0, &theirs, 1, MPI_AINT, right, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Win_lock_all(0, win);
    for (int i = 0; i < ACCESSES / 4; i++) {
        use(&all, theirs + 8, win);
    }
    check_memory();
    MPI_Win_detach(win, memory + 8 + 3 * EACH); /* a hole: both sides stay in use */
    MPI_Win_attach(win, NULL, 0);
    MPI_Win_detach(win, NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    all.bytes = 3 * EACH;
    use(&all, theirs + 8, win);
    use_absolute((MPI_Aint[2]){theirs + 8 + EACH - 2, theirs + 8 + 5 * EACH - 4},
                 (range_t[2]){{8 + EACH - 2, 5}, {8 + 5 * EACH - 4, 9}}, win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    EXPECT(MPI_Get(&size, 1, MPI_INT, right, theirs + 8 + 3 * EACH - 2, 1, MPI_INT, win) != MPI_SUCCESS);
    check_memory();
    MPI_Win_unlock_all(win);
    for (int i = 0; i < PIECES; i++) {
        if (i != 3) {
            MPI_Win_detach(win, memory + 8 + i * EACH);
        }
        MPI_Free_mem(between[i]);
    }
    MPI_Win_free(&win);
    check_memory();
}

int main(int argc, char **argv)
{
    const uint64_t seeds = (argc > 1) ? strtoull(argv[1], NULL, 10) : 3;

    expect_begin(&argc, &argv);
    right = (rank + 1) % ranks;
    left = (rank + ranks - 1) % ranks;
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        check_windows(seed);
    }
    check_attached();
    return expect_end("mpi_adjacent");
}
