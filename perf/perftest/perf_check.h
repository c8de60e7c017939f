/* Checks that the measured accesses took effect: the data arrived; outside of the timed parts. */
#ifndef KEEL_PERF_CHECK_H_
#define KEEL_PERF_CHECK_H_

#include "perf_run.h"

/* All ranks, before the first access: writes the data of puts and gets. */
keel_status_t perf_check_fill(perf_run_t *run);
/* An initiator, before the last round: changes the data of further puts. */
void perf_check_renew(perf_run_t *run);
/*
 * All ranks, after the last access: checks this rank's memory. Returns an error, after a message,
 * if wrong.
 */
keel_status_t perf_check_memory(perf_run_t *run, perf_counts_t *counts);
/* An initiator of gets, after some more gets into cleared memory. */
keel_status_t perf_check_source(const perf_run_t *run, unsigned side);
/* Rank 0, over all ranks: no access went elsewhere, no atomic was lost. */
keel_status_t perf_check_sums(const perf_run_t *run, const perf_result_t *all);

#endif
