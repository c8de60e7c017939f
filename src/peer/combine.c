/* Accumulates by the CPU. */
#include "peer/combine.h"

#include "peer/store.h"

#include <string.h>

/* name, type, and the unsigned type of its size */
#define COMBINE_INTEGERS(_)       \
    _(INT8, int8_t, uint8_t)      \
    _(INT16, int16_t, uint16_t)   \
    _(INT32, int32_t, uint32_t)   \
    _(INT64, int64_t, uint64_t)   \
    _(UINT8, uint8_t, uint8_t)    \
    _(UINT16, uint16_t, uint16_t) \
    _(UINT32, uint32_t, uint32_t) \
    _(UINT64, uint64_t, uint64_t)
#define COMBINE_FLOATS(_)     \
    _(FLOAT, float, uint32_t) \
    _(DOUBLE, double, uint64_t)

/* 1u keeps products of short words unsigned. */
#define COMBINE_INTEGER(_name, _type, _word)                                                   \
    static _type combine_##_name(const keel_record_accumulate_t *head, _type old, _type value) \
    {                                                                                          \
        switch (head->op) {                                                                    \
        case KEEL_OP_SUM:                                                                      \
            return (_type)(_word)((_word)old + (_word)value);                                  \
        case KEEL_OP_PROD:                                                                     \
            return (_type)(_word)(1u * (_word)old * (_word)value);                             \
        case KEEL_OP_MIN:                                                                      \
            return value < old ? value : old;                                                  \
        case KEEL_OP_MAX:                                                                      \
            return value > old ? value : old;                                                  \
        case KEEL_OP_BAND:                                                                     \
            return (_type)(old & value);                                                       \
        case KEEL_OP_BOR:                                                                      \
            return (_type)(old | value);                                                       \
        case KEEL_OP_BXOR:                                                                     \
            return (_type)(old ^ value);                                                       \
        case KEEL_OP_LAND:                                                                     \
            return (_type)(old != 0 && value != 0);                                            \
        case KEEL_OP_LOR:                                                                      \
            return (_type)(old != 0 || value != 0);                                            \
        case KEEL_OP_LXOR:                                                                     \
            return (_type)((old != 0) != (value != 0));                                        \
        case KEEL_COMBINE_CSWAP:                                                               \
            return (_word)old == (_word)head->compare ? value : old;                           \
        default:                                                                               \
            return value;                                                                      \
        }                                                                                      \
    }
COMBINE_INTEGERS(COMBINE_INTEGER)

#define COMBINE_FLOAT(_name, _type, _word)                                                     \
    static _type combine_##_name(const keel_record_accumulate_t *head, _type old, _type value) \
    {                                                                                          \
        switch (head->op) {                                                                    \
        case KEEL_OP_SUM:                                                                      \
            return old + value;                                                                \
        case KEEL_OP_PROD:                                                                     \
            return old * value;                                                                \
        case KEEL_OP_MIN:                                                                      \
            return value < old ? value : old;                                                  \
        case KEEL_OP_MAX:                                                                      \
            return value > old ? value : old;                                                  \
        default:                                                                               \
            return value;                                                                      \
        }                                                                                      \
    }
COMBINE_FLOATS(COMBINE_FLOAT)

/* Complex numbers. */
#define COMBINE_COMPLEX(_name, _type, _word)                                                   \
    static _type combine_##_name(const keel_record_accumulate_t *head, _type old, _type value) \
    {                                                                                          \
        switch (head->op) {                                                                    \
        case KEEL_OP_SUM:                                                                      \
            return old + value;                                                                \
        case KEEL_OP_PROD:                                                                     \
            return old * value;                                                                \
        default:                                                                               \
            return value;                                                                      \
        }                                                                                      \
    }
COMBINE_COMPLEX(FLOAT_COMPLEX, float _Complex, uint64_t)

/* Name, types of value and index, and the padding bits between them. */
#define COMBINE_PAIRS(_)                                   \
    _(INT16_INT32, int16_t, int32_t, UINT64_C(0xffff0000)) \
    _(INT32_INT32, int32_t, int32_t, 0)                    \
    _(FLOAT_INT32, float, int32_t, 0)                      \
    _(FLOAT_FLOAT, float, float, 0)
#define COMBINE_WIDE_PAIRS(_)                                  \
    _(INT64_INT32, int64_t, int32_t, (wide_t)UINT32_MAX << 96) \
    _(DOUBLE_INT32, double, int32_t, (wide_t)UINT32_MAX << 96) \
    _(DOUBLE_DOUBLE, double, double, 0)

#define COMBINE_PAIR(_name, _value, _index, _gap)                                                          \
    typedef struct {                                                                                       \
        _value value;                                                                                      \
        _index index;                                                                                      \
    } _name##_t;                                                                                           \
    static _name##_t combine_##_name(const keel_record_accumulate_t *head, _name##_t old, _name##_t value) \
    {                                                                                                      \
        const int is_first = value.value == old.value && value.index < old.index;                          \
                                                                                                           \
        switch (head->op) {                                                                                \
        case KEEL_OP_MINLOC:                                                                               \
            return (value.value < old.value || is_first) ? value : old;                                    \
        case KEEL_OP_MAXLOC:                                                                               \
            return (value.value > old.value || is_first) ? value : old;                                    \
        default:                                                                                           \
            return value;                                                                                  \
        }                                                                                                  \
    }
COMBINE_PAIRS(COMBINE_PAIR)

/* ---- blocks of elements ---- */

#if defined(__x86_64__) && defined(__SIZEOF_INT128__)
#define COMBINE_HAS_BLOCKS 1

typedef unsigned __int128 block_t;

static inline __attribute__((always_inline)) block_t block_load(const block_t *block)
{
    const uint64_t *words = (const uint64_t *)block;

    return __atomic_load_n(words, __ATOMIC_RELAXED) | (block_t)__atomic_load_n(words + 1, __ATOMIC_RELAXED) << 64;
}

/* Combines the elements in aligned blocks of 16 bytes, with one locked instruction for each block:
 * these instructions are most of the cost. Others may change elements by instructions of any size
 * meanwhile. All x86-64 machines since 2006 have the instruction. Sums are compiled without the
 * choice of an operation for each element. Returns the number of elements done. */
#define COMBINE_BLOCKS(_name, _type, _word, _gap, _high)                                                      \
    static inline __attribute__((always_inline, target("cx16"))) uint32_t combine_in_blocks_##_name(          \
        const keel_record_accumulate_t *head, void *target, const char *values, char *result, uint32_t count) \
    {                                                                                                         \
        enum { IN_BLOCK = sizeof(block_t) / sizeof(_type) };                                                  \
        block_t *block = target;                                                                              \
        uint32_t done;                                                                                        \
                                                                                                              \
        for (done = 0; count - done >= IN_BLOCK; done += IN_BLOCK, block++) {                                 \
            block_t seen = block_load(block), before, after;                                                  \
                                                                                                              \
            do {                                                                                              \
                before = seen;                                                                                \
                after = 0;                                                                                    \
                for (unsigned i = 0; i < IN_BLOCK; i++) {                                                     \
                    const unsigned shift = i * 8 * (unsigned)sizeof(_word);                                   \
                    const _word word = (_word)(before >> shift);                                              \
                    _type old, value;                                                                         \
                    _word bits;                                                                               \
                                                                                                              \
                    memcpy(&value, values + (done + i) * sizeof(value), sizeof(value));                       \
                    memcpy(&old, &word, sizeof(old));                                                         \
                    value = combine_##_name(head, old, value);                                                \
                    memcpy(&bits, &value, sizeof(bits));                                                      \
                    after |= (block_t)(_word)((bits & ~(_gap)) | (word & (_gap))) << shift;                   \
                }                                                                                             \
                seen = __sync_val_compare_and_swap(block, before, after);                                     \
            } while (seen != before);                                                                         \
            if (result != NULL) {                                                                             \
                memcpy(result + done * sizeof(_type), &before, sizeof(before));                               \
            }                                                                                                 \
        }                                                                                                     \
        return done;                                                                                          \
    }                                                                                                         \
    static __attribute__((noinline, target("cx16"))) uint32_t combine_blocks_##_name(                         \
        const keel_record_accumulate_t *head, void *target, const char *values, char *result, uint32_t count) \
    {                                                                                                         \
        static const keel_record_accumulate_t sum = {.op = KEEL_OP_SUM};                                      \
                                                                                                              \
        return ((_high) == 0 && head->op == KEEL_OP_SUM && result == NULL)                                    \
                   ? combine_in_blocks_##_name(&sum, target, values, NULL, count)                             \
                   : combine_in_blocks_##_name(head, target, values, result, count);                          \
    }

/* Sums of the integers in a word, without carries between them. @a high: highest bit of each. */
static inline uint64_t sum_in_word(uint64_t a, uint64_t b, uint64_t high)
{
    return ((a & ~high) + (b & ~high)) ^ ((a ^ b) & high);
}

/* Adds integers of any size in aligned blocks. Computed in registers: the locked instruction waits
 * for all stores before. Returns the number of blocks done. */
static __attribute__((noinline, target("cx16"))) uint32_t sum_blocks(block_t *block, const char *values, uint32_t count,
                                                                     uint64_t high)
{
    for (uint32_t i = 0; i < count; i++) {
        block_t seen = block_load(&block[i]), before, after;
        uint64_t low, up;

        memcpy(&low, values + i * sizeof(block_t), sizeof(low));
        memcpy(&up, values + i * sizeof(block_t) + sizeof(low), sizeof(up));
        do {
            before = seen;
            after = sum_in_word((uint64_t)before, low, high) | (block_t)sum_in_word((uint64_t)(before >> 64), up, high)
                                                                   << 64;
            seen = __sync_val_compare_and_swap(&block[i], before, after);
        } while (seen != before);
    }
    return count;
}
#define COMBINE_IS_BLOCK(_element, _count) \
    ((uintptr_t)(_element) % sizeof(block_t) == 0 && (_count) >= sizeof(block_t) / sizeof(*(_element)))
#else
#define COMBINE_BLOCKS(_name, _type, _word, _gap, _high)                                              \
    static inline uint32_t combine_blocks_##_name(const keel_record_accumulate_t *head, void *target, \
                                                  const char *values, char *result, uint32_t count)   \
    {                                                                                                 \
        (void)head, (void)target, (void)values, (void)result, (void)count;                            \
        return 0;                                                                                     \
    }
#define COMBINE_IS_BLOCK(_element, _count) 0
typedef uint64_t block_t;
static inline uint32_t sum_blocks(block_t *block, const char *values, uint32_t count, uint64_t high)
{
    (void)block, (void)values, (void)count, (void)high;
    return 0;
}
#endif

/* ---- elements of up to 8 bytes ---- */

/* A comparison covers the word around the element, so a NaN is still replaced. @a gap: bits with
 * an unchanged value. */
#define COMBINE_ARRAY_WITH(_name, _type, _word, _gap, _high)                                                         \
    COMBINE_BLOCKS(_name, _type, _word, _gap, _high)                                                                 \
    static void combine_all_##_name(const keel_record_accumulate_t *head, void *target, const char *values,          \
                                    char *result)                                                                    \
    {                                                                                                                \
        _word *const elements = target;                                                                              \
        uint32_t some;                                                                                               \
                                                                                                                     \
        KEEL_STORE_FENCE();                                                                                          \
        for (uint32_t i = 0; i < head->count; i += some) {                                                           \
            _word *element = &elements[i], before, after;                                                            \
            _type old, value;                                                                                        \
                                                                                                                     \
            if ((_high) != 0 && head->op == KEEL_OP_SUM && result == NULL &&                                         \
                COMBINE_IS_BLOCK(element, head->count - i)) {                                                        \
                some = (uint32_t)(sizeof(block_t) / sizeof(_word));                                                  \
                some *= sum_blocks((block_t *)(void *)element, values + i * sizeof(value), (head->count - i) / some, \
                                   _high);                                                                           \
                continue;                                                                                            \
            }                                                                                                        \
            if (COMBINE_IS_BLOCK(element, head->count - i) && keel_combine_has_values(head)) {                       \
                some = combine_blocks_##_name(head, element, values + i * sizeof(value),                             \
                                              result != NULL ? result + i * sizeof(value) : NULL, head->count - i);  \
                continue;                                                                                            \
            }                                                                                                        \
            some = 1;                                                                                                \
            before = __atomic_load_n(element, __ATOMIC_ACQUIRE);                                                     \
            while (keel_combine_has_values(head)) {                                                                  \
                memcpy(&value, values + i * sizeof(value), sizeof(value));                                           \
                memcpy(&old, &before, sizeof(old));                                                                  \
                value = combine_##_name(head, old, value);                                                           \
                memcpy(&after, &value, sizeof(after));                                                               \
                after = (_word)((after & ~(_gap)) | (before & (_gap)));                                              \
                if (__atomic_compare_exchange_n(element, &before, after, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {   \
                    break;                                                                                           \
                }                                                                                                    \
            }                                                                                                        \
            if (result != NULL) {                                                                                    \
                memcpy(result + i * sizeof(before), &before, sizeof(before));                                        \
            }                                                                                                        \
        }                                                                                                            \
    }
/* sum_in_word() */
#define COMBINE_HIGH(_word)                     ((UINT64_MAX / (_word)-1) << (8 * sizeof(_word) - 1))
#define COMBINE_WORD_ARRAY(_name, _type, _word) COMBINE_ARRAY_WITH(_name, _type, _word, (_word)0, COMBINE_HIGH(_word))
#define COMBINE_ARRAY(_name, _type, _word)      COMBINE_ARRAY_WITH(_name, _type, _word, (_word)0, 0)
#define COMBINE_PAIR_ARRAY(_name, _value, _index, _gap) \
    COMBINE_ARRAY_WITH(_name, _name##_t, uint64_t, (uint64_t)(_gap), 0)
COMBINE_INTEGERS(COMBINE_WORD_ARRAY)
COMBINE_FLOATS(COMBINE_ARRAY)
COMBINE_ARRAY(FLOAT_COMPLEX, float _Complex, uint64_t)
COMBINE_PAIRS(COMBINE_PAIR_ARRAY)

/* ---- elements of 16 bytes ---- */

#if defined(__x86_64__) && defined(__SIZEOF_INT128__) && __SIZEOF_LONG_DOUBLE__ == 16
#define COMBINE_HAS_WIDE 1

typedef unsigned __int128 wide_t;

COMBINE_FLOAT(LONG_DOUBLE, long double, wide_t)
COMBINE_COMPLEX(DOUBLE_COMPLEX, double _Complex, wide_t)
COMBINE_WIDE_PAIRS(COMBINE_PAIR)

/* Returns the old value, and stores @a after if the old value was @a before. All x86-64 machines
 * since 2006 have the instruction. clang compiles an inlined copy without it. */
static __attribute__((noinline, target("cx16"))) wide_t wide_exchange(wide_t *element, wide_t before, wide_t after)
{
    return __sync_val_compare_and_swap(element, before, after);
}

/* @a used: significant bytes of a value. The other bytes become 0, so that equal numbers are
 * equal words, except for the bits of @a gap, which keep their value. */
#define COMBINE_WIDE(_name, _type, _used, _gap)                                                             \
    static void combine_all_##_name(const keel_record_accumulate_t *head, void *target, const char *values, \
                                    char *result)                                                           \
    {                                                                                                       \
        wide_t *element = target;                                                                           \
                                                                                                            \
        KEEL_STORE_FENCE();                                                                                 \
        for (uint32_t i = 0; i < head->count; i++, element++) {                                             \
            wide_t before = wide_exchange(element, 0, 0), after = 0, seen;                                  \
            _type old, value;                                                                               \
                                                                                                            \
            while (keel_combine_has_values(head)) {                                                         \
                memcpy(&value, values + i * sizeof(value), sizeof(value));                                  \
                memcpy(&old, &before, sizeof(old));                                                         \
                value = combine_##_name(head, old, value);                                                  \
                memcpy(&after, &value, _used);                                                              \
                after = (after & ~(wide_t)(_gap)) | (before & (wide_t)(_gap));                              \
                seen = wide_exchange(element, before, after);                                               \
                if (seen == before) {                                                                       \
                    break;                                                                                  \
                }                                                                                           \
                before = seen;                                                                              \
            }                                                                                               \
            if (result != NULL) {                                                                           \
                memcpy(result + i * sizeof(before), &before, sizeof(before));                               \
            }                                                                                               \
        }                                                                                                   \
    }
#define COMBINE_WIDE_PAIR(_name, _value, _index, _gap) COMBINE_WIDE(_name, _name##_t, sizeof(_name##_t), _gap)
COMBINE_WIDE(LONG_DOUBLE, long double, 10, 0)
COMBINE_WIDE(DOUBLE_COMPLEX, double _Complex, 16, 0)
COMBINE_WIDE_PAIRS(COMBINE_WIDE_PAIR)
#endif

enum combine_kind { COMBINE_KIND_INTEGER, COMBINE_KIND_FLOAT, COMBINE_KIND_COMPLEX, COMBINE_KIND_PAIR };

static const struct {
    void (*all)(const keel_record_accumulate_t *head, void *target, const char *values, char *result);
    uint8_t size, kind;
} combine_types[KEEL_TYPE_LAST] = {
#define COMBINE_ROW(_name, _type, _word) \
    [KEEL_TYPE_##_name] = {combine_all_##_name, sizeof(_type), COMBINE_KIND_INTEGER},
    COMBINE_INTEGERS(COMBINE_ROW)
#undef COMBINE_ROW
#define COMBINE_ROW(_name, _value, _index, _gap) [KEEL_TYPE_##_name] = {combine_all_##_name, 8, COMBINE_KIND_PAIR},
        COMBINE_PAIRS(COMBINE_ROW)
#undef COMBINE_ROW
#define COMBINE_ROW(_name, _type, _word) [KEEL_TYPE_##_name] = {combine_all_##_name, sizeof(_type), COMBINE_KIND_FLOAT},
            COMBINE_FLOATS(COMBINE_ROW)
#undef COMBINE_ROW
                [KEEL_TYPE_FLOAT_COMPLEX] = {combine_all_FLOAT_COMPLEX, 8, COMBINE_KIND_COMPLEX},
#ifdef COMBINE_HAS_WIDE
    [KEEL_TYPE_LONG_DOUBLE] = {combine_all_LONG_DOUBLE, 16, COMBINE_KIND_FLOAT},
    [KEEL_TYPE_DOUBLE_COMPLEX] = {combine_all_DOUBLE_COMPLEX, 16, COMBINE_KIND_COMPLEX},
    [KEEL_TYPE_INT64_INT32] = {combine_all_INT64_INT32, 16, COMBINE_KIND_PAIR},
    [KEEL_TYPE_DOUBLE_INT32] = {combine_all_DOUBLE_INT32, 16, COMBINE_KIND_PAIR},
    [KEEL_TYPE_DOUBLE_DOUBLE] = {combine_all_DOUBLE_DOUBLE, 16, COMBINE_KIND_PAIR},
#else
    [KEEL_TYPE_LONG_DOUBLE] = {NULL, 16, COMBINE_KIND_FLOAT},
    [KEEL_TYPE_DOUBLE_COMPLEX] = {NULL, 16, COMBINE_KIND_COMPLEX},
    [KEEL_TYPE_INT64_INT32] = {NULL, 16, COMBINE_KIND_PAIR},
    [KEEL_TYPE_DOUBLE_INT32] = {NULL, 16, COMBINE_KIND_PAIR},
    [KEEL_TYPE_DOUBLE_DOUBLE] = {NULL, 16, COMBINE_KIND_PAIR},
#endif
};

size_t keel_type_size(keel_type_t type)
{
    return ((unsigned)type < KEEL_TYPE_LAST) ? combine_types[type].size : 0;
}

int keel_combine_is_known(unsigned op, unsigned type)
{
    if (type >= KEEL_TYPE_LAST || op > KEEL_COMBINE_CSWAP || combine_types[type].all == NULL) {
        return 0;
    }
    if (op == KEEL_OP_REPLACE || op == KEEL_OP_NO_OP) {
        return 1;
    }
    switch (combine_types[type].kind) {
    case COMBINE_KIND_INTEGER:
        return op != KEEL_OP_MINLOC && op != KEEL_OP_MAXLOC;
    case COMBINE_KIND_FLOAT:
        return op <= KEEL_OP_MAX;
    case COMBINE_KIND_COMPLEX:
        return op <= KEEL_OP_PROD;
    default:
        return op == KEEL_OP_MINLOC || op == KEEL_OP_MAXLOC;
    }
}

void keel_combine(const keel_record_accumulate_t *head, void *target, const void *values, void *result)
{
    combine_types[head->type].all(head, target, values, result);
}

/* The accumulate as additions of unsigned words. */
static keel_record_accumulate_t combine_additions(const keel_record_accumulate_t *head)
{
    const size_t size = combine_types[head->type].size;
    const keel_type_t type = (size == 1)   ? KEEL_TYPE_UINT8
                             : (size == 2) ? KEEL_TYPE_UINT16
                             : (size == 4) ? KEEL_TYPE_UINT32
                                           : KEEL_TYPE_UINT64;

    return (keel_record_accumulate_t){
        .op = KEEL_OP_SUM, .type = (uint8_t)type, .count = head->count * (uint32_t)(size == 16 ? 2 : 1)};
}

void keel_combine_logged(const keel_record_accumulate_t *head, void *target, const void *values)
{
    const keel_record_accumulate_t additions = combine_additions(head);

    keel_combine((head->is_changed && !KEEL_PLANT(apply_change_again)) ? &additions : head, target, values, NULL);
}

void keel_combine_change(keel_record_accumulate_t *head, void *values, const void *old, void *room)
{
    const keel_record_accumulate_t additions = combine_additions(head);
    const size_t size = combine_types[additions.type].size;
    char *change = values;

    memcpy(room, old, keel_combine_bytes(head));
    keel_combine(head, room, values, NULL);
    for (size_t at = 0; at < additions.count * size; at += size) {
        uint64_t before = 0, after = 0;

        memcpy(&before, (const char *)old + at, size);
        memcpy(&after, (const char *)room + at, size);
        after -= before;
        memcpy(change + at, &after, size); /* little-endian */
    }
    head->is_changed = 1;
}

void keel_combine_copy(const keel_record_accumulate_t *head, void *to, const void *values)
{
    const size_t size = combine_types[head->type].size;
    const keel_record_accumulate_t one = {.op = KEEL_OP_REPLACE, .type = head->type, .count = 1};
    _Alignas(16) char element[16];

    if (combine_types[head->type].kind != COMBINE_KIND_PAIR && head->type != KEEL_TYPE_LONG_DOUBLE) {
        memcpy(to, values, keel_combine_bytes(head));
        return;
    }
    for (uint32_t i = 0; i < head->count; i++) { /* the destination is not aligned */
        memset(element, 0, sizeof(element));
        keel_combine(&one, element, (const char *)values + i * size, NULL);
        memcpy((char *)to + i * size, element, size);
    }
}
