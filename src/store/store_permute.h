/* A permutation of the numbers below a count, computed in both directions without a table. */
#ifndef KEEL_STORE_STORE_PERMUTE_H_
#define KEEL_STORE_STORE_PERMUTE_H_

#include <stdint.h>

typedef struct keel_permutation {
    uint64_t count;
    uint64_t seed;
    unsigned half_bits; /* bits of each half of a number; 0: the identity */
} keel_permutation_t;

/* @param count     at least 1, at most 2^62 */
/* @param is_identity  nonzero: each number stays where it is */
void keel_permutation_init(keel_permutation_t *permutation, uint64_t count, uint64_t seed, int is_identity);
/* @param value  below the count */
uint64_t keel_permute(const keel_permutation_t *permutation, uint64_t value);
/* the inverse of keel_permute() */
uint64_t keel_permute_back(const keel_permutation_t *permutation, uint64_t value);

/* Spreads numbers over all 64 bits, one-to-one: the finaliser of splitmix64. */
uint64_t keel_permute_mix(uint64_t x);

#endif
