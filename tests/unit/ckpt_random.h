/*
 * Random numbers for the tests of src/ckpt: CKPT_SEED in the environment selects the seed, or
 * repeats a run.
 */
#ifndef KEEL_TESTS_CKPT_RANDOM_H_
#define KEEL_TESTS_CKPT_RANDOM_H_

#include "unit_rounds.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static inline uint64_t ckpt_random(uint64_t *state) /* splitmix64 */
{
    uint64_t z = *state += 0x9e3779b97f4a7c15ull;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

static inline uint64_t ckpt_below(uint64_t *state, uint64_t bound)
{
    return ckpt_random(state) % bound;
}

static inline void ckpt_fill(uint64_t *state, void *memory, size_t length)
{
    uint8_t *bytes = memory;

    for (size_t i = 0; i < length; i++) {
        bytes[i] = i % 8 == 0 ? (uint8_t)ckpt_random(state) : (uint8_t)(bytes[i - 1] * 167 + 13);
    }
}

/* Prints the seed of the run, so that a failure can be repeated. */
static inline uint64_t ckpt_seed(const char *test)
{
    const char *given = getenv("CKPT_SEED");
    const uint64_t seed = given != NULL ? strtoull(given, NULL, 0) : 1;

    printf("%s: CKPT_SEED=%llu\n", test, (unsigned long long)seed);
    fflush(stdout);
    return seed;
}

#endif
