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

typedef struct cells_job cells_job_t;
struct cells_job {
    keel_context_h ctx;
    keel_win_h win;
    keel_group_h group;
    const uint32_t *targets; /* of each rank; CELLS_RANKS: it accesses none */
    uint32_t rank;
    uint64_t step, sum; /* protected; the sum of what was fetched */
    /* between two looks at what another has; may be NULL */
    keel_status_t (*pause)(cells_job_t *job);
};

/* Ranks access their targets in two parts of each step; where a kind needs it, the targets wait in as many. */
typedef struct {
    const char *name;
    uint64_t flags; /* of keel_init() */
    int has_no_gsync;
    keel_status_t (*access)(cells_job_t *job, uint32_t target, uint64_t part);
    keel_status_t (*await)(cells_job_t *job, uint32_t source, uint64_t part); /* may be NULL */
    /* after the step's last gsync, at a rank that has so many sources, one or more */
    int (*is_right)(const cells_job_t *job, const cells_memory_t *own, uint64_t sources);
} cells_kind_t;

const cells_kind_t *cells_kind(const char *name); /* NULL: there is none */
uint64_t cells_sources(const cells_job_t *job);   /* how many ranks access this one */
/* window, group and what is protected: the context, the rank and the targets are known */
keel_status_t cells_open(cells_job_t *job);
/* the next one, which an image ends if it @a saves; between() after each part, before the next */
keel_status_t cells_step(cells_job_t *job, const cells_kind_t *kind, int saves,
                         void (*between)(void *arg, cells_job_t *job, uint64_t part), void *arg);
/* where all that was accessed has come */
int cells_is_right(const cells_job_t *job, const cells_kind_t *kind);

static inline int cells_is_source(const cells_job_t *job, uint32_t rank)
{
    return job->targets[rank] == job->rank;
}

/* rank's value of a part of a step, never the same twice */
static inline uint64_t cells_value(uint32_t rank, uint64_t step, uint64_t part)
{
    return (step * CELLS_PARTS + part) * 8 + rank + 1;
}

#endif
