/* Accumulates as the CPU does them. */
#include "peer/combine.h"

#include "peer/store.h"

#include <string.h>

/* name, type, and the unsigned one of its size */
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

/* 1u: products of short words are no signed ones */
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

/* an element is compared as the word that it lies in, so a number that is none does not keep it from being written */
#define COMBINE_ARRAY(_name, _type, _word)                                                                         \
    static void combine_all_##_name(const keel_record_accumulate_t *head, void *target, const char *values,        \
                                    char *result)                                                                  \
    {                                                                                                              \
        _word *element = target;                                                                                   \
                                                                                                                   \
        KEEL_STORE_FENCE();                                                                                        \
        for (uint32_t i = 0; i < head->count; i++, element++) {                                                    \
            _word before = __atomic_load_n(element, __ATOMIC_ACQUIRE), after;                                      \
            _type old, value;                                                                                      \
                                                                                                                   \
            while (keel_combine_has_values(head)) {                                                                \
                memcpy(&value, values + i * sizeof(value), sizeof(value));                                         \
                memcpy(&old, &before, sizeof(old));                                                                \
                value = combine_##_name(head, old, value);                                                         \
                memcpy(&after, &value, sizeof(after));                                                             \
                if (__atomic_compare_exchange_n(element, &before, after, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) { \
                    break;                                                                                         \
                }                                                                                                  \
            }                                                                                                      \
            if (result != NULL) {                                                                                  \
                memcpy(result + i * sizeof(before), &before, sizeof(before));                                      \
            }                                                                                                      \
        }                                                                                                          \
    }
COMBINE_INTEGERS(COMBINE_ARRAY)
COMBINE_FLOATS(COMBINE_ARRAY)

static const struct {
    void (*all)(const keel_record_accumulate_t *head, void *target, const char *values, char *result);
    uint8_t size, is_float;
} combine_types[KEEL_TYPE_LAST] = {
#define COMBINE_ROW(_name, _type, _word) [KEEL_TYPE_##_name] = {combine_all_##_name, sizeof(_type), 0},
    COMBINE_INTEGERS(COMBINE_ROW)
#undef COMBINE_ROW
#define COMBINE_ROW(_name, _type, _word) [KEEL_TYPE_##_name] = {combine_all_##_name, sizeof(_type), 1},
        COMBINE_FLOATS(COMBINE_ROW)
#undef COMBINE_ROW
};

size_t keel_type_size(keel_type_t type)
{
    return ((unsigned)type < KEEL_TYPE_LAST) ? combine_types[type].size : 0;
}

int keel_combine_is_known(unsigned op, unsigned type)
{
    if (type >= KEEL_TYPE_LAST || op > KEEL_COMBINE_CSWAP) {
        return 0;
    }
    return !combine_types[type].is_float || op <= KEEL_OP_MAX || op == KEEL_OP_REPLACE || op == KEEL_OP_NO_OP;
}

void keel_combine(const keel_record_accumulate_t *head, void *target, const void *values, void *result)
{
    combine_types[head->type].all(head, target, values, result);
}
