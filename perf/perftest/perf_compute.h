/* What follows from numbers alone: percentiles, ratios, and how accesses are cut into blocks. */
#ifndef KEEL_PERF_COMPUTE_H_
#define KEEL_PERF_COMPUTE_H_

#include "perf_plan.h"

typedef struct perf_schedule {
    unsigned long block, pairs; /* accesses a block; blocks of a side a round */
    unsigned long most;         /* accesses between two checkpoints */
    unsigned long ckpt_every;   /* pairs between two checkpoints */
} perf_schedule_t;

/* The smallest of the values that at least @a rank percent of them do not exceed, as perf/lib has it: of an even number the
 * lower one of the two in the middle is the median. Sorts them. */
double perf_percentile(double *values, size_t count, double rank);
/* of each round, from the ns an access of both sides: of latencies Keel's time / the other's, else Keel's rate / the other's */
void perf_ratios_make(const double *keel_ns, const double *peer_ns, unsigned long rounds, int is_latency,
                      double *ratios);
/* @a test: accesses a flush become fewer where the logs would not hold them, warm-up becomes a multiple of them */
void perf_schedule_make(perf_test_t *test, unsigned long log_bytes, perf_schedule_t *schedule);

#endif
