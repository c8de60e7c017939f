/*
 * Accumulates of every predefined type with every operation. Combinations of the system's MPI must
 * match MPI_Reduce_local, at aligned and unaligned addresses and in strides; all other combinations
 * are errors. Each rank has a slot at its right neighbour for these checks. Then all ranks access
 * the same rank: elements that share a word, and elements that must be read whole or not at all.
 */
#include "expect.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 3, SLOT = 512, ROUNDS = 40, APART = 300, BURST = 8000, KEPT = 77, TYPES_MAX = 80 };

/* NATURAL values begin at 0: the system's MPI orders negative bit patterns differently */
typedef enum { INTEGER, NATURAL, TRUTH, REAL, COMPLEX, PAIR } family_t;

typedef struct {
    const char *name;
    MPI_Datatype type;
    family_t family;
    /* a letter for each: b, h, i, q for integers of 1, 2, 4 and 8 bytes, f, d, D for the other
     * numbers */
    const char *fields;
    size_t extent;
} type_t;

typedef struct {
    const char *name;
    MPI_Op op;
} op_t;

static type_t types[TYPES_MAX];
static unsigned type_count;
static uint64_t drawn = 1;

static unsigned draw(unsigned below)
{
    drawn = drawn * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (unsigned)(drawn >> 33) % below;
}

/* ---- elements ---- */

static size_t field_size(char field)
{
    return (field == 'b')                   ? 1
           : (field == 'h')                 ? 2
           : (field == 'i' || field == 'f') ? 4
           : (field == 'D')                 ? sizeof(long double)
                                            : 8;
}

static void field_set(char field, char *at, int value)
{
    const long double largest = value;
    const double large = value;
    const float small = (float)value;
    const int64_t integer = value;

    if (field == 'D') {
        memcpy(at, &largest, 10); /* the other bytes are padding */
    } else if (field == 'd') {
        memcpy(at, &large, sizeof(large));
    } else if (field == 'f') {
        memcpy(at, &small, sizeof(small));
    } else {
        memcpy(at, &integer, field_size(field));
    }
}

/* The offset of the next field. */
static size_t field_place(size_t at, char field)
{
    return (at + field_size(field) - 1) / field_size(field) * field_size(field);
}

static void element_draw(const type_t *type, char *at)
{
    size_t place = 0;

    for (const char *field = type->fields; *field != '\0'; field++) {
        const int value = (type->family == TRUTH)                      ? (int)draw(2)
                          : (type->family == NATURAL || field[1] == 0) ? (int)draw(6)
                                                                       : (int)draw(11) - 5;

        place = field_place(place, *field);
        field_set(*field, at + place, type->family == INTEGER ? value * 20 - 50 : value);
        place += field_size(*field);
    }
}

/* Compares the fields only, not the bytes between them. */
static int element_is(const type_t *type, const char *at, const char *expected)
{
    size_t place = 0;

    for (const char *field = type->fields; *field != '\0'; field++) {
        place = field_place(place, *field);
        if (memcmp(at + place, expected + place, *field == 'D' ? 10 : field_size(*field)) != 0) {
            return 0;
        }
        place += field_size(*field);
    }
    return 1;
}

static void elements_draw(const type_t *type, char *at)
{
    memset(at, 0, COUNT * type->extent);
    for (unsigned i = 0; i < COUNT; i++) {
        element_draw(type, at + i * type->extent);
    }
}

static int elements_are(const type_t *type, const char *at, const char *expected, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        if (!element_is(type, at + i * type->extent, expected + i * type->extent)) {
            return 0;
        }
    }
    return 1;
}

/* ---- types ---- */

static void type_add(const char *name, MPI_Datatype handle, family_t family, const char *fields)
{
    type_t *type = &types[type_count];
    MPI_Aint low, extent;
    int size;

    if (handle == MPI_DATATYPE_NULL) {
        return;
    }
    MPI_Type_size(handle, &size);
    MPI_Type_get_extent(handle, &low, &extent);
    *type = (type_t){name, handle, family, fields, (size_t)extent};
    if (fields == NULL) {
        type->fields = (size == 1) ? "b" : (size == 2) ? "h" : (size == 4) ? "i" : "q";
    }
    type_count++;
}

static void types_add(void)
{
    MPI_Datatype made;

#define ADD(_type, _family, _fields) type_add(#_type, _type, _family, _fields);
/* clang-format off */
#define INTEGERS(_) \
    _(MPI_CHAR) _(MPI_SIGNED_CHAR) _(MPI_SHORT) _(MPI_INT) _(MPI_LONG) _(MPI_LONG_LONG) _(MPI_INT8_T) _(MPI_INT16_T) \
    _(MPI_INT32_T) _(MPI_INT64_T) _(MPI_AINT) _(MPI_COUNT) _(MPI_INTEGER) _(MPI_INTEGER1) _(MPI_INTEGER2) \
    _(MPI_INTEGER4) _(MPI_INTEGER8)
#define NATURALS(_) \
    _(MPI_UNSIGNED_CHAR) _(MPI_UNSIGNED_SHORT) _(MPI_UNSIGNED) _(MPI_UNSIGNED_LONG) _(MPI_UNSIGNED_LONG_LONG) \
    _(MPI_UINT8_T) _(MPI_UINT16_T) _(MPI_UINT32_T) _(MPI_UINT64_T) _(MPI_OFFSET) _(MPI_BYTE) _(MPI_CHARACTER) _(MPI_WCHAR)
/* clang-format on */
#define ADD_INTEGER(_type) type_add(#_type, _type, INTEGER, NULL);
#define ADD_NATURAL(_type) type_add(#_type, _type, NATURAL, NULL);
#define ADD_TRUTH(_type)   type_add(#_type, _type, TRUTH, NULL);
    INTEGERS(ADD_INTEGER)
    NATURALS(ADD_NATURAL)
    ADD_TRUTH(MPI_C_BOOL)
    ADD_TRUTH(MPI_CXX_BOOL)
    ADD_TRUTH(MPI_LOGICAL)
#ifdef MPI_LOGICAL1
    ADD_TRUTH(MPI_LOGICAL1)
    ADD_TRUTH(MPI_LOGICAL2)
    ADD_TRUTH(MPI_LOGICAL4)
    ADD_TRUTH(MPI_LOGICAL8)
#endif
    ADD(MPI_FLOAT, REAL, "f")
    ADD(MPI_DOUBLE, REAL, "d")
    ADD(MPI_LONG_DOUBLE, REAL, "D")
    ADD(MPI_REAL, REAL, "f")
    ADD(MPI_REAL4, REAL, "f")
    ADD(MPI_REAL8, REAL, "d")
    ADD(MPI_DOUBLE_PRECISION, REAL, "d")
    ADD(MPI_C_COMPLEX, COMPLEX, "ff")
    ADD(MPI_C_FLOAT_COMPLEX, COMPLEX, "ff")
    ADD(MPI_C_DOUBLE_COMPLEX, COMPLEX, "dd")
    ADD(MPI_C_LONG_DOUBLE_COMPLEX, COMPLEX, "DD")
    ADD(MPI_CXX_FLOAT_COMPLEX, COMPLEX, "ff")
    ADD(MPI_CXX_DOUBLE_COMPLEX, COMPLEX, "dd")
    ADD(MPI_COMPLEX, COMPLEX, "ff")
    ADD(MPI_COMPLEX8, COMPLEX, "ff")
    ADD(MPI_COMPLEX16, COMPLEX, "dd")
    ADD(MPI_DOUBLE_COMPLEX, COMPLEX, "dd")
    ADD(MPI_2INT, PAIR, "ii")
    ADD(MPI_SHORT_INT, PAIR, "hi")
    ADD(MPI_LONG_INT, PAIR, "qi")
    ADD(MPI_FLOAT_INT, PAIR, "fi")
    ADD(MPI_DOUBLE_INT, PAIR, "di")
    ADD(MPI_LONG_DOUBLE_INT, PAIR, "Di")
    ADD(MPI_2INTEGER, PAIR, "ii")
    ADD(MPI_2REAL, PAIR, "ff")
    ADD(MPI_2DOUBLE_PRECISION, PAIR, "dd")
    MPI_Type_create_f90_integer(4, &made);
    type_add("an integer of 4 digits", made, INTEGER, NULL);
    MPI_Type_create_f90_integer(9, &made);
    type_add("an integer of 9 digits", made, INTEGER, NULL);
    MPI_Type_create_f90_real(15, 300, &made);
    type_add("a real of 15 digits", made, REAL, "d");
    MPI_Type_create_f90_complex(6, 30, &made);
    type_add("a complex of 6 digits", made, COMPLEX, "ff");
}

/* ---- one rank at a slot ---- */

/* Floating types are not tried in the system's MPI: MPICH would end the job. */
static int has(const type_t *type, MPI_Op op)
{
    long double nothing[4] = {0}, other[4] = {0};
    int is;

    if (op == MPI_REPLACE || op == MPI_NO_OP) {
        return 1;
    }
    if (type->family == REAL || type->family == COMPLEX) {
        return op == MPI_SUM || op == MPI_PROD || (type->family == REAL && (op == MPI_MIN || op == MPI_MAX));
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    is = MPI_Reduce_local(nothing, other, 1, type->type, op) == MPI_SUCCESS;
    /* accumulates do not use this handler */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    return is;
}

/* there = mine op there */
static void apply(const type_t *type, const char *mine, char *there, int count, MPI_Op op)
{
    if (op == MPI_REPLACE) {
        memcpy(there, mine, (size_t)count * type->extent);
    } else if (op != MPI_NO_OP) {
        MPI_Reduce_local((void *)mine, there, count, type->type, op);
    }
}

typedef struct {
    MPI_Win win;
    int right;
    MPI_Aint at;        /* of the first element */
    MPI_Datatype there; /* a type of COUNT elements there */
    size_t stride;
} place_t;

static int is_there(const type_t *type, const place_t *place, const char *expected)
{
    char there[SLOT] __attribute__((aligned(16)));

    MPI_Get(there, COUNT, type->type, place->right, place->at, 1, place->there, place->win);
    MPI_Win_flush(place->right, place->win);
    return elements_are(type, there, expected, COUNT);
}

static void check(const type_t *type, const op_t *op, const place_t *place)
{
    char mine[SLOT] __attribute__((aligned(16))), there[SLOT] __attribute__((aligned(16))), was[SLOT] = {0};
    int is_right;

    elements_draw(type, mine);
    elements_draw(type, there);
    MPI_Put(there, COUNT, type->type, place->right, place->at, 1, place->there, place->win);
    MPI_Win_flush(place->right, place->win);

    MPI_Get_accumulate(mine, COUNT, type->type, was, COUNT, type->type, place->right, place->at, 1, place->there,
                       op->op, place->win);
    MPI_Win_flush(place->right, place->win);
    is_right = elements_are(type, was, there, COUNT);
    apply(type, mine, there, COUNT, op->op);
    is_right &= is_there(type, place, there);

    MPI_Fetch_and_op(op->op == MPI_NO_OP ? NULL : mine, was, type->type, place->right,
                     place->at + (MPI_Aint)place->stride, op->op, place->win);
    MPI_Win_flush(place->right, place->win);
    is_right &= element_is(type, was, there + type->extent);
    apply(type, mine, there + type->extent, 1, op->op);
    is_right &= is_there(type, place, there);

    MPI_Accumulate(mine, COUNT, type->type, place->right, place->at, 1, place->there, op->op, place->win);
    apply(type, mine, there, COUNT, op->op);
    is_right &= is_there(type, place, there);
    expect(is_right, type->name, (int)place->at);
    expect(is_right, op->name, (int)place->at);
}

static void check_refused(const type_t *type, const op_t *op, const place_t *place)
{
    char mine[SLOT] = {0}, was[SLOT];
    int class;

    MPI_Error_class(MPI_Accumulate(mine, 1, type->type, place->right, place->at, 1, type->type, op->op, place->win),
                    &class);
    expect(class == MPI_ERR_OP, type->name, -1);
    MPI_Error_class(MPI_Fetch_and_op(mine, was, type->type, place->right, place->at, op->op, place->win), &class);
    expect(class == MPI_ERR_OP, op->name, -1);
}

static void check_swap(const type_t *type, const place_t *place)
{
    char there[16], other[16], was[16] = {0};
    int is_right = 1;

    memset(there, 0, sizeof(there));
    memset(other, 0, sizeof(other));
    there[0] = 1;
    MPI_Put(there, 1, type->type, place->right, place->at, 1, type->type, place->win);
    MPI_Win_flush(place->right, place->win);
    for (int i = 0; i < 3; i++) { /* unequal, equal, and no longer equal */
        MPI_Compare_and_swap(other, i == 0 ? other : there, was, type->type, place->right, place->at, place->win);
        MPI_Win_flush(place->right, place->win);
        is_right &= element_is(type, was, i < 2 ? there : other);
    }
    expect(is_right, type->name, (int)place->at);
}

static void check_type(const type_t *type, MPI_Win win, MPI_Aint slot)
{
    const op_t ops[] = {{"MPI_SUM", MPI_SUM},         {"MPI_PROD", MPI_PROD},     {"MPI_MAX", MPI_MAX},
                        {"MPI_MIN", MPI_MIN},         {"MPI_LAND", MPI_LAND},     {"MPI_LOR", MPI_LOR},
                        {"MPI_LXOR", MPI_LXOR},       {"MPI_BAND", MPI_BAND},     {"MPI_BOR", MPI_BOR},
                        {"MPI_BXOR", MPI_BXOR},       {"MPI_MINLOC", MPI_MINLOC}, {"MPI_MAXLOC", MPI_MAXLOC},
                        {"MPI_REPLACE", MPI_REPLACE}, {"MPI_NO_OP", MPI_NO_OP}};
    place_t places[] = {{win, (rank + 1) % ranks, slot, MPI_DATATYPE_NULL, type->extent},
                        {win, (rank + 1) % ranks, slot + 16, MPI_DATATYPE_NULL, 2 * type->extent},
                        {win, (rank + 1) % ranks, slot + (type->extent > 8 ? 8 : 1), MPI_DATATYPE_NULL, type->extent}};

    for (unsigned i = 0; i < 3; i++) {
        MPI_Type_vector(COUNT, 1, i == 1 ? 2 : 1, type->type, &places[i].there);
        MPI_Type_commit(&places[i].there);
    }
    for (unsigned i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
        if (!has(type, ops[i].op)) {
            check_refused(type, &ops[i], &places[0]);
            continue;
        }
        check(type, &ops[i], &places[0]);
        check(type, &ops[i], &places[1 + i % 2]);
    }
    for (unsigned i = 0; i < 3; i++) {
        if (type->family <= TRUTH && type->type != MPI_WCHAR && type->type != MPI_CHARACTER) {
            check_swap(type, &places[i]);
        }
        MPI_Type_free(&places[i].there);
    }
}

/* Negative and unsigned values. MPICH 4.0 and Open MPI 4.1 themselves give wrong results for some
 * of these. */
static void check_order(const type_t *type, int is_signed, MPI_Win win, MPI_Aint slot)
{
    const int64_t most = -1, one = 1;
    const int right = (rank + 1) % ranks;
    int64_t found[2] = {0};

    for (int i = 0; i < 2; i++) {
        MPI_Put(&one, 1, type->type, right, slot, 1, type->type, win);
        MPI_Win_flush(right, win);
        MPI_Accumulate(&most, 1, type->type, right, slot, 1, type->type, i == 0 ? MPI_MAX : MPI_MIN, win);
        MPI_Fetch_and_op(NULL, &found[i], type->type, right, slot, MPI_NO_OP, win);
        MPI_Win_flush(right, win);
    }
    expect(memcmp(&found[0], is_signed ? &one : &most, type->extent) == 0, type->name, 0);
    expect(memcmp(&found[1], is_signed ? &most : &one, type->extent) == 0, type->name, 1);
}

static void check_orders(MPI_Win win, MPI_Aint slot)
{
    const MPI_Datatype of_words[] = {MPI_OFFSET, MPI_BYTE, MPI_CHARACTER, MPI_WCHAR};

    for (unsigned i = 0; i < type_count; i++) {
        unsigned j = 0;

        while (j < 4 && of_words[j] != types[i].type) {
            j++;
        }
        if (types[i].family <= NATURAL && (j == 4 || j == 0)) {
            check_order(&types[i], types[i].family == INTEGER || j == 0, win, slot);
        }
    }
}

/* ---- all ranks at rank 0 ---- */

/* Pairs, with the unused bytes between and after their numbers. */
typedef struct {
    short value, kept;
    int index;
} short_pair_t;

typedef struct {
    double value;
    int index, kept;
} double_pair_t;

typedef struct {
    uint8_t bytes[8], swapped[8];
    int16_t burst[4];
    long double burst_sum;
    uint16_t shorts[4];
    int8_t bits[8];
    long double sum;
    double turned[2], both[2];
    float small[2];
    short_pair_t best;
    double_pair_t least __attribute__((aligned(16))), same;
} memory_t;

#define AT(_field, _index) ((MPI_Aint)(offsetof(memory_t, _field) + (_index) * sizeof(((memory_t *)0)->_field[0])))

static void swap_up(int at, MPI_Win win)
{
    uint8_t seen = 0, was, next;

    for (;;) {
        next = (uint8_t)(seen + 1);
        MPI_Compare_and_swap(&next, &seen, &was, MPI_UINT8_T, 0, AT(swapped, at), win);
        MPI_Win_flush(0, win);
        if (was == seen) {
            return;
        }
        seen = was;
    }
}

/* So many accesses that some meet at the same place and time. */
static void burst(MPI_Win win)
{
    const int16_t one = 1;
    const long double part = 1;

    for (int i = 0; i < BURST; i++) {
        MPI_Accumulate(&one, 1, MPI_INT16_T, 0, AT(burst, i % 2), 1, MPI_INT16_T, MPI_SUM, win);
    }
    for (int i = 0; i < BURST / 4; i++) {
        MPI_Accumulate(&part, 1, MPI_LONG_DOUBLE, 0, offsetof(memory_t, burst_sum), 1, MPI_LONG_DOUBLE, MPI_SUM, win);
    }
}

static void meet_pairs(int round, MPI_Win win)
{
    const short_pair_t best = {(short)(round / 2), 1, rank};
    const double_pair_t least = {-(round / 2), rank, 1};

    MPI_Accumulate(&best, 1, MPI_SHORT_INT, 0, offsetof(memory_t, best), 1, MPI_SHORT_INT, MPI_MAXLOC, win);
    MPI_Accumulate(&least, 1, MPI_DOUBLE_INT, 0, offsetof(memory_t, least), 1, MPI_DOUBLE_INT, MPI_MINLOC, win);
}

static void meet(MPI_Win win)
{
    const uint8_t one = 1, bit = (uint8_t)(1 << rank % 8);
    const uint16_t some = 300;
    const long double part = 1 + 0x1p-50L;
    const double turn[2] = {0, 1}, both[2] = {rank + 1, rank + 1};
    const float small[2] = {1, 2};
    const double_pair_t same = {rank + 1, rank + 1, 1};
    double_pair_t found_pair = {0, 0, 0};
    double found[2] = {0, 0};
    int8_t was;

    for (int i = 0; i < ROUNDS; i++) {
        MPI_Accumulate(&one, 1, MPI_UINT8_T, 0, AT(bytes, (rank + i) % 8), 1, MPI_UINT8_T, MPI_SUM, win);
        MPI_Accumulate(&some, 1, MPI_UINT16_T, 0, AT(shorts, (rank + i) % 4), 1, MPI_UINT16_T, MPI_SUM, win);
        MPI_Fetch_and_op(&bit, &was, MPI_BYTE, 0, AT(bits, i % 8), MPI_BXOR, win);
        MPI_Accumulate(&part, 1, MPI_LONG_DOUBLE, 0, offsetof(memory_t, sum), 1, MPI_LONG_DOUBLE, MPI_SUM, win);
        MPI_Accumulate(turn, 1, MPI_C_DOUBLE_COMPLEX, 0, AT(turned, 0), 1, MPI_C_DOUBLE_COMPLEX, MPI_PROD, win);
        MPI_Accumulate(small, 1, MPI_C_FLOAT_COMPLEX, 0, AT(small, 0), 1, MPI_C_FLOAT_COMPLEX, MPI_SUM, win);
        MPI_Accumulate(both, 1, MPI_C_DOUBLE_COMPLEX, 0, AT(both, 0), 1, MPI_C_DOUBLE_COMPLEX, MPI_REPLACE, win);
        MPI_Get_accumulate(NULL, 0, MPI_DOUBLE, found, 1, MPI_C_DOUBLE_COMPLEX, 0, AT(both, 0), 1, MPI_C_DOUBLE_COMPLEX,
                           MPI_NO_OP, win);
        meet_pairs(i, win);
        MPI_Accumulate(&same, 1, MPI_DOUBLE_INT, 0, offsetof(memory_t, same), 1, MPI_DOUBLE_INT, MPI_REPLACE, win);
        MPI_Fetch_and_op(NULL, &found_pair, MPI_DOUBLE_INT, 0, offsetof(memory_t, same), MPI_NO_OP, win);
        swap_up(i % 2 == 0 ? 0 : 7, win);
        EXPECT(found_pair.value == found_pair.index);
        EXPECT(found[0] == found[1]);
    }
}

static void check_met(const memory_t *memory)
{
    const double turned[4][2] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}};
    const int all = ROUNDS * ranks;

    for (int i = 0; i < 8; i++) { /* the same number at each */
        EXPECT(memory->bytes[i] == (uint8_t)(all / 8));
        EXPECT(memory->shorts[i % 4] == (uint16_t)(300 * (all / 4)));
        EXPECT(memory->bits[i] == (int8_t)((ROUNDS / 8 % 2 == 1) ? (1 << ranks) - 1 : 0));
        EXPECT(memory->swapped[i] == (uint8_t)(i % 7 == 0 ? all / 2 : 0));
    }
    EXPECT(memory->burst[0] == BURST / 2 * ranks && memory->burst[1] == BURST / 2 * ranks);
    EXPECT(memory->burst_sum == (long double)(BURST / 4) * ranks);
    EXPECT(memory->sum == (1 + 0x1p-50L) * all);
    EXPECT(memory->turned[0] == turned[all % 4][0] && memory->turned[1] == turned[all % 4][1]);
    EXPECT(memory->small[0] == (float)all && memory->small[1] == 2.0F * (float)all);
    EXPECT(memory->both[0] == memory->both[1]);
    EXPECT(memory->best.value == ROUNDS / 2 - 1 && memory->best.index == 0 && memory->best.kept == KEPT);
    EXPECT(memory->least.value == 1 - ROUNDS / 2 && memory->least.index == 0 && memory->least.kept == KEPT);
    EXPECT(memory->same.value == memory->same.index && memory->same.value > 0 && memory->same.kept == KEPT);
}

static void check_together(void)
{
    memory_t *memory;
    MPI_Win win;

    MPI_Win_allocate(sizeof(*memory), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);
    memset(memory, 0, sizeof(*memory));
    memory->turned[0] = 1;
    memory->best = (short_pair_t){-1, KEPT, -1};
    memory->least = (double_pair_t){1, -1, KEPT};
    memory->same.kept = KEPT;
    MPI_Win_unlock(rank, win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    burst(win);
    meet(win);
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
    if (rank == 0) {
        check_met(memory);
    }
    MPI_Win_unlock(rank, win);
    MPI_Win_free(&win);
}

/* Pairs at offsets 4 and 16; only the second is aligned to its size. Some ranks access both at
 * once, others only the second. */
static void meet_apart(int round, MPI_Datatype both, MPI_Win win)
{
    const int mine[4] = {2 * round, rank, 2 * round, rank}, more[2] = {2 * round + 1, rank};
    const int before = (round == 1) ? 0 : 2 * round - 2;
    int found[4] = {before, 0, before, 0};

    if (rank % 2 == 1) {
        MPI_Accumulate(more, 1, MPI_2INT, 0, 16, 1, MPI_2INT, MPI_MAXLOC, win);
    } else if (round % 2 == 0) {
        MPI_Accumulate(mine, 2, MPI_2INT, 0, 4, 1, both, MPI_MAXLOC, win);
    } else {
        MPI_Get_accumulate(mine, 2, MPI_2INT, found, 2, MPI_2INT, 0, 4, 1, both, MPI_MAXLOC, win);
    }
    MPI_Win_fence(0, win);
    EXPECT(found[0] == before || found[0] == 2 * round);
    EXPECT(found[2] >= before && found[2] <= 2 * round + 1);
}

static void check_apart(void)
{
    typedef struct {
        int before, value, index;
    } behind_t;
    behind_t *memory;
    MPI_Datatype both;
    MPI_Win win;

    MPI_Win_allocate(2 * sizeof(*memory), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    memset(memory, 0, 2 * sizeof(*memory));
    MPI_Type_create_hvector(2, 1, sizeof(*memory), MPI_2INT, &both);
    MPI_Type_commit(&both);
    MPI_Win_fence(0, win);
    for (int round = 1; round <= APART; round++) {
        meet_apart(round, both, win);
        EXPECT(rank != 0 || (memory[0].value == 2 * round && memory[0].index == 0));
        EXPECT(rank != 0 || (memory[1].value == 2 * round + (ranks > 1) && memory[1].index == (ranks > 1)));
        MPI_Win_fence(0, win);
    }
    EXPECT(memory[0].before == 0 && memory[1].before == 0);
    MPI_Type_free(&both);
    MPI_Win_free(&win);
}

/* Calls that accept a single predefined element only, or an integer element only. */
static void check_single(MPI_Win win)
{
    double number = 1, old = 2;
    MPI_Datatype one;

    MPI_Type_contiguous(1, MPI_INT, &one);
    MPI_Type_commit(&one);
    EXPECT(MPI_Fetch_and_op(&number, &old, one, 0, 0, MPI_SUM, win) == MPI_ERR_TYPE);
    EXPECT(MPI_Compare_and_swap(&number, &number, &old, one, 0, 0, win) == MPI_ERR_TYPE);
    EXPECT(MPI_Compare_and_swap(&number, &number, &old, MPI_DOUBLE, 0, 0, win) == MPI_ERR_TYPE);
    EXPECT(old == 2);
    MPI_Type_free(&one);
}

int main(int argc, char **argv)
{
    char *base;
    MPI_Win win;

    expect_begin(&argc, &argv);
    types_add();
    MPI_Win_allocate(SLOT, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Win_lock_all(0, win);
    for (unsigned i = 0; i < type_count; i++) {
        check_type(&types[i], win, 0);
    }
    check_orders(win, 0);
    check_single(win);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    check_together();
    check_apart();
    return expect_end("mpi_kinds");
}
