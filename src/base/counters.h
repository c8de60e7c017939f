/*
 * Where the counters of a process begin. In a job all of them do at 0; a test begins them just below their ends, to see what
 * happens there (contrib/doc/protocol.md has the list).
 */
#ifndef KEEL_BASE_COUNTERS_H_
#define KEEL_BASE_COUNTERS_H_

#include <stdint.h>

typedef struct keel_counters {
    uint32_t phase;   /* gsyncs that count as passed when the program starts */
    uint32_t epoch;   /* of the put log */
    uint32_t chunk;   /* of each source in a get log */
    uint32_t request; /* for a rollback */
    uint32_t rollback;
    uint64_t change; /* of the lane's modes and mappings */
    uint64_t lock;   /* SC of each lock */
    /* numbers of each phase that count as taken when it begins: of a pair's records, and clocks */
    uint32_t records, clocks;
} keel_counters_t;

static inline uint32_t keel_larger(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

/* numbers that one phase has for the records of a pair: from 0 to before this, which itself says "none" */
static inline uint32_t keel_counters_records(const keel_counters_t *counters)
{
    return UINT32_MAX - counters->records;
}
/* the last clock of a phase: what comes after it has the same */
static inline uint32_t keel_counters_clocks(const keel_counters_t *counters)
{
    return UINT32_MAX - counters->clocks;
}

/* "none" where a phase is told. Words that others read or that are zero from the start have 1 + the phase instead, and 0 for none. */
#define KEEL_PHASE_NONE UINT32_MAX

/* the last gsync of a program; those of keel_finalize() and what one call has more of come after it */
#define KEEL_GSYNC_LAST (UINT32_MAX - 4096)

#endif
