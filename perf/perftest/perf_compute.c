/* Percentiles, ratios, blocks. */
#include "perf_compute.h"

#include <math.h>
#include <stdlib.h>

#define PAIRS_MIN 5u /* least number of blocks of a side per round */
/* bytes between two checkpoints: a target has KEEL_GETLOG_SIZE for all */
#define GETS_LOGGED  (4u << 20)
#define RECORD_BYTES 64u /* bytes of a log per record, with its share of the rest, at most */
#define UNLOGGED_MAX (20ul << 20)

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

double perf_percentile(double *values, size_t count, double rank)
{
    size_t at;

    if (count == 0) {
        return 0;
    }
    qsort(values, count, sizeof *values, compare_doubles);
    at = (size_t)ceil(rank * (double)count / 100);
    return values[at > 0 ? at - 1 : 0];
}

void perf_ratios_make(const double *keel_ns, const double *peer_ns, unsigned long rounds, int is_latency,
                      double *ratios)
{
    for (unsigned long i = 0; i < rounds; i++) {
        ratios[i] = is_latency ? keel_ns[i] / peer_ns[i] : peer_ns[i] / keel_ns[i];
    }
}

static unsigned long round_up(unsigned long value, unsigned long unit)
{
    return (value + unit - 1) / unit * unit;
}

void perf_schedule_make(perf_test_t *test, unsigned long log_bytes, perf_schedule_t *schedule)
{
    const unsigned flags = perf_kind(test)->flags;
    const unsigned long record = ((flags & PERF_IS_COLLECTIVE) || test->id == PERF_FLUSH) ? 0
                                 : (flags & PERF_IS_ATOMIC)                               ? RECORD_BYTES
                                                                                          : test->size + RECORD_BYTES;
    const unsigned long per_round = (test->iterations + test->rounds - 1) / test->rounds;
    unsigned long most = UNLOGGED_MAX;

    if ((flags & (PERF_IS_GET | PERF_IS_ATOMIC)) && log_bytes > GETS_LOGGED) {
        log_bytes = GETS_LOGGED;
    }
    if (record > 0) {
        most = log_bytes / record / 2; /* half: a few accesses before a block are not timed */
        most += (most == 0);
    }
    if (test->outstanding > most) {
        test->outstanding = most;
    }
    most -= most % test->outstanding;
    schedule->block = round_up((per_round + PAIRS_MIN - 1) / PAIRS_MIN, test->outstanding);
    if (schedule->block > most) {
        schedule->block = most;
    }
    schedule->pairs = (per_round + schedule->block - 1) / schedule->block;
    schedule->pairs = (schedule->pairs < PAIRS_MIN) ? PAIRS_MIN : schedule->pairs;
    schedule->most = most;
    schedule->ckpt_every = most / schedule->block;
    test->warmup = round_up(test->warmup, test->outstanding);
}
