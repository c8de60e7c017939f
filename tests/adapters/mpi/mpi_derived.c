/* Accesses with derived types at both ends, in all combinations, compared with the result of
 * packing and unpacking. */
#define _GNU_SOURCE /* RUSAGE_THREAD */
#include "expect.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { X = 16, Y = 12, CELLS = X * Y, TYPES = 8, EACH = 12, PIECES = 300 };

typedef enum { PUT, GET, ACCUMULATE, GET_ACCUMULATE, WAYS } way_t;

static double *base;
static MPI_Win win;
static int right, left;

static void types_make(MPI_Datatype types[TYPES])
{
    const int sizes[] = {Y, X}, parts[] = {4, 3}, starts[] = {2, 5}, blocks[] = {3, 3, 3, 3};
    const int places[] = {0, 20, 8, 60}, even[] = {3, 9, 30, 50}, halves[] = {6, 6};
    const MPI_Aint bytes[] = {0, 80, 800, 400}, far[] = {16, 240};
    const MPI_Datatype doubles[] = {MPI_DOUBLE, MPI_DOUBLE};

    MPI_Type_vector(4, 3, X, MPI_DOUBLE, &types[0]);
    MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_C, MPI_DOUBLE, &types[1]);
    MPI_Type_indexed(4, blocks, places, MPI_DOUBLE, &types[2]);
    MPI_Type_create_hindexed(4, blocks, bytes, MPI_DOUBLE, &types[3]);
    MPI_Type_create_indexed_block(4, 3, even, MPI_DOUBLE, &types[4]);
    MPI_Type_create_struct(2, halves, far, doubles, &types[5]);
    MPI_Type_contiguous(1, types[0], &types[6]);
    MPI_Type_dup(types[1], &types[7]);
    for (int i = 0; i < TYPES; i++) {
        MPI_Type_commit(&types[i]);
    }
}

static void pack(const double *from, MPI_Datatype type, double *packed)
{
    int position = 0;

    MPI_Pack(from, 1, type, packed, EACH * (int)sizeof(double), &position, MPI_COMM_SELF);
}

static void unpack(const double *packed, MPI_Datatype type, double *to)
{
    int position = 0;

    MPI_Unpack(packed, EACH * (int)sizeof(double), &position, to, 1, type, MPI_COMM_SELF);
}

/* From the origin's type to the target's; fetched data has a third type. */
static void check(MPI_Datatype origin, MPI_Datatype target, MPI_Datatype fetched, way_t way)
{
    double mine[CELLS], got[CELLS], expected_got[CELLS], there[CELLS], packed[EACH], old[EACH];

    MPI_Win_fence(0, win);
    for (int i = 0; i < CELLS; i++) {
        base[i] = there[i] = i;
        mine[i] = 1000 + i;
        got[i] = expected_got[i] = -1;
    }
    MPI_Win_fence(0, win);
    pack(mine, origin, packed);
    pack(there, target, old);
    switch (way) {
    case PUT:
        MPI_Put(mine, 1, origin, right, 0, 1, target, win);
        break;
    case GET:
        MPI_Get(got, 1, fetched, right, 0, 1, target, win);
        break;
    case ACCUMULATE:
        MPI_Accumulate(mine, 1, origin, right, 0, 1, target, MPI_SUM, win);
        break;
    default:
        MPI_Get_accumulate(mine, 1, origin, got, 1, fetched, right, 0, 1, target, MPI_SUM, win);
    }
    MPI_Win_fence(0, win);
    if (way == GET || way == GET_ACCUMULATE) {
        unpack(old, fetched, expected_got);
    }
    EXPECT(memcmp(got, expected_got, sizeof(got)) == 0);
    for (int i = 0; i < EACH; i++) {
        packed[i] += (way == PUT) ? 0 : old[i];
    }
    if (way != GET) {
        unpack(packed, target, there);
    }
    EXPECT(memcmp(base, there, sizeof(there)) == 0);
}

/* Several elements of a type with an extent below its span: the target transposes. */
static void check_columns(void)
{
    double mine[CELLS];
    MPI_Datatype column, columns;

    MPI_Type_vector(Y, 1, X, MPI_DOUBLE, &column);
    MPI_Type_create_resized(column, 0, sizeof(double), &columns);
    MPI_Type_commit(&columns);
    for (int i = 0; i < CELLS; i++) {
        mine[i] = rank * 1000 + i;
    }
    MPI_Win_fence(0, win);
    MPI_Put(mine, CELLS, MPI_DOUBLE, right, 0, X, columns, win);
    MPI_Win_fence(0, win);
    for (int x = 0; x < X; x++) {
        for (int y = 0; y < Y; y++) {
            EXPECT(base[y * X + x] == left * 1000 + x * Y + y);
        }
    }
    MPI_Win_fence(0, win);
    MPI_Type_free(&columns);
    MPI_Type_free(&column);
}

/* Absolute addresses at the origin, and a negative lower bound at both ends. */
static void check_addresses(void)
{
    const int four = 4, ones[] = {1, 1};
    const MPI_Aint around[] = {-8, 8};
    double mine[4] = {1, 2, 3, 4.5}, three[3] = {10, 20, 30};
    MPI_Datatype absolute, both;
    MPI_Aint at;

    MPI_Get_address(mine, &at);
    MPI_Type_create_hindexed(1, &four, &at, MPI_DOUBLE, &absolute);
    MPI_Type_commit(&absolute);
    MPI_Put(MPI_BOTTOM, 1, absolute, right, 4, 4, MPI_DOUBLE, win);
    MPI_Win_fence(0, win);
    EXPECT(base[7] == 4.5);
    MPI_Win_fence(0, win);
    MPI_Accumulate(MPI_BOTTOM, 1, absolute, right, 4, 4, MPI_DOUBLE, MPI_SUM, win);
    MPI_Win_fence(0, win);
    MPI_Get(MPI_BOTTOM, 1, absolute, right, 4, 4, MPI_DOUBLE, win);
    MPI_Win_fence(0, win);
    EXPECT(mine[3] == 9 && base[7] == 9);
    MPI_Type_create_hindexed(2, ones, around, MPI_DOUBLE, &both);
    MPI_Type_commit(&both);
    MPI_Put(three + 1, 1, both, right, 1, 1, both, win);
    MPI_Type_free(&both); /* outstanding accesses go on */
    MPI_Win_fence(0, win);
    EXPECT(base[0] == 10 && base[2] == 30);
    MPI_Type_free(&absolute);
}

/* Many blocks, close together or far apart. An access to several blocks at once must give the same
 * bytes as an access to each. */
static void check_many(int distance, int is_shared)
{
    double *const many = malloc(2 * PIECES * sizeof(*many)), *const got = many + PIECES;
    double *part;
    MPI_Datatype apart;
    MPI_Win wide;

    MPI_Win_allocate((MPI_Aint)sizeof(*part) * PIECES * distance, sizeof(*part), MPI_INFO_NULL, MPI_COMM_WORLD, &part,
                     &wide);
    MPI_Type_vector(PIECES, 1, distance, MPI_DOUBLE, &apart);
    MPI_Type_commit(&apart);
    for (int i = 0; i < PIECES; i++) {
        many[i] = rank * 1000 + i + distance / 1000.0;
        got[i] = -1;
    }
    memset(part, 0, sizeof(*part) * PIECES * (size_t)distance);
    MPI_Barrier(MPI_COMM_WORLD);
    if (is_shared) {
        MPI_Win_lock_all(0, wide);
    } else {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right, 0, wide);
    }
    MPI_Put(many, PIECES, MPI_DOUBLE, right, 0, 1, apart, wide);
    MPI_Win_flush(right, wide);
    MPI_Get(got, PIECES, MPI_DOUBLE, right, 0, 1, apart, wide);
    MPI_Win_flush(right, wide);
    EXPECT(memcmp(got, many, PIECES * sizeof(*got)) == 0);
    if (is_shared) {
        MPI_Win_unlock_all(wide);
    } else {
        MPI_Win_unlock(right, wide);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < PIECES * distance; i++) {
        EXPECT(part[i] == ((i % distance == 0) ? left * 1000 + i / distance + distance / 1000.0 : 0));
    }
    MPI_Win_free(&wide);
    MPI_Type_free(&apart);
    free(many);
}

/* Types of several predefined types, and of no bytes. */
static void check_others(void)
{
    struct mixed {
        char letter;
        double number;
        int three[3];
    } mine = {(char)('a' + rank), rank + 0.5, {1, 2, rank}}, got;
    const MPI_Datatype types[] = {MPI_CHAR, MPI_DOUBLE, MPI_INT};
    const int blocks[] = {1, 1, 3};
    const MPI_Aint places[] = {0, offsetof(struct mixed, number), offsetof(struct mixed, three)};
    MPI_Datatype mixed, nothing;

    MPI_Type_create_struct(3, blocks, places, types, &mixed);
    MPI_Type_commit(&mixed);
    MPI_Type_contiguous(0, MPI_INT, &nothing);
    MPI_Type_commit(&nothing);
    MPI_Win_fence(0, win);
    MPI_Put(&mine, 1, mixed, right, 0, 1, mixed, win);
    MPI_Put(&mine, 5, nothing, right, 0, 3, nothing, win);
    MPI_Accumulate(NULL, 0, MPI_INT, right, 1000000, 0, MPI_INT, MPI_SUM, win);
    MPI_Win_fence(0, win);
    memcpy(&got, base, sizeof(got));
    EXPECT(got.letter == (char)('a' + left) && got.number == left + 0.5 && got.three[2] == left);
    MPI_Win_fence(0, win);
    MPI_Type_free(&mixed);
    MPI_Type_free(&nothing);
}

/* Long doubles, which some processors copy without their padding. */
static void check_long_doubles(void)
{
    enum { MANY = 12 };
    long double numbers[2 * MANY], got[2 * MANY];
    struct {
        char a;
        long double number;
        int b;
    } mixed[3], back[3];
    const int lengths[3] = {1, 1, 1};
    const MPI_Aint places[3] = {0, (char *)&mixed[0].number - (char *)mixed, (char *)&mixed[0].b - (char *)mixed};
    const MPI_Datatype parts[3] = {MPI_CHAR, MPI_LONG_DOUBLE, MPI_INT};
    MPI_Datatype strided, made, whole;

    MPI_Type_vector(MANY, 1, 2, MPI_LONG_DOUBLE, &strided);
    MPI_Type_commit(&strided);
    MPI_Type_create_struct(3, lengths, places, parts, &made);
    MPI_Type_create_resized(made, 0, sizeof(mixed[0]), &whole);
    MPI_Type_commit(&whole);
    for (int i = 0; i < 2 * MANY; i++) {
        numbers[i] = rank + i / 3.0L;
        got[i] = -1;
    }
    for (int i = 0; i < 3; i++) {
        mixed[i].a = (char)(rank + i);
        mixed[i].number = rank + i / 7.0L;
        mixed[i].b = rank * 10 + i;
    }
    MPI_Sendrecv(numbers, 1, strided, right, 1, got, 1, strided, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(mixed, 3, whole, right, 2, back, 3, whole, left, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < 2 * MANY; i++) {
        EXPECT(got[i] == (i % 2 == 0 ? left + i / 3.0L : -1));
    }
    for (int i = 0; i < 3; i++) {
        EXPECT(back[i].a == (char)(left + i) && back[i].number == left + i / 7.0L && back[i].b == left * 10 + i);
    }
    MPI_Sendrecv(numbers, 1, strided, right, 3, got, MANY, MPI_LONG_DOUBLE, left, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < MANY; i++) {
        EXPECT(got[i] == left + 2 * i / 3.0L);
    }
    MPI_Type_free(&strided);
    MPI_Type_free(&made);
    MPI_Type_free(&whole);
}

/* Programs make a type for each message, as the BLACS do: no memory is mapped for that. */
static void check_fresh(void)
{
    enum { ROUNDS = 1000 };
    double from[CELLS], to[CELLS];
    struct rusage before, after;

    for (int i = 0; i < CELLS; i++) {
        from[i] = i;
    }
    for (int round = 0; round <= ROUNDS; round++) {
        const int rows = 1 + round % Y;
        MPI_Datatype type;

        if (round == 1) { /* in the first round everything is found out that lasts */
            getrusage(RUSAGE_THREAD, &before);
        }
        memset(to, 0, sizeof(to));
        MPI_Type_vector(rows, 2, X, MPI_DOUBLE, &type);
        MPI_Type_commit(&type);
        MPI_Sendrecv(from, 1, type, 0, 0, to, 1, type, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
        EXPECT(to[X * (rows - 1) + 1] == from[X * (rows - 1) + 1] && to[2] == 0);
        MPI_Type_free(&type);
    }
    getrusage(RUSAGE_THREAD, &after);
    EXPECT(after.ru_minflt - before.ru_minflt < ROUNDS);
}

int main(int argc, char **argv)
{
    MPI_Datatype types[TYPES];

    expect_begin(&argc, &argv);
    right = (rank + 1) % ranks;
    left = (rank + ranks - 1) % ranks;
    types_make(types);
    MPI_Win_allocate(CELLS * sizeof(double), sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    for (int i = 0; i < TYPES; i++) {
        for (int j = 0; j < TYPES; j++) {
            check(types[i], types[j], types[TYPES - 1 - i], (way_t)((i + j) % WAYS));
            check(types[i], types[j], types[TYPES - 1 - i], (way_t)((i + j + 2) % WAYS));
        }
    }
    check_columns();
    check_addresses();
    check_others();
    for (int distance = 3; distance < 200; distance *= 4) {
        check_many(distance, 0);
        check_many(distance, 1);
    }
    check_long_doubles();
    check_fresh();
    for (int i = 0; i < TYPES; i++) {
        MPI_Type_free(&types[i]);
    }
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    MPI_Win_free(&win);
    return expect_end("mpi_derived");
}
