/* Whether the accesses of a test did what was measured: the data where it was moved, outside of what is timed. */
#ifndef KEEL_PERF_CHECK_H_
#define KEEL_PERF_CHECK_H_

#include "perf_run.h"

/* all ranks, before the first access: what puts move, what gets find */
keel_status_t perf_check_fill(perf_run_t *run);
/* an initiator, before the last round: what puts move from now on */
void perf_check_renew(perf_run_t *run);
/* all ranks, after the last one: what lies in this rank's memory; an error, after a message, where it is wrong */
keel_status_t perf_check_memory(perf_run_t *run, perf_counts_t *counts);
/* an initiator of gets, after some more of them into memory that was cleared */
keel_status_t perf_check_source(const perf_run_t *run, unsigned side);
/* rank 0, of all ranks: nothing went elsewhere, no atomic was lost */
keel_status_t perf_check_sums(const perf_run_t *run, const perf_result_t *all);

#endif
