/* The tests. Each is called by all ranks; what a rank measured is in its result. */
#ifndef KEEL_PERF_ACCESS_H_
#define KEEL_PERF_ACCESS_H_

#include "perf_run.h"

/* accesses, flush and gsync, as run->schedule says */
keel_status_t perf_access_run(perf_run_t *run, const perf_test_t *test, perf_result_t *result);
/* perf_ckpt.c */
keel_status_t perf_ckpt_run(perf_run_t *run, const perf_test_t *test, perf_result_t *result);
/* perf_restore.c: in a replacement too */
keel_status_t perf_restore_run(perf_run_t *run, const perf_test_t *test, perf_result_t *result);

#endif
