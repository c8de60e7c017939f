/*
 * Initial values of the counters of a process. In a job all begin at 0. A test begins them just
 * below their ends, to exercise the wrap-around (protocol/counters.md has the list).
 */
#ifndef KEEL_BASE_COUNTERS_H_
#define KEEL_BASE_COUNTERS_H_

#include <stdint.h>

typedef struct keel_counters {
    uint32_t phase;   /* gsyncs that count as passed when the program starts */
    uint32_t epoch;   /* epoch of the put log */
    uint32_t chunk;   /* number of the first chunk of each source in a get log */
    uint32_t request; /* number of the first request for a rollback */
    uint32_t rollback;
    uint64_t change; /* counter of changes of the lane's modes and mappings */
    uint64_t lock;   /* SC of each lock */
    /* numbers that count as used at the start of each phase: of a pair's records, and clocks */
    uint32_t records, clocks;
} keel_counters_t;

static inline uint32_t keel_larger(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

/* end of the record numbers of a phase for a pair: numbers run from 0 to below this value, which
 * itself means "none" */
static inline uint32_t keel_counters_records(const keel_counters_t *counters)
{
    return UINT32_MAX - counters->records;
}
/* last clock of a phase: all later events have the same clock */
static inline uint32_t keel_counters_clocks(const keel_counters_t *counters)
{
    return UINT32_MAX - counters->clocks;
}

/* "None" in fields for a phase. Words that other ranks read, or that are initially zero, use 1 +
 * phase instead, with 0 for none. */
#define KEEL_PHASE_NONE UINT32_MAX

/* last gsync of a program; gsyncs of keel_finalize(), and extra gsyncs of a call, follow it */
#define KEEL_GSYNC_LAST (UINT32_MAX - 4096)

#endif
