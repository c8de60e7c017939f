#include "rma/mpi_op.h"

#include <string.h>

/* a second version of each loop for processors with wider vectors */
#if defined(__x86_64__) && defined(__gnu_linux__) && !defined(__clang__)
#define WIDE __attribute__((target_clones("avx2", "default")))
#else
#define WIDE
#endif

typedef void (*combine_t)(void *into, const void *from, size_t count);

/* Elements may have any alignment, both in the window and in the origin's buffer. */
#define LOOP(_op, _name, _type, _what)                                         \
    typedef _type _op##_##_name##_t __attribute__((aligned(1), may_alias));    \
    WIDE static void _op##_##_name(void *into, const void *from, size_t count) \
    {                                                                          \
        _op##_##_name##_t *all = into;                                         \
        const _op##_##_name##_t *others = from;                                \
                                                                               \
        for (size_t i = 0; i < count; i++) {                                   \
            const _type a = others[i], b = all[i];                             \
                                                                               \
            all[i] = (_type)(_what);                                           \
        }                                                                      \
    }

/* Sums and products of integers wrap, so signed types use unsigned words; 1u keeps products of
 * short words unsigned. */
#define WORDS(_)        \
    _(word8, uint8_t)   \
    _(word16, uint16_t) \
    _(word32, uint32_t) \
    _(word64, uint64_t)
#define REALS(_)      \
    _(float, float)   \
    _(double, double) \
    _(long_double, long double)
#define COMPLEX(_)                   \
    _(float_complex, float _Complex) \
    _(double_complex, double _Complex)
#define ORDERED(_)      \
    _(int8, int8_t)     \
    _(int16, int16_t)   \
    _(int32, int32_t)   \
    _(int64, int64_t)   \
    _(uint8, uint8_t)   \
    _(uint16, uint16_t) \
    _(uint32, uint32_t) \
    _(uint64, uint64_t) \
    REALS(_)
#define SUM(_name, _type)          LOOP(sum, _name, _type, a + b)
#define PRODUCT(_name, _type)      LOOP(product, _name, _type, a *b)
#define WORD_PRODUCT(_name, _type) LOOP(product, _name, _type, 1u * a * b)
#define MIN(_name, _type)          LOOP(min, _name, _type, a < b ? a : b)
#define MAX(_name, _type)          LOOP(max, _name, _type, a > b ? a : b)
#define BAND(_name, _type)         LOOP(band, _name, _type, a &b)
#define BOR(_name, _type)          LOOP(bor, _name, _type, a | b)
#define BXOR(_name, _type)         LOOP(bxor, _name, _type, a ^ b)
WORDS(SUM)
REALS(SUM)
COMPLEX(SUM)
WORDS(WORD_PRODUCT)
REALS(PRODUCT)
COMPLEX(PRODUCT)
ORDERED(MIN)
ORDERED(MAX)
WORDS(BAND)
WORDS(BOR)
WORDS(BXOR)

enum { SUMS, PRODUCTS, MINS, MAXS, BANDS, BORS, BXORS, OPS };

#define INTEGERS_DO(_name, _word)                                                                       \
    {                                                                                                   \
        sum_##_word, product_##_word, min_##_name, max_##_name, band_##_word, bor_##_word, bxor_##_word \
    }
static const combine_t combines[KEEL_MPI_KINDS][OPS] = {
    [KEEL_MPI_INT8] = INTEGERS_DO(int8, word8),
    [KEEL_MPI_UINT8] = INTEGERS_DO(uint8, word8),
    [KEEL_MPI_INT16] = INTEGERS_DO(int16, word16),
    [KEEL_MPI_UINT16] = INTEGERS_DO(uint16, word16),
    [KEEL_MPI_INT32] = INTEGERS_DO(int32, word32),
    [KEEL_MPI_UINT32] = INTEGERS_DO(uint32, word32),
    [KEEL_MPI_INT64] = INTEGERS_DO(int64, word64),
    [KEEL_MPI_UINT64] = INTEGERS_DO(uint64, word64),
    [KEEL_MPI_FLOAT] = {sum_float, product_float, min_float, max_float},
    [KEEL_MPI_DOUBLE] = {sum_double, product_double, min_double, max_double},
    [KEEL_MPI_LONG_DOUBLE] = {sum_long_double, product_long_double, min_long_double, max_long_double},
    [KEEL_MPI_FLOAT_COMPLEX] = {sum_float_complex, product_float_complex},
    [KEEL_MPI_DOUBLE_COMPLEX] = {sum_double_complex, product_double_complex},
};

int keel_mpi_op_apply(keel_mpi_kind_t kind, MPI_Op op, void *into, const void *from, size_t count)
{
    const int which = (op == MPI_SUM)    ? SUMS
                      : (op == MPI_PROD) ? PRODUCTS
                      : (op == MPI_MIN)  ? MINS
                      : (op == MPI_MAX)  ? MAXS
                      : (op == MPI_BAND) ? BANDS
                      : (op == MPI_BOR)  ? BORS
                      : (op == MPI_BXOR) ? BXORS
                                         : OPS;

    if (which == OPS || combines[kind][which] == NULL) {
        return 0;
    }
    if (into != NULL) {
        combines[kind][which](into, from, count);
    }
    return 1;
}
