/* The possible contents of a phase, each a row of contrib/doc/deaths.md. */
#ifndef KEEL_TEST_CELLS_H_
#define KEEL_TEST_CELLS_H_

#include <keel/keel.h>

enum { CELLS_SOURCE = 1, CELLS_TARGET = 2, CELLS_RANKS = 4, CELLS_WORDS = 40, CELLS_PARTS = 2, CELLS_PIECE = 64 };

typedef struct {
    uint64_t count, drawn;                   /* changed by atomics */
    uint64_t flag[CELLS_RANKS];              /* put by each source */
    uint64_t word[CELLS_RANKS][CELLS_WORDS]; /* put by each source */
    double sum[CELLS_WORDS];                 /* changed by accumulates */
    _Alignas(16) long double wide;           /* changed by accumulates */
    uint64_t own[CELLS_WORDS];               /* stored by the owner, between gsyncs */
    _Alignas(64) uint8_t group[4096];
} cells_memory_t;

typedef struct cells_job cells_job_t;
struct cells_job {
    keel_context_h ctx;
    keel_win_h win;
    keel_group_h group;
    const uint32_t *targets; /* target of each rank; CELLS_RANKS: none */
    uint32_t rank;
    uint64_t step, sum; /* protected; sum: of the fetched values */
    /* called between two polls of another rank's word; may be NULL */
    keel_status_t (*pause)(cells_job_t *job);
};

/* Ranks access their targets in two parts of each step. If the kind requires it, the targets wait
 * in the same number of parts. */
typedef struct {
    const char *name;
    uint64_t flags; /* flags of keel_init() */
    int has_no_gsync;
    keel_status_t (*access)(cells_job_t *job, uint32_t target, uint64_t part);
    keel_status_t (*await)(cells_job_t *job, uint32_t source, uint64_t part); /* may be NULL */
    /* called after the step's last gsync, at a rank with one or more sources */
    int (*is_right)(const cells_job_t *job, const cells_memory_t *own, uint64_t sources);
} cells_kind_t;

const cells_kind_t *cells_kind(const char *name); /* NULL: no such kind */
uint64_t cells_sources(const cells_job_t *job);   /* number of ranks with this target */
/* Allocates the window and the group, and protects the state. Precondition: context, rank and
 * targets are set. */
keel_status_t cells_open(cells_job_t *job);
/* Runs the next step, with a checkpoint at the end if @a saves. Calls between() after each part,
 * before the next. */
keel_status_t cells_step(cells_job_t *job, const cells_kind_t *kind, int saves,
                         void (*between)(void *arg, cells_job_t *job, uint64_t part), void *arg);
/* True if all accesses have arrived. */
int cells_is_right(const cells_job_t *job, const cells_kind_t *kind);

static inline int cells_is_source(const cells_job_t *job, uint32_t rank)
{
    return job->targets[rank] == job->rank;
}

/* The rank's value of a part of a step; unique. */
static inline uint64_t cells_value(uint32_t rank, uint64_t step, uint64_t part)
{
    return (step * CELLS_PARTS + part) * 8 + rank + 1;
}

#endif
