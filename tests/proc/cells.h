/* What a phase may contain: one row of contrib/doc/deaths.md each. */
#ifndef KEEL_TEST_CELLS_H_
#define KEEL_TEST_CELLS_H_

#include <keel/keel.h>

enum { CELLS_SOURCE = 1, CELLS_TARGET = 2, CELLS_RANKS = 4, CELLS_WORDS = 40, CELLS_PARTS = 2, CELLS_PIECE = 64 };

typedef struct {
    uint64_t count, drawn;                   /* by atomics */
    uint64_t flag[CELLS_RANKS];              /* a source's */
    uint64_t word[CELLS_RANKS][CELLS_WORDS]; /* a source's */
    double sum[CELLS_WORDS];                 /* by accumulates */
    _Alignas(16) long double wide;           /* likewise */
    uint64_t own[CELLS_WORDS];               /* stored by the owner, between gsyncs */
    _Alignas(64) uint8_t group[4096];
} cells_memory_t;

typedef struct {
    keel_context_h ctx;
    keel_win_h win;
    keel_group_h group;
    uint32_t rank;
    uint64_t step, sum; /* protected; the sum of what was fetched */
} cells_job_t;

/* Ranks 0 and 1 access rank 2, and 3 accesses 0, in two parts of each step; where a kind needs it, their targets wait in as many. */
typedef struct {
    const char *name;
    uint64_t flags; /* of keel_init() */
    int has_no_gsync;
    keel_status_t (*access)(cells_job_t *job, uint32_t target, uint64_t part);
    keel_status_t (*await)(cells_job_t *job, uint32_t source, uint64_t part); /* may be NULL */
    /* may be NULL: after the step's last gsync, at rank 0 or 2; how many sources it has */
    int (*is_right)(const cells_job_t *job, const cells_memory_t *own, uint64_t sources);
} cells_kind_t;

const cells_kind_t *cells_kind(const char *name); /* NULL: there is none */

/* rank's value of a part of a step, never the same twice */
static inline uint64_t cells_value(uint32_t rank, uint64_t step, uint64_t part)
{
    return (step * CELLS_PARTS + part) * 8 + rank + 1;
}

#endif
