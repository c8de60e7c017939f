/*
 * A Feistel network of four rounds over pairs of halves [R IV-B]. The network permutes the numbers
 * below a power of four, which is less than four times the count. A result that is not below the
 * count is permuted again: the cycle of a number below the count returns to such a number, so the
 * walk ends, on average after less than four steps.
 */
#include "store/store_permute.h"

enum { PERMUTE_ROUNDS = 4 };

uint64_t keel_permute_mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
}

static uint64_t half_mask(const keel_permutation_t *permutation)
{
    return (1ull << permutation->half_bits) - 1;
}

static uint64_t round_of(const keel_permutation_t *permutation, unsigned round, uint64_t half)
{
    return keel_permute_mix(permutation->seed + 0x9e3779b97f4a7c15ull * (round + 1) + keel_permute_mix(half)) &
           half_mask(permutation);
}

void keel_permutation_init(keel_permutation_t *permutation, uint64_t count, uint64_t seed, int is_identity)
{
    *permutation = (keel_permutation_t){.count = count, .seed = seed};
    if (is_identity || count == 1) {
        return;
    }
    permutation->half_bits = 1;
    while ((count - 1) >> (2 * permutation->half_bits) != 0) {
        permutation->half_bits++;
    }
}

uint64_t keel_permute(const keel_permutation_t *permutation, uint64_t value)
{
    const unsigned bits = permutation->half_bits;

    if (bits == 0) {
        return value;
    }
    do {
        uint64_t high = value >> bits, low = value & half_mask(permutation);

        for (unsigned round = 0; round < PERMUTE_ROUNDS; round++) {
            const uint64_t next = high ^ round_of(permutation, round, low);

            high = low;
            low = next;
        }
        value = high << bits | low;
    } while (value >= permutation->count);
    return value;
}

uint64_t keel_permute_back(const keel_permutation_t *permutation, uint64_t value)
{
    const unsigned bits = permutation->half_bits;

    if (bits == 0) {
        return value;
    }
    do {
        uint64_t high = value >> bits, low = value & half_mask(permutation);

        for (unsigned round = PERMUTE_ROUNDS; round > 0; round--) {
            const uint64_t before = low ^ round_of(permutation, round - 1, high);

            low = high;
            high = before;
        }
        value = high << bits | low;
    } while (value >= permutation->count);
    return value;
}
