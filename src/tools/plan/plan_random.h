/*
 * The single random source of simulations: xoshiro256++ seeded by splitmix64, so that a seed
 * determines the result.
 */
#ifndef KEEL_TOOLS_PLAN_RANDOM_H_
#define KEEL_TOOLS_PLAN_RANDOM_H_

#include <stdint.h>

typedef struct keel_plan_random {
    uint64_t s[4];
} keel_plan_random_t;

static inline void keel_plan_random_seed(keel_plan_random_t *random, uint64_t seed)
{
    uint64_t z;
    int i;

    for (i = 0; i < 4; i++) {
        z = (seed += 0x9e3779b97f4a7c15ull);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
        random->s[i] = z ^ (z >> 31);
    }
}

static inline uint64_t keel_plan_random_next(keel_plan_random_t *random)
{
    uint64_t *s = random->s;
    const uint64_t sum = s[0] + s[3];
    const uint64_t result = ((sum << 23) | (sum >> 41)) + s[0];
    const uint64_t t = s[1] << 17;

    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = (s[3] << 45) | (s[3] >> 19);
    return result;
}

/* 0 .. below - 1; below is less than 2^40, so the bias is less than 2^-24 */
static inline uint64_t keel_plan_random_below(keel_plan_random_t *random, uint64_t below)
{
    return (uint64_t)(((unsigned __int128)keel_plan_random_next(random) * below) >> 64);
}

/* 0 <= x < 1 */
static inline double keel_plan_random_unit(keel_plan_random_t *random)
{
    return (double)(keel_plan_random_next(random) >> 11) * 0x1p-53;
}

#endif
