/* Comparison of words in the caller's own windows, for waits and tests. */
#include "order/compare.h"

uint64_t keel_word_load(const void *word, size_t size)
{
    switch (size) {
    case 1:
        return __atomic_load_n((const uint8_t *)word, __ATOMIC_ACQUIRE);
    case 2:
        return __atomic_load_n((const uint16_t *)word, __ATOMIC_ACQUIRE);
    case 4:
        return __atomic_load_n((const uint32_t *)word, __ATOMIC_ACQUIRE);
    default:
        return __atomic_load_n((const uint64_t *)word, __ATOMIC_ACQUIRE);
    }
}

int keel_word_compares(uint64_t word, size_t size, keel_compare_t compare, uint64_t whole_value)
{
    /* Both operands are words of @a size bytes: a negative value may be given in 64 bits. */
    const unsigned shift = 64 - 8 * (unsigned)size;
    const uint64_t value = whole_value << shift >> shift;
    const int64_t is = (int64_t)(word << shift) >> shift, wanted = (int64_t)(value << shift) >> shift;

    switch (compare) {
    case KEEL_COMPARE_EQ:
        return word == value;
    case KEEL_COMPARE_NE:
        return word != value;
    case KEEL_COMPARE_GT:
        return word > value;
    case KEEL_COMPARE_GE:
        return word >= value;
    case KEEL_COMPARE_LT:
        return word < value;
    case KEEL_COMPARE_LE:
        return word <= value;
    case KEEL_COMPARE_GT_SIGNED:
        return is > wanted;
    case KEEL_COMPARE_GE_SIGNED:
        return is >= wanted;
    case KEEL_COMPARE_LT_SIGNED:
        return is < wanted;
    case KEEL_COMPARE_LE_SIGNED:
        return is <= wanted;
    case KEEL_COMPARE_ANY_BIT:
        return (word & value) != 0;
    case KEEL_COMPARE_ALL_BITS:
        return (word & value) == value;
    default:
        return (word & value) == 0;
    }
}
