/* Accumulates of all kinds for each predefined type with each of its operations, compared with
 * MPI_Reduce_local. */
#include "expect.h"

#include <stdlib.h>
#include <string.h>

enum { COUNT = 5, ROOM = 256 };

/* Selects the operations of a type, and the way to write a value. */
typedef enum { INTEGER, FLOATING, COMPLEX, LOGICAL, BYTES, CHARACTER, PAIR, ADDRESS } kind_t;

typedef struct {
    MPI_Datatype type;
    kind_t kind;
    size_t size; /* of a value; of the first of two */
} type_t;

static void value_set(const type_t *type, char *at, int value, int index)
{
    if (type->kind == FLOATING || type->kind == COMPLEX ||
        (type->kind == PAIR && (type->type == MPI_FLOAT_INT || type->type == MPI_DOUBLE_INT))) {
        if (type->size == sizeof(float)) {
            ((float *)at)[0] = (float)value;
            ((float *)at)[type->kind == COMPLEX] = (float)value;
        } else {
            ((double *)at)[0] = value;
            ((double *)at)[type->kind == COMPLEX] = value;
        }
    } else {
        at[0] = (char)(type->kind == LOGICAL ? value % 2 : value);
    }
    if (type->kind == PAIR) {
        memcpy(at + (type->size < sizeof(int) ? sizeof(int) : type->size), &index, sizeof(index));
    }
}

static void values_set(const type_t *type, char *at, int seed)
{
    MPI_Aint low, extent;

    MPI_Type_get_extent(type->type, &low, &extent);
    memset(at, 0, ROOM);
    for (int i = 0; i < COUNT; i++) {
        value_set(type, at + i * extent, (seed * 7 + i * 3) % 5 + 1, seed);
    }
}

static int has(const type_t *type, MPI_Op op)
{
    const kind_t kind = type->kind;

    if (op == MPI_REPLACE || op == MPI_NO_OP) {
        return 1;
    }
    if (op == MPI_MINLOC || op == MPI_MAXLOC) {
        return kind == PAIR;
    }
    if (op == MPI_SUM || op == MPI_PROD) {
        return kind == INTEGER || kind == FLOATING || kind == COMPLEX || kind == ADDRESS;
    }
    if (op == MPI_MAX || op == MPI_MIN) {
        return kind == INTEGER || kind == FLOATING || kind == ADDRESS;
    }
    if (op == MPI_LAND || op == MPI_LOR || op == MPI_LXOR) {
        return kind == INTEGER || kind == LOGICAL;
    }
    return kind == INTEGER || kind == BYTES || kind == ADDRESS;
}

/* there = mine op there */
static void apply(const char *mine, char *there, MPI_Datatype type, int count, MPI_Op op)
{
    MPI_Aint low, extent;

    MPI_Type_get_extent(type, &low, &extent);
    if (op == MPI_REPLACE) {
        memcpy(there, mine, (size_t)(count * extent));
    } else if (op != MPI_NO_OP) {
        MPI_Reduce_local((void *)mine, there, count, type, op);
    }
}

static void check_there(const char *expected, MPI_Datatype type, int target, MPI_Win win)
{
    MPI_Aint low, extent;
    char there[ROOM] = {0};

    MPI_Type_get_extent(type, &low, &extent);
    MPI_Get(there, COUNT, type, target, 0, COUNT, type, win);
    MPI_Win_flush(target, win);
    EXPECT(memcmp(there, expected, (size_t)(COUNT * extent)) == 0);
}

static void check(const type_t *type, MPI_Op op, char *base, MPI_Win win)
{
    const int right = (rank + 1) % ranks;
    char mine[ROOM], first[ROOM], there[ROOM], was[ROOM] = {0}, one[ROOM] = {0};
    MPI_Aint low, extent;

    MPI_Type_get_extent(type->type, &low, &extent);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);
    values_set(type, base, rank + 11);
    MPI_Win_unlock(rank, win);
    values_set(type, first, right + 11);
    values_set(type, there, right + 11);
    values_set(type, mine, rank + 3);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, right, 0, win);
    MPI_Get_accumulate(mine, COUNT, type->type, was, COUNT, type->type, right, 0, COUNT, type->type, op, win);
    MPI_Win_flush(right, win);
    EXPECT(memcmp(was, first, (size_t)(COUNT * extent)) == 0);
    apply(mine, there, type->type, COUNT, op);
    check_there(there, type->type, right, win);
    MPI_Fetch_and_op(op == MPI_NO_OP ? NULL : mine + extent, one, type->type, right, extent, op, win);
    MPI_Win_flush(right, win);
    EXPECT(memcmp(one, there + extent, (size_t)extent) == 0);
    apply(mine + extent, there + extent, type->type, 1, op);
    check_there(there, type->type, right, win);
    if (op != MPI_NO_OP) {
        MPI_Accumulate(mine, COUNT, type->type, right, 0, COUNT, type->type, op, win);
        MPI_Win_flush(right, win);
        apply(mine, there, type->type, COUNT, op);
        check_there(there, type->type, right, win);
    }
    MPI_Win_unlock(right, win);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void check_swap(const type_t *type, char *base, MPI_Win win)
{
    const int right = (rank + 1) % ranks;
    const char zero[8] = {0}, one[8] = {1};
    char was[8] = {0};

    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);
    memset(base, 0, 64);
    base[8] = 1;
    MPI_Win_unlock(rank, win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, right, 0, win);
    MPI_Compare_and_swap(one, zero, was, type->type, right, 8, win);
    MPI_Win_flush(right, win);
    EXPECT(was[0] == 1);
    MPI_Compare_and_swap(zero, one, was, type->type, right, 8, win);
    MPI_Win_flush(right, win);
    EXPECT(was[0] == 1);
    MPI_Compare_and_swap(one, one, was, type->type, right, 8, win);
    MPI_Win_flush(right, win);
    EXPECT(was[0] == 0);
    MPI_Win_unlock(right, win);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* All ranks access elements shorter than a word, at one rank at once. */
static void check_together(char *base, MPI_Win win)
{
    const short one = 1;
    const float half = 0.5F;
    short was;

    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);
    memset(base, 0, 64);
    MPI_Win_unlock(rank, win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    for (int i = 0; i < 50; i++) {
        MPI_Fetch_and_op(&one, &was, MPI_SHORT, 0, 2, MPI_SUM, win);
        MPI_Accumulate(&half, 1, MPI_FLOAT, 0, 8, 1, MPI_FLOAT, MPI_SUM, win);
        MPI_Win_flush(0, win);
        EXPECT(was >= i && was < 50 * ranks);
    }
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
    MPI_Get(&was, 1, MPI_SHORT, 0, 2, 1, MPI_SHORT, win);
    MPI_Win_unlock(0, win);
    EXPECT(was == 50 * ranks && (rank != 0 || *(float *)(base + 8) == 25.0F * (float)ranks));
}

static void check_wrong(MPI_Win win)
{
    const int blocks[] = {1, 1};
    const MPI_Aint places[] = {0, 8};
    const MPI_Datatype types[] = {MPI_INT, MPI_DOUBLE};
    MPI_Datatype mixed;
    char room[32] = {0};
    int class;

    MPI_Type_create_struct(2, blocks, places, types, &mixed);
    MPI_Type_commit(&mixed);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    MPI_Error_class(MPI_Accumulate(room, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_OP_NULL, win), &class);
    EXPECT(class == MPI_ERR_OP);
    MPI_Error_class(MPI_Accumulate(room, 1, MPI_DOUBLE, 0, 0, 1, MPI_DOUBLE, MPI_BAND, win), &class);
    EXPECT(class == MPI_ERR_OP);
    EXPECT(MPI_Accumulate(room, 0, MPI_DOUBLE, 0, 0, 0, MPI_DOUBLE, MPI_BAND, win) ==
           MPI_SUCCESS); /* no element to combine */
    MPI_Error_class(MPI_Accumulate(room, 1, mixed, 0, 0, 1, mixed, MPI_SUM, win), &class);
    EXPECT(class == MPI_ERR_TYPE);
    MPI_Win_unlock(0, win);
    MPI_Type_free(&mixed);
}

int main(int argc, char **argv)
{
    char *base;
    MPI_Win win;

    expect_begin(&argc, &argv);
    const type_t types[] = {{MPI_CHAR, CHARACTER, 1},
                            {MPI_SIGNED_CHAR, INTEGER, 1},
                            {MPI_UNSIGNED_CHAR, INTEGER, 1},
                            {MPI_BYTE, BYTES, 1},
                            {MPI_SHORT, INTEGER, 2},
                            {MPI_UNSIGNED_SHORT, INTEGER, 2},
                            {MPI_INT, INTEGER, 4},
                            {MPI_UNSIGNED, INTEGER, 4},
                            {MPI_LONG, INTEGER, 8},
                            {MPI_UNSIGNED_LONG, INTEGER, 8},
                            {MPI_LONG_LONG, INTEGER, 8},
                            {MPI_UNSIGNED_LONG_LONG, INTEGER, 8},
                            {MPI_FLOAT, FLOATING, 4},
                            {MPI_DOUBLE, FLOATING, 8},
                            {MPI_WCHAR, CHARACTER, 4},
                            {MPI_C_BOOL, LOGICAL, 1},
                            {MPI_INT8_T, INTEGER, 1},
                            {MPI_INT16_T, INTEGER, 2},
                            {MPI_INT32_T, INTEGER, 4},
                            {MPI_INT64_T, INTEGER, 8},
                            {MPI_UINT8_T, INTEGER, 1},
                            {MPI_UINT16_T, INTEGER, 2},
                            {MPI_UINT32_T, INTEGER, 4},
                            {MPI_UINT64_T, INTEGER, 8},
                            {MPI_AINT, ADDRESS, 8},
                            {MPI_COUNT, ADDRESS, 8},
                            {MPI_OFFSET, ADDRESS, 8},
                            {MPI_C_FLOAT_COMPLEX, COMPLEX, 4},
                            {MPI_C_DOUBLE_COMPLEX, COMPLEX, 8},
                            {MPI_FLOAT_INT, PAIR, 4},
                            {MPI_DOUBLE_INT, PAIR, 8},
                            {MPI_LONG_INT, PAIR, 8},
                            {MPI_2INT, PAIR, 4},
                            {MPI_SHORT_INT, PAIR, 2}};
    const MPI_Op ops[] = {MPI_SUM,  MPI_PROD, MPI_MAX,  MPI_MIN,    MPI_LAND,   MPI_LOR,     MPI_LXOR,
                          MPI_BAND, MPI_BOR,  MPI_BXOR, MPI_MINLOC, MPI_MAXLOC, MPI_REPLACE, MPI_NO_OP};

    MPI_Win_allocate(4096, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        for (size_t j = 0; j < sizeof(ops) / sizeof(ops[0]); j++) {
            if (has(&types[i], ops[j])) {
                check(&types[i], ops[j], base, win);
            }
        }
        if (types[i].kind == INTEGER || types[i].kind == LOGICAL || types[i].kind == BYTES ||
            types[i].kind == ADDRESS) {
            check_swap(&types[i], base, win);
        }
    }
    check_together(base, win);
    check_wrong(win);
    MPI_Win_free(&win);
    return expect_end("mpi_types");
}
