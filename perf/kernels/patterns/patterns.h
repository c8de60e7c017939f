/* Common parts of the patterns. */
#ifndef KEEL_KERNEL_PATTERNS_H_
#define KEEL_KERNEL_PATTERNS_H_

#include "../lib/kernel.h"

#include <stddef.h>

enum { PATTERNS_RANKS_MAX = 64 };

typedef struct {
    keel_context_h ctx;
    keel_win_h win;
    uint32_t rank, ranks;
    size_t own_bytes; /* bytes of the window; its last words are for the result */
    unsigned long steps;
    uint64_t step;  /* protected, like the next two */
    uint64_t done;  /* count of tasks done by this rank */
    double started; /* wall clock */
} patterns_t;

typedef struct {
    const char *name;
    uint64_t flags; /* of keel_init() */
    size_t (*bytes)(const patterns_t *run);
    keel_status_t (*step)(patterns_t *run);
    uint64_t (*flaws)(const patterns_t *run); /* flaws in this rank's memory, after all steps */
} pattern_t;

extern const pattern_t patterns[]; /* ends with a NULL name */

#endif
