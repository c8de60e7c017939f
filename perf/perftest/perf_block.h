/* Blocks of accesses of one kind, by Keel and by its peer. */
#ifndef KEEL_PERF_BLOCK_H_
#define KEEL_PERF_BLOCK_H_

#include "perf_run.h"

/* @a count: a multiple of the accesses per flush; the block ends with a flush */
typedef keel_status_t (*perf_block_t)(perf_run_t *run, unsigned long count);

perf_block_t perf_block_keel(const perf_test_t *test);
perf_block_t perf_block_peer(const perf_test_t *test); /* NULL: no peer */

#endif
