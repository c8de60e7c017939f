/* Source of randomness of the simulator and the program generator: splitmix64, equal on every
 * machine. */
#ifndef KEEL_SIM_RANDOM_H_
#define KEEL_SIM_RANDOM_H_

#include <stdint.h>

typedef struct keel_random {
    uint64_t state;
} keel_random_t;

static inline uint64_t keel_random_mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
}

static inline uint64_t keel_random_next(keel_random_t *random)
{
    random->state += 0x9e3779b97f4a7c15ull;
    return keel_random_mix(random->state);
}

/* 0 .. n-1; 0 when n is 0 */
static inline uint32_t keel_random_below(keel_random_t *random, uint32_t n)
{
    return (uint32_t)(((keel_random_next(random) >> 32) * n) >> 32);
}

/* true in @a in_1024 of 1024 cases */
static inline int keel_random_chance(keel_random_t *random, uint32_t in_1024)
{
    return (keel_random_next(random) >> 54) < in_1024;
}

/* 0 .. max, every order of magnitude equally likely */
static inline uint64_t keel_random_scaled(keel_random_t *random, uint64_t max)
{
    const unsigned bits = 64 - (unsigned)__builtin_clzll(max | 1);
    const uint64_t mask = (1ull << keel_random_below(random, bits + 1)) - 1;
    const uint64_t value = keel_random_next(random) & mask;

    return (value > max) ? max : value;
}

#endif
