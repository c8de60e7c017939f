/* The tests. All ranks call each; a rank's measurements are in its result. */
#ifndef KEEL_PERF_ACCESS_H_
#define KEEL_PERF_ACCESS_H_

#include "perf_run.h"

/* accesses, flush and gsync, by run->schedule */
keel_status_t perf_access_run(perf_run_t *run, const perf_test_t *test, perf_result_t *result);
/* perf_ckpt.c */
keel_status_t perf_ckpt_run(perf_run_t *run, const perf_test_t *test, perf_result_t *result);
/* perf_restore.c: also in a replacement */
keel_status_t perf_restore_run(perf_run_t *run, const perf_test_t *test, perf_result_t *result);

#endif
