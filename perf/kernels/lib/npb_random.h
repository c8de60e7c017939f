/*
 * The generator of the NAS Parallel Benchmarks: x' = 5^13 x modulo 2^46. Products wrap at 2^64, a
 * multiple of 2^46.
 */
#ifndef KEEL_KERNEL_NPB_RANDOM_H_
#define KEEL_KERNEL_NPB_RANDOM_H_

#include <stdint.h>

#define NPB_RANDOM_SEED 314159265ull
#define NPB_RANDOM_STEP 1220703125ull
#define NPB_RANDOM_MASK ((1ull << 46) - 1)

/* In (0, 1) */
static inline double npb_random_next(uint64_t *state)
{
    *state = (*state * NPB_RANDOM_STEP) & NPB_RANDOM_MASK;
    return (double)*state * 0x1p-46;
}

#endif
