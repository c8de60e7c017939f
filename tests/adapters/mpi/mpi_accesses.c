/* Accumulates of all types and operations, derived types, accesses with requests, epochs of some
 * ranks, dynamic windows. */
#include "expect.h"

#include <complex.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { MANY = 40 };

static int right, left;

/* Every rank adds its operand at its right neighbour, and gets the previous value. */
#define CHECK_OP(_type, _mpi, _op, _init, _operand, _expected)                                                     \
    {                                                                                                              \
        _type *at = base, operand = (_type)(_operand), was = 0, init = (_type)(_init);                             \
                                                                                                                   \
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);                                                            \
        at[1] = init;                                                                                              \
        at[2] = init;                                                                                              \
        MPI_Win_unlock(rank, win);                                                                                 \
        MPI_Barrier(MPI_COMM_WORLD);                                                                               \
        MPI_Win_lock_all(0, win);                                                                                  \
        MPI_Accumulate(&operand, 1, _mpi, right, (MPI_Aint)sizeof(_type), 1, _mpi, _op, win);                      \
        MPI_Fetch_and_op(&operand, &was, _mpi, right, 2 * (MPI_Aint)sizeof(_type), _op, win);                      \
        MPI_Win_flush(right, win);                                                                                 \
        EXPECT(was == init);                                                                                       \
        MPI_Get_accumulate(NULL, 0, _mpi, &was, 1, _mpi, right, (MPI_Aint)sizeof(_type), 1, _mpi, MPI_NO_OP, win); \
        MPI_Win_flush(right, win);                                                                                 \
        EXPECT(was == (_type)(_expected));                                                                         \
        MPI_Win_unlock_all(win);                                                                                   \
        MPI_Barrier(MPI_COMM_WORLD);                                                                               \
        EXPECT(at[1] == (_type)(_expected) && at[2] == (_type)(_expected));                                        \
    }
#define CHECK_NUMBER(_type, _mpi)             \
    CHECK_OP(_type, _mpi, MPI_SUM, 5, 3, 8)   \
    CHECK_OP(_type, _mpi, MPI_PROD, 5, 3, 15) \
    CHECK_OP(_type, _mpi, MPI_MAX, 5, 9, 9)   \
    CHECK_OP(_type, _mpi, MPI_MIN, 5, 9, 5)   \
    CHECK_OP(_type, _mpi, MPI_REPLACE, 5, 7, 7)
#define CHECK_INTEGER(_type, _mpi)            \
    CHECK_NUMBER(_type, _mpi)                 \
    CHECK_OP(_type, _mpi, MPI_BAND, 13, 7, 5) \
    CHECK_OP(_type, _mpi, MPI_BOR, 12, 5, 13) \
    CHECK_OP(_type, _mpi, MPI_BXOR, 12, 5, 9) \
    CHECK_OP(_type, _mpi, MPI_LAND, 12, 0, 0) \
    CHECK_OP(_type, _mpi, MPI_LOR, 0, 5, 1)   \
    CHECK_OP(_type, _mpi, MPI_LXOR, 7, 5, 0)

static void check_types(void)
{
    void *base;
    MPI_Win win;

    MPI_Win_allocate(4096, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    CHECK_INTEGER(signed char, MPI_SIGNED_CHAR)
    CHECK_INTEGER(unsigned char, MPI_UNSIGNED_CHAR)
    CHECK_INTEGER(short, MPI_SHORT)
    CHECK_INTEGER(unsigned short, MPI_UNSIGNED_SHORT)
    CHECK_INTEGER(int, MPI_INT)
    CHECK_INTEGER(unsigned, MPI_UNSIGNED)
    CHECK_INTEGER(long, MPI_LONG)
    CHECK_INTEGER(unsigned long, MPI_UNSIGNED_LONG)
    CHECK_INTEGER(long long, MPI_LONG_LONG)
    CHECK_INTEGER(unsigned long long, MPI_UNSIGNED_LONG_LONG)
    CHECK_INTEGER(int8_t, MPI_INT8_T)
    CHECK_INTEGER(int16_t, MPI_INT16_T)
    CHECK_INTEGER(int32_t, MPI_INT32_T)
    CHECK_INTEGER(int64_t, MPI_INT64_T)
    CHECK_INTEGER(uint8_t, MPI_UINT8_T)
    CHECK_INTEGER(uint16_t, MPI_UINT16_T)
    CHECK_INTEGER(uint32_t, MPI_UINT32_T)
    CHECK_INTEGER(uint64_t, MPI_UINT64_T)
    CHECK_NUMBER(float, MPI_FLOAT)
    CHECK_NUMBER(double, MPI_DOUBLE)
    CHECK_NUMBER(long double, MPI_LONG_DOUBLE)
    CHECK_OP(double complex, MPI_C_DOUBLE_COMPLEX, MPI_SUM, 1 + 2 * I, 2 + 1 * I, 3 + 3 * I)
    CHECK_OP(unsigned char, MPI_BYTE, MPI_BXOR, 12, 5, 9)
    MPI_Win_free(&win);
}

/* Pairs. Their packed form is shorter than the form in memory. */
static void check_pairs(void)
{
    struct {
        double value;
        int index;
    } * base, mine = {.value = 100 - rank, .index = rank}, none;
    MPI_Win win;

    MPI_Win_allocate(sizeof(*base), sizeof(*base), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    base->value = 1000;
    base->index = -1;
    MPI_Win_fence(0, win);
    MPI_Accumulate(&mine, 1, MPI_DOUBLE_INT, 0, 0, 1, MPI_DOUBLE_INT, MPI_MINLOC, win);
    MPI_Win_fence(0, win);
    EXPECT(rank != 0 || (base->value == 100 - (ranks - 1) && base->index == ranks - 1));
    MPI_Get(&none, 1, MPI_DOUBLE_INT, 0, 0, 1, MPI_DOUBLE_INT, win);
    MPI_Win_fence(0, win);
    EXPECT(none.value == 100 - (ranks - 1) && none.index == ranks - 1);
    MPI_Win_free(&win);
}

/* All ranks access many elements of one rank at once: each access counts once, and accesses of one
 * rank stay in order. */
static void check_atomicity(void)
{
    enum { ELEMENTS = 50, TIMES = 20 };
    double *base, ones[ELEMENTS], was[ELEMENTS], last = -1;
    MPI_Win win;

    for (int i = 0; i < ELEMENTS; i++) {
        ones[i] = 1;
    }
    MPI_Win_allocate(ELEMENTS * sizeof(double), sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    memset(base, 0, ELEMENTS * sizeof(double));
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    for (int i = 0; i < TIMES; i++) {
        MPI_Get_accumulate(ones, ELEMENTS, MPI_DOUBLE, was, ELEMENTS, MPI_DOUBLE, 0, 0, ELEMENTS, MPI_DOUBLE, MPI_SUM,
                           win);
        MPI_Win_flush(0, win);
        EXPECT(was[3] > last);
        last = was[3];
    }
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < ELEMENTS && rank == 0; i++) {
        EXPECT(base[i] == TIMES * ranks);
    }
    MPI_Win_free(&win);
}

/* Some ranks access all elements by one call, others each element by a separate call, at the same
 * time. */
static void check_mixed_sizes(void)
{
    enum { ELEMENTS = 1000, TIMES = 5 };
    long *base, *ones = malloc(2 * ELEMENTS * sizeof(long)), *was = ones + ELEMENTS, one = 1, last = -1, before;
    MPI_Win win;

    for (int i = 0; i < ELEMENTS; i++) {
        ones[i] = 1;
    }
    MPI_Win_allocate(ELEMENTS * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    memset(base, 0, ELEMENTS * sizeof(long));
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    for (int i = 0; i < TIMES; i++) {
        for (int rest = 0; rest < 10; rest++) {
            MPI_Fetch_and_op(&one, &before, MPI_LONG, 0, ELEMENTS - 1, MPI_SUM, win);
            MPI_Win_flush(0, win);
            EXPECT(before > last);
            last = before;
        }
        MPI_Accumulate(ones, ELEMENTS, MPI_LONG, 0, 0, ELEMENTS, MPI_LONG, MPI_SUM, win);
        MPI_Get_accumulate(ones, ELEMENTS, MPI_LONG, was, ELEMENTS, MPI_LONG, 0, 0, ELEMENTS, MPI_LONG, MPI_SUM, win);
        MPI_Win_flush(0, win);
        EXPECT(was[ELEMENTS - 1] > last);
        last = was[ELEMENTS - 1];
    }
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < ELEMENTS && rank == 0; i++) {
        EXPECT(base[i] == (i == ELEMENTS - 1 ? 12 : 2) * TIMES * ranks);
    }
    MPI_Win_free(&win);
    free(ones);
}

/* A column of the left neighbour becomes a row of the right neighbour, and the other way round. */
static void check_derived(void)
{
    int matrix[8][8], *base, row[8], lengths[3] = {2, 1, 3}, places[3] = {0, 4, 9};
    MPI_Datatype column, pieces, record;
    struct {
        char letter;
        double number;
    } out = {'a', 2.5}, in;
    MPI_Aint at[2] = {0, (char *)&out.number - (char *)&out};
    MPI_Win win;

    MPI_Win_allocate(64 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    for (int i = 0; i < 64; i++) {
        matrix[i / 8][i % 8] = rank * 1000 + i;
        base[i] = -1;
    }
    MPI_Type_vector(8, 1, 8, MPI_INT, &column);
    MPI_Type_commit(&column);
    MPI_Type_indexed(3, lengths, places, MPI_INT, &pieces);
    MPI_Type_commit(&pieces);
    MPI_Type_create_struct(2, (int[]){1, 1}, at, (MPI_Datatype[]){MPI_CHAR, MPI_DOUBLE}, &record);
    MPI_Type_commit(&record);
    MPI_Win_fence(0, win);
    MPI_Put(&matrix[0][2], 1, column, right, 8, 8, MPI_INT, win);
    MPI_Win_fence(0, win);
    EXPECT(base[7] == -1 && base[8] == left * 1000 + 2 && base[15] == left * 1000 + 58 && base[16] == -1);
    MPI_Put(matrix[5], 8, MPI_INT, right, 3, 1, column, win);
    MPI_Win_fence(0, win);
    EXPECT(base[3] == left * 1000 + 40 && base[59] == left * 1000 + 47 && base[60] == -1);
    MPI_Get(row, 8, MPI_INT, right, 3, 1, column, win);
    MPI_Win_fence(0, win);
    EXPECT(row[0] == rank * 1000 + 40 && row[7] == rank * 1000 + 47);
    MPI_Accumulate(row, 6, MPI_INT, right, 20, 1, pieces, MPI_REPLACE, win);
    MPI_Accumulate(row, 6, MPI_INT, right, 20, 1, pieces, MPI_SUM, win);
    MPI_Win_fence(0, win);
    EXPECT(base[20] == 2 * (left * 1000 + 40) && base[21] == 2 * (left * 1000 + 41) && base[22] == -1);
    EXPECT(base[24] == 2 * (left * 1000 + 42) && base[31] == 2 * (left * 1000 + 45) && base[32] == -1);
    MPI_Put(&out, 1, record, right, 40, 1, record, win);
    MPI_Win_fence(0, win);
    memset(&in, 0, sizeof(in));
    MPI_Get(&in, 1, record, right, 40, 1, record, win);
    MPI_Win_fence(0, win);
    EXPECT(in.letter == 'a' && in.number == 2.5);
    MPI_Type_free(&column);
    MPI_Type_free(&pieces);
    MPI_Type_free(&record);
    MPI_Win_free(&win);
}

/* More bytes than are copied at once, at odd addresses. */
static void check_large(void)
{
    enum { LARGE = 300001, ROOM = 2 * LARGE };
    unsigned char *base, *mine = malloc(2 * LARGE), *back = mine + LARGE;
    MPI_Win win;

    for (int i = 0; i < LARGE; i++) {
        mine[i] = (unsigned char)(i % 241 + rank);
    }
    MPI_Win_allocate(ROOM, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    memset(base, 0, ROOM);
    MPI_Win_fence(0, win);
    MPI_Put(mine, LARGE, MPI_BYTE, right, 3, LARGE, MPI_BYTE, win);
    MPI_Win_fence(0, win);
    EXPECT(base[2] == 0 && base[3] == left && base[LARGE + 2] == (LARGE - 1) % 241 + left && base[LARGE + 3] == 0);
    MPI_Get(back, LARGE, MPI_BYTE, right, 3, LARGE, MPI_BYTE, win);
    MPI_Win_fence(0, win);
    EXPECT(memcmp(mine, back, LARGE) == 0);
    MPI_Win_free(&win);
    free(mine);
}

static void check_requests(void)
{
    long *base, value = rank + 1, back = 0, was = -1;
    MPI_Request requests[2];
    MPI_Win win;

    MPI_Win_allocate(4 * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    memset(base, 0, 4 * sizeof(long));
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    MPI_Rput(&value, 1, MPI_LONG, right, 0, 1, MPI_LONG, win, &requests[0]);
    MPI_Raccumulate(&value, 1, MPI_LONG, right, 1, 1, MPI_LONG, MPI_SUM, win, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Win_flush(right, win);
    MPI_Rget(&back, 1, MPI_LONG, right, 0, 1, MPI_LONG, win, &requests[0]);
    MPI_Rget_accumulate(&value, 1, MPI_LONG, &was, 1, MPI_LONG, right, 1, 1, MPI_LONG, MPI_SUM, win, &requests[1]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    EXPECT(back == rank + 1 && was == rank + 1);
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    EXPECT(base[0] == left + 1 && base[1] == 2 * (left + 1));
    MPI_Win_free(&win);
}

static void check_epochs(void)
{
    int *base, value, peers[2] = {left, right}, flag = 0, count = ranks > 2 ? 2 : 1;
    MPI_Group world, group;
    MPI_Win win;

    MPI_Win_allocate(2 * MANY * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, count, peers, &group);
    for (int i = 0; i < MANY; i++) {
        MPI_Win_post(group, 0, win);
        MPI_Win_start(group, 0, win);
        value = rank * 100 + i;
        MPI_Put(&value, 1, MPI_INT, right, i, 1, MPI_INT, win);
        MPI_Win_complete(win);
        if (i % 2 == 0) {
            MPI_Win_wait(win);
        } else {
            for (flag = 0; !flag;) {
                MPI_Win_test(win, &flag);
            }
        }
        EXPECT(base[i] == left * 100 + i);
    }
    MPI_Group_free(&group);
    MPI_Group_free(&world);
    MPI_Win_free(&win);
}

static void check_dynamic(void)
{
    static int fixed[300];
    int *heap = malloc(10000 * sizeof(int)), value = rank + 7, got = 0;
    MPI_Aint mine[2], theirs[2];
    MPI_Win win;

    memset(heap, 0, 10000 * sizeof(int));
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_attach(win, fixed, sizeof(fixed));
    MPI_Win_attach(win, heap + 100, 9000 * sizeof(int));
    MPI_Get_address(&fixed[5], &mine[0]);
    MPI_Get_address(&heap[100], &mine[1]);
    MPI_Sendrecv(mine, 2, MPI_AINT, left, 0, theirs, 2, MPI_AINT, right, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Win_fence(0, win);
    MPI_Put(&value, 1, MPI_INT, right, theirs[0], 1, MPI_INT, win);
    MPI_Accumulate(&value, 1, MPI_INT, right, MPI_Aint_add(theirs[1], 50 * sizeof(int)), 1, MPI_INT, MPI_SUM, win);
    MPI_Win_fence(0, win);
    EXPECT(fixed[5] == left + 7 && heap[150] == left + 7);
    MPI_Win_lock(MPI_LOCK_SHARED, right, 0, win);
    MPI_Get(&got, 1, MPI_INT, right, theirs[1] + 50 * (MPI_Aint)sizeof(int), 1, MPI_INT, win);
    MPI_Win_unlock(right, win);
    EXPECT(got == rank + 7);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_detach(win, heap + 100);
    heap[150] = 5;
    free(heap);
    MPI_Win_free(&win);
    EXPECT(fixed[5] == left + 7);
}

static void check_many_pieces(void)
{
    enum { PIECES = 1000 };
    static int *pieces[PIECES];
    MPI_Aint mine, theirs;
    MPI_Win win;

    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    for (int i = 0; i < PIECES; i++) {
        MPI_Alloc_mem(sizeof(int), MPI_INFO_NULL, &pieces[i]);
        MPI_Win_attach(win, pieces[i], sizeof(int));
    }
    MPI_Get_address(pieces[PIECES - 1], &mine);
    MPI_Sendrecv(&mine, 1, MPI_AINT, left, 0, &theirs, 1, MPI_AINT, right, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Win_fence(0, win);
    MPI_Put(&rank, 1, MPI_INT, right, theirs, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    EXPECT(*pieces[PIECES - 1] == left);
    for (int i = 0; i < PIECES; i++) {
        MPI_Win_detach(win, pieces[i]);
        MPI_Free_mem(pieces[i]);
    }
    MPI_Win_free(&win);
}

int main(int argc, char **argv)
{
    expect_begin(&argc, &argv);
    right = (rank + 1) % ranks;
    left = (rank + ranks - 1) % ranks;
    check_types();
    check_pairs();
    check_atomicity();
    check_mixed_sizes();
    check_derived();
    check_requests();
    check_large();
    check_epochs();
    check_dynamic();
    check_many_pieces();
    return expect_end("mpi_accesses");
}
