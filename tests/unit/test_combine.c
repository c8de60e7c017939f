/*
 * Accumulates executed by the CPU: every operation on every type, at all alignments, and no change
 * around the elements.
 */
#include "peer/combine.h"
#include "peer/combine/combine_plain.h"

#include "unit.h"

#include <pthread.h>
#include <string.h>

enum { COUNT = 40, ROUNDS = 200, SHARED = 9, ADDITIONS = 20000 };

static int type_is_complex(unsigned type)
{
    return type == KEEL_TYPE_FLOAT_COMPLEX || type == KEEL_TYPE_DOUBLE_COMPLEX;
}

static int type_is_float(unsigned type)
{
    return type == KEEL_TYPE_FLOAT || type == KEEL_TYPE_DOUBLE || type == KEEL_TYPE_LONG_DOUBLE;
}

/* Returns the word as an integer of the type, wide enough for every operation. */
static __int128 widened(unsigned type, uint64_t word)
{
    const unsigned bits = 8 * (unsigned)keel_type_size((keel_type_t)type);
    const uint64_t cut = word << (64 - bits) >> (64 - bits);

    return (type <= KEEL_TYPE_INT64) ? (__int128)((int64_t)(word << (64 - bits)) >> (64 - bits)) : (__int128)cut;
}

static uint64_t expected_integer(unsigned op, __int128 old, __int128 value, __int128 compare)
{
    switch (op) {
    case KEEL_OP_SUM:
        return (uint64_t)(old + value);
    case KEEL_OP_PROD:
        return (uint64_t)old * (uint64_t)value;
    case KEEL_OP_MIN:
        return (uint64_t)(old < value ? old : value);
    case KEEL_OP_MAX:
        return (uint64_t)(old > value ? old : value);
    case KEEL_OP_BAND:
        return (uint64_t)(old & value);
    case KEEL_OP_BOR:
        return (uint64_t)(old | value);
    case KEEL_OP_BXOR:
        return (uint64_t)(old ^ value);
    case KEEL_OP_LAND:
        return old && value;
    case KEEL_OP_LOR:
        return old || value;
    case KEEL_OP_LXOR:
        return !old != !value;
    case KEEL_OP_NO_OP:
        return (uint64_t)old;
    case KEEL_OP_REPLACE:
        return (uint64_t)value;
    default:
        return (uint64_t)(old == compare ? value : old);
    }
}

static double expected_float(unsigned op, double old, double value)
{
    switch (op) {
    case KEEL_OP_SUM:
        return old + value;
    case KEEL_OP_PROD:
        return old * value;
    case KEEL_OP_MIN:
        return old < value ? old : value;
    case KEEL_OP_MAX:
        return old > value ? old : value;
    case KEEL_OP_NO_OP:
        return old;
    default:
        return value;
    }
}

/* Small numbers, which floating-point types represent exactly. */
static double element_number(unsigned type, const void *at)
{
    long double largest;
    double large;
    float small;

    if (type == KEEL_TYPE_FLOAT) {
        memcpy(&small, at, sizeof(small));
        return small;
    }
    if (type == KEEL_TYPE_LONG_DOUBLE) {
        memcpy(&largest, at, sizeof(largest));
        return (double)largest;
    }
    memcpy(&large, at, sizeof(large));
    return large;
}

static double _Complex complex_number(unsigned type, const void *at)
{
    double _Complex large;
    float _Complex small;

    if (type == KEEL_TYPE_FLOAT_COMPLEX) {
        memcpy(&small, at, sizeof(small));
        return small;
    }
    memcpy(&large, at, sizeof(large));
    return large;
}

static double _Complex expected_complex(unsigned op, double _Complex old, double _Complex value)
{
    switch (op) {
    case KEEL_OP_SUM:
        return old + value;
    case KEEL_OP_PROD:
        return old * value;
    case KEEL_OP_NO_OP:
        return old;
    default:
        return value;
    }
}

static void element_draw(unsigned type, uint64_t *random, void *at)
{
    const uint64_t drawn = unit_random(random);
    const uint64_t word = (drawn % 4 == 0) ? drawn >> 62 : drawn; /* also 0, 1 and equal values */
    /* products are exact */
    const double large = (double)(drawn % 2048) / 4 - 100, other = (double)(drawn % 63) / 4;
    const double pair[2] = {large, (double)(float)other};
    const float small = (float)large, small_pair[2] = {small, (float)other};
    long double largest = large;

    if (type == KEEL_TYPE_LONG_DOUBLE) {
        memset(at, 0, sizeof(largest));
        memcpy(at, &largest, 10);
    } else if (type == KEEL_TYPE_FLOAT_COMPLEX) {
        memcpy(at, small_pair, sizeof(small_pair));
    } else if (type == KEEL_TYPE_DOUBLE_COMPLEX) {
        memcpy(at, pair, sizeof(pair));
    } else if (type == KEEL_TYPE_DOUBLE) {
        memcpy(at, &large, sizeof(large));
    } else if (type == KEEL_TYPE_FLOAT) {
        memcpy(at, &small, sizeof(small));
    } else {
        memcpy(at, &word, keel_type_size((keel_type_t)type));
    }
}

static void check_element(const keel_record_accumulate_t *head, const char *before, const char *value,
                          const char *after)
{
    const size_t size = keel_type_size((keel_type_t)head->type);
    uint64_t old = 0, operand = 0, is = 0, want;

    if (type_is_float(head->type)) {
        ck_assert(element_number(head->type, after) ==
                  expected_float(head->op, element_number(head->type, before), element_number(head->type, value)));
        return;
    }
    if (type_is_complex(head->type)) {
        const double _Complex want_number =
            expected_complex(head->op, complex_number(head->type, before), complex_number(head->type, value));

        ck_assert(complex_number(head->type, after) ==
                  (head->type == KEEL_TYPE_FLOAT_COMPLEX ? (double _Complex)(float _Complex)want_number : want_number));
        return;
    }
    memcpy(&old, before, size);
    memcpy(&operand, value, size);
    memcpy(&is, after, size);
    want = expected_integer(head->op, widened(head->type, old), widened(head->type, operand),
                            widened(head->type, head->compare));
    ck_assert_uint_eq(is, want << (64 - 8 * size) >> (64 - 8 * size));
}

static void check_one(unsigned op, unsigned type, uint64_t *random, int has_result)
{
    const size_t size = keel_type_size((keel_type_t)type);
    const unsigned count = 1 + (unsigned)(unit_random(random) % COUNT);
    keel_record_accumulate_t head = {.op = (uint8_t)op, .type = (uint8_t)type, .count = count};
    char values[COUNT * 16 + 1], results[COUNT * 16 + 1];
    uint64_t target[2 * (COUNT + 3)] __attribute__((aligned(16))), before[2 * (COUNT + 3)];
    const size_t begin = 16 + unit_random(random) % (16 / size) * size; /* in a block of 16 bytes */
    char *const at = (char *)target + begin, *const was = (char *)before + begin;

    memset(target, 0x5a, sizeof(target));
    for (unsigned i = 0; i < count; i++) {
        element_draw(type, random, at + i * size);
        element_draw(type, random, values + 1 + i * size);
    }
    memcpy(before, target, sizeof(target));
    memcpy(&head.compare, at, size < 8 ? size : 8); /* equal to the first element */
    keel_combine(&head, at, keel_combine_has_values(&head) ? values + 1 : NULL, has_result ? results + 1 : NULL);
    for (unsigned i = 0; i < count; i++) {
        check_element(&head, was + i * size, values + 1 + i * size, at + i * size);
    }
    if (has_result) {
        ck_assert_mem_eq(results + 1, was, count * size);
    }
    memcpy(at, was, count * size);
    ck_assert_mem_eq(target, before, sizeof(target));
}

/* Returns 0 if there is no plain loop for the operation. */
static int check_plain(unsigned op, unsigned type, uint64_t *random, int has_result)
{
    const size_t size = keel_type_size((keel_type_t)type);
    const unsigned count = 1 + (unsigned)(unit_random(random) % COUNT);
    const keel_record_accumulate_t head = {.op = (uint8_t)op, .type = (uint8_t)type, .count = count};
    char values[COUNT * 16 + 1], results[2][COUNT * 16 + 1] = {{0}};
    uint64_t target[2][2 * (COUNT + 3)] __attribute__((aligned(16)));
    const size_t begin = 16 + unit_random(random) % (16 / size) * size;

    memset(target[0], 0x5a, sizeof(target[0]));
    for (unsigned i = 0; i < count; i++) {
        element_draw(type, random, (char *)target[0] + begin + i * size);
        element_draw(type, random, values + 1 + i * size);
    }
    memcpy(target[1], target[0], sizeof(target[0]));
    if (!keel_combine_plain(&head, (char *)target[1] + begin, values + 1, has_result ? results[1] + 1 : NULL)) {
        return 0;
    }
    keel_combine(&head, (char *)target[0] + begin, values + 1, has_result ? results[0] + 1 : NULL);
    ck_assert_mem_eq(target[1], target[0], sizeof(target[0]));
    ck_assert_mem_eq(results[1], results[0], sizeof(results[0]));
    return 1;
}

START_TEST(plain_loops_combine_as_locked_instructions_do)
{
    uint64_t random = unit_seed();
    unsigned known = 0;

    for (unsigned type = 0; type < KEEL_TYPE_LAST; type++) {
        for (unsigned op = 0; op < KEEL_OP_NO_OP; op++) {
            unsigned checked = 0;

            while (checked < ROUNDS && type < KEEL_TYPE_INT16_INT32 &&
                   check_plain(op, type, &random, checked % 2 == 0)) {
                checked++;
            }
            known += checked > 0;
        }
    }
    ck_assert_uint_eq(known, 8 * 7 + 2 * 4);
}
END_TEST

/* ---- pairs ---- */

enum { PAIRS = 3, PAIR_BYTES = 16, GUARD = 16 };

/* Checks the pairs of one type, with values that are often equal. The test computes minimum and
 * maximum itself; no operation writes the bytes around the pairs. */
#define PAIR(_name, _value, _index)                                                                                    \
    static void check_##_name(unsigned op, uint64_t *random, int has_result)                                           \
    {                                                                                                                  \
        typedef struct {                                                                                               \
            _value value;                                                                                              \
            _index index;                                                                                              \
        } pair_t;                                                                                                      \
        const keel_record_accumulate_t head = {.op = (uint8_t)op, .type = KEEL_TYPE_##_name, .count = PAIRS};          \
        char target[GUARD + PAIRS * PAIR_BYTES + GUARD] __attribute__((aligned(16)));                                  \
        char before[sizeof(target)], after[sizeof(target)], result[1 + PAIRS * PAIR_BYTES];                            \
        pair_t values[PAIRS], *old = (pair_t *)(target + GUARD);                                                       \
                                                                                                                       \
        memset(target, 0x5a, sizeof(target));                                                                          \
        memset(values, 0xa5, sizeof(values));                                                                          \
        for (unsigned i = 0; i < PAIRS; i++) {                                                                         \
            const int drawn[4] = {(int)(unit_random(random) % 3) - 1, (int)(unit_random(random) % 3),                  \
                                  (int)(unit_random(random) % 3) - 1, (int)(unit_random(random) % 3)};                 \
                                                                                                                       \
            old[i].value = (_value)drawn[0];                                                                           \
            old[i].index = (_index)drawn[1];                                                                           \
            values[i].value = (_value)drawn[2];                                                                        \
            values[i].index = (_index)drawn[3];                                                                        \
        }                                                                                                              \
        memcpy(before, target, sizeof(target));                                                                        \
        memcpy(after, target, sizeof(target));                                                                         \
        for (unsigned i = 0; i < PAIRS; i++) {                                                                         \
            pair_t *want = (pair_t *)(after + GUARD) + i;                                                              \
            const int order = (values[i].value > old[i].value) - (values[i].value < old[i].value);                     \
            const int is_taken =                                                                                       \
                (op == KEEL_OP_REPLACE) || (op == KEEL_OP_MINLOC && order < 0) || (op == KEEL_OP_MAXLOC && order > 0); \
            const int is_equal = (op == KEEL_OP_MINLOC || op == KEEL_OP_MAXLOC) && order == 0;                         \
                                                                                                                       \
            want->value = is_taken ? values[i].value : old[i].value;                                                   \
            if (is_taken || (is_equal && values[i].index < old[i].index)) {                                            \
                want->index = values[i].index;                                                                         \
            }                                                                                                          \
        }                                                                                                              \
        ck_assert_uint_eq(keel_type_size(KEEL_TYPE_##_name), sizeof(pair_t));                                          \
        keel_combine(&head, target + GUARD, keel_combine_has_values(&head) ? values : NULL,                            \
                     has_result ? result + 1 : NULL);                                                                  \
        ck_assert_mem_eq(target, after, sizeof(target));                                                               \
        if (has_result) {                                                                                              \
            ck_assert_mem_eq(result + 1, before + GUARD, PAIRS * sizeof(pair_t));                                      \
        }                                                                                                              \
    }
PAIR(INT16_INT32, int16_t, int32_t)
PAIR(INT32_INT32, int32_t, int32_t)
PAIR(FLOAT_INT32, float, int32_t)
PAIR(FLOAT_FLOAT, float, float)
PAIR(INT64_INT32, int64_t, int32_t)
PAIR(DOUBLE_INT32, double, int32_t)
PAIR(DOUBLE_DOUBLE, double, double)

static void (*const pairs[])(unsigned op, uint64_t *random, int has_result) = {
    check_INT16_INT32, check_INT32_INT32,  check_FLOAT_INT32,  check_FLOAT_FLOAT,
    check_INT64_INT32, check_DOUBLE_INT32, check_DOUBLE_DOUBLE};

START_TEST(pairs_are_compared_by_value_then_by_index_and_keep_what_lies_between)
{
    uint64_t random = unit_seed();
    unsigned known = 0;

    for (unsigned type = KEEL_TYPE_INT16_INT32; type < KEEL_TYPE_LAST; type++) {
        for (unsigned op = 0; op <= KEEL_COMBINE_CSWAP; op++) {
            for (unsigned i = 0; i < ROUNDS && keel_combine_is_known(op, type); i++) {
                pairs[type - KEEL_TYPE_INT16_INT32](op, &random, i % 2 == 0);
            }
            known += keel_combine_is_known(op, type) != 0;
        }
    }
    ck_assert_uint_eq(known, 7 * 4);
    ck_assert(keel_combine_is_known(KEEL_OP_MINLOC, KEEL_TYPE_DOUBLE_INT32) &&
              keel_combine_is_known(KEEL_OP_MAXLOC, KEEL_TYPE_INT16_INT32));
}
END_TEST

START_TEST(every_operation_combines_each_element_of_every_type)
{
    uint64_t random = unit_seed();
    unsigned known = 0;

    for (unsigned type = 0; type < KEEL_TYPE_INT16_INT32; type++) {
        for (unsigned op = 0; op <= KEEL_COMBINE_CSWAP; op++) {
            for (unsigned i = 0; i < ROUNDS && keel_combine_is_known(op, type); i++) {
                check_one(op, type, &random, i % 2 == 0);
            }
            known += keel_combine_is_known(op, type) != 0;
        }
    }
    ck_assert_uint_eq(known, 8 * (KEEL_OP_NO_OP + 2) + 3 * 6 + 2 * 4);
    ck_assert(!keel_combine_is_known(KEEL_COMBINE_CSWAP + 1, 0) && !keel_combine_is_known(0, KEEL_TYPE_LAST));
}
END_TEST

/* Two threads add to shared elements, each in other blocks and single elements than the other. */
static _Alignas(16) uint32_t shared[SHARED];

static void *add_many(void *arg)
{
    const uint32_t first = *(const uint32_t *)arg;
    const keel_record_accumulate_t head = {.op = KEEL_OP_SUM, .type = KEEL_TYPE_UINT32, .count = SHARED - first};
    uint32_t values[SHARED];

    for (unsigned i = 0; i < SHARED; i++) {
        values[i] = UINT32_MAX - i; /* subtracts: nothing may be carried to the next element */
    }
    for (unsigned i = 0; i < ADDITIONS; i++) {
        keel_combine(&head, &shared[first], &values[first], NULL);
    }
    return NULL;
}

START_TEST(no_addition_of_another_thread_is_lost)
{
    uint32_t first[2] = {0, 1};
    pthread_t thread;

    memset(shared, 0, sizeof(shared));
    ck_assert_int_eq(pthread_create(&thread, NULL, add_many, &first[1]), 0);
    (void)add_many(&first[0]);
    pthread_join(thread, NULL);
    for (uint32_t i = 0; i < SHARED; i++) {
        ck_assert_uint_eq(shared[i], -(i + 1) * (i == 0 ? 1 : 2) * ADDITIONS);
    }
}
END_TEST

/* NaN differs from itself, and is replaced all the same. */
START_TEST(what_is_not_a_number_is_written_over)
{
    const keel_record_accumulate_t head = {.op = KEEL_OP_REPLACE, .type = KEEL_TYPE_DOUBLE, .count = 1};
    double element = 0.0 / 0.0, value = 2.5, result;

    keel_combine(&head, &element, &value, &result);
    ck_assert(element == value && result != result);
}
END_TEST

/* Sent pairs, as in reductions, must be equal byte by byte where their elements are equal. */
START_TEST(copies_have_nothing_that_is_nobodys)
{
    const keel_record_accumulate_t head = {.op = KEEL_OP_MINLOC, .type = KEEL_TYPE_INT16_INT32, .count = COUNT};
    struct {
        int16_t value;
        int32_t index;
    } values[COUNT];
    uint64_t copies[COUNT];

    memset(values, 0xff, sizeof(values));
    memset(copies, 0xff, sizeof(copies));
    keel_combine_copy(&head, copies, values);
    for (unsigned i = 0; i < COUNT; i++) {
        ck_assert_uint_eq(copies[i], UINT64_C(0xffffffff0000ffff));
    }
#ifdef __x86_64__
    const keel_record_accumulate_t wide = {.op = KEEL_OP_SUM, .type = KEEL_TYPE_LONG_DOUBLE, .count = 1};
    uint64_t words[3] __attribute__((aligned(16)));
    char values_anyhow[1 + sizeof(long double)];

    for (unsigned at = 0; at < 2; at++) { /* a record is aligned to 8 bytes */
        memset(values_anyhow, 0xff, sizeof(values_anyhow));
        memset(words, 0xff, sizeof(words));
        keel_combine_copy(&wide, words + at, values_anyhow + at);
        ck_assert(words[at] == UINT64_MAX && words[at + 1] == 0xffff);
    }
#endif
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {every_operation_combines_each_element_of_every_type,
                                  pairs_are_compared_by_value_then_by_index_and_keep_what_lies_between,
                                  copies_have_nothing_that_is_nobodys,
                                  no_addition_of_another_thread_is_lost,
                                  plain_loops_combine_as_locked_instructions_do,
                                  what_is_not_a_number_is_written_over,
                                  NULL};

    return unit_run("combine", tests);
}
