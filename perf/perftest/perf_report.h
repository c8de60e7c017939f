/* Output by rank 0 alone: boxed header, lines while a test runs, and final lines; or CSV. */
#ifndef KEEL_PERF_REPORT_H_
#define KEEL_PERF_REPORT_H_

#include "perf_run.h"

void perf_report_head(const perf_run_t *run);
void perf_report_test(const perf_run_t *run, const perf_test_t *test);
/* After a round; prints a line per second. */
void perf_report_stage(perf_run_t *run, const perf_result_t *result, unsigned long round);
/* Of all initiators, in the order of ranks. */
void perf_report_final(const perf_run_t *run, const perf_test_t *test, const perf_result_t *all);

#endif
