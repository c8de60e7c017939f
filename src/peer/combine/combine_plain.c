/*
 * Accumulates by plain loads and stores. The loops work on vectors of 16 bytes, for which all
 * compilers use the vector instructions of the baseline. No element lies in two vectors.
 */
#include "peer/combine/combine_plain.h"

#include "peer/combine.h"
#include "peer/store.h"

#include <string.h>

#define PLAIN_BLOCK 16u /* bytes */

typedef void (*plain_t)(char *target, const char *values, char *result, size_t bytes);

/* @a _combined: the new elements, of the vectors `old` and `value`. */
#define PLAIN_LOOP(_name, _type, _combined)                                                                         \
    static inline                                                                                                   \
        __attribute__((always_inline)) void block_##_name(char *to, const char *values, char *result, size_t bytes) \
    {                                                                                                               \
        typedef _type vector_t __attribute__((vector_size(PLAIN_BLOCK)));                                           \
        vector_t old = {0}, value = {0};                                                                            \
                                                                                                                    \
        memcpy(&old, to, bytes);                                                                                    \
        memcpy(&value, values, bytes);                                                                              \
        if (result != NULL) {                                                                                       \
            memcpy(result, &old, bytes);                                                                            \
        }                                                                                                           \
        value = (_combined);                                                                                        \
        memcpy(to, &value, bytes);                                                                                  \
    }                                                                                                               \
    static void plain_##_name(char *target, const char *values, char *result, size_t bytes)                         \
    {                                                                                                               \
        size_t at = 0;                                                                                              \
                                                                                                                    \
        for (; bytes - at >= PLAIN_BLOCK && result == NULL; at += PLAIN_BLOCK) {                                    \
            block_##_name(target + at, values + at, NULL, PLAIN_BLOCK);                                             \
        }                                                                                                           \
        for (; bytes - at >= PLAIN_BLOCK; at += PLAIN_BLOCK) {                                                      \
            block_##_name(target + at, values + at, result + at, PLAIN_BLOCK);                                      \
        }                                                                                                           \
        if (at < bytes) {                                                                                           \
            block_##_name(target + at, values + at, (result != NULL) ? result + at : NULL, bytes - at);             \
        }                                                                                                           \
    }

#define PLAIN_CHOICE(_is_value, _mask) \
    (vector_t)(((_mask)value & (_mask)(_is_value)) | ((_mask)old & ~(_mask)(_is_value)))

/* Sums of signed and unsigned words are alike. Words of a mask have the size of the elements. */
#define PLAIN_WORDS(_bits)                                                             \
    typedef uint##_bits##_t mask_##_bits __attribute__((vector_size(PLAIN_BLOCK)));    \
    PLAIN_LOOP(sum_##_bits, uint##_bits##_t, old + value)                              \
    PLAIN_LOOP(min_u##_bits, uint##_bits##_t, PLAIN_CHOICE(value < old, mask_##_bits)) \
    PLAIN_LOOP(max_u##_bits, uint##_bits##_t, PLAIN_CHOICE(value > old, mask_##_bits)) \
    PLAIN_LOOP(min_i##_bits, int##_bits##_t, PLAIN_CHOICE(value < old, mask_##_bits))  \
    PLAIN_LOOP(max_i##_bits, int##_bits##_t, PLAIN_CHOICE(value > old, mask_##_bits))
PLAIN_WORDS(8)
PLAIN_WORDS(16)
PLAIN_WORDS(32)
PLAIN_WORDS(64)
PLAIN_LOOP(and, uint64_t, old &value)
PLAIN_LOOP(or, uint64_t, old | value)
PLAIN_LOOP(xor, uint64_t, old ^ value)
PLAIN_LOOP(replace, uint64_t, value)
PLAIN_LOOP(sum_float, float, old + value)
PLAIN_LOOP(min_float, float, PLAIN_CHOICE(value < old, mask_32))
PLAIN_LOOP(max_float, float, PLAIN_CHOICE(value > old, mask_32))
PLAIN_LOOP(sum_double, double, old + value)
PLAIN_LOOP(min_double, double, PLAIN_CHOICE(value < old, mask_64))
PLAIN_LOOP(max_double, double, PLAIN_CHOICE(value > old, mask_64))

#define PLAIN_OF_WORDS(_bits)                                                                \
    [KEEL_TYPE_INT##_bits] = {plain_sum_##_bits, plain_min_i##_bits, plain_max_i##_bits, 1}, \
    [KEEL_TYPE_UINT##_bits] = {plain_sum_##_bits, plain_min_u##_bits, plain_max_u##_bits, 1}

static const struct {
    plain_t sum, min, max;
    int is_integer;
} plain_types[KEEL_TYPE_LAST] = {
    PLAIN_OF_WORDS(8),
    PLAIN_OF_WORDS(16),
    PLAIN_OF_WORDS(32),
    PLAIN_OF_WORDS(64),
    [KEEL_TYPE_FLOAT] = {plain_sum_float, plain_min_float, plain_max_float, 0},
    [KEEL_TYPE_DOUBLE] = {plain_sum_double, plain_min_double, plain_max_double, 0},
};

static plain_t plain_loop(unsigned op, unsigned type)
{
    const int is_integer = plain_types[type].is_integer;

    switch (op) {
    case KEEL_OP_SUM:
        return plain_types[type].sum;
    case KEEL_OP_MIN:
        return plain_types[type].min;
    case KEEL_OP_MAX:
        return plain_types[type].max;
    case KEEL_OP_BAND:
        return is_integer ? plain_and : NULL;
    case KEEL_OP_BOR:
        return is_integer ? plain_or : NULL;
    case KEEL_OP_BXOR:
        return is_integer ? plain_xor : NULL;
    case KEEL_OP_REPLACE:
        return (plain_types[type].sum != NULL) ? plain_replace : NULL;
    default:
        return NULL;
    }
}

int keel_combine_plain(const keel_record_accumulate_t *head, char *target, const char *values, char *result)
{
    const plain_t loop = plain_loop(head->op, head->type);
    const size_t bytes = (size_t)keel_combine_bytes(head);

    if (loop == NULL) {
        return 0;
    }
    KEEL_HOLD(target, bytes, KEEL_STORED_PLAIN);
    loop(target, values, result, bytes);
    KEEL_STORES();
    return 1;
}
