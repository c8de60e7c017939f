/* Pure computations: percentiles, ratios, and the division of accesses into blocks. */
#ifndef KEEL_PERF_COMPUTE_H_
#define KEEL_PERF_COMPUTE_H_

#include "perf_plan.h"

typedef struct perf_schedule {
    unsigned long block, pairs; /* accesses per block; blocks of a side per round */
    unsigned long most;         /* accesses between two checkpoints */
    unsigned long ckpt_every;   /* pairs between two checkpoints */
} perf_schedule_t;

/*
 * The smallest value not exceeded by at least @a rank percent of the values, as in perf/lib: with
 * an even count the lower of both middle values is the median. Sorts the values.
 */
double perf_percentile(double *values, size_t count, double rank);
/*
 * The ratio of each round, from the ns per access of both sides: Keel's time / the peer's for
 * latencies, else Keel's rate / the peer's.
 */
void perf_ratios_make(const double *keel_ns, const double *peer_ns, unsigned long rounds, int is_latency,
                      double *ratios);
/*
 * @a test: reduces the accesses per flush if the logs would not hold them, and rounds the warm-up
 * to a multiple of them.
 */
void perf_schedule_make(perf_test_t *test, unsigned long log_bytes, perf_schedule_t *schedule);

#endif
