/* A job under measurement: its context, the participants of a test, and their steps. */
#ifndef KEEL_PERF_RUN_H_
#define KEEL_PERF_RUN_H_

#include <keel/keel.h>

#include "pair.h"
#include "perf_compute.h"
#include "perf_plan.h"
#include "raw_ucp.h"

#define PERF_PARTS       11
#define PERF_PART_NAME   16
#define PERF_HOST_NAME   64
#define PERF_SAMPLES_MAX 16384u /* samples kept of a side; later samples replace the earliest */

/* Times per access of one side (Keel or its peer), in ns. */
typedef struct perf_side {
    double rounds[PERF_ROUNDS_MAX];      /* median of each round's blocks */
    double percentile, average, overall; /* ns; average: of the last round */
} perf_side_t;

/* Quartiles of a part of the time, of memory, of a rate, or of a ratio. */
typedef struct perf_part {
    char name[PERF_PART_NAME]; /* empty: end of the list */
    char unit[8];              /* ms, MiB, GB/s or memcpy: multiples of its time */
    double values[3];
} perf_part_t;

/* Totals of blocks and untimed accesses, counted where they occur. */
typedef struct perf_counts {
    uint64_t accesses;         /* Keel's, from keel_stats(); in the gsync test gsyncs */
    uint64_t peer_accesses;    /* calls of raw UCX */
    uint64_t untimed;          /* of each side: warm-up, and accesses before blocks */
    uint64_t turns;            /* count of changes between the sides */
    uint64_t put_log, get_log; /* bytes */
    /* targets that this rank should reach; targets with data of the last round */
    uint64_t expected, expected_last;
    /* of each side: initiators with data at this rank; with data of the last round */
    uint64_t reached[2], last[2];
    uint64_t added[2]; /* of each side: sum of this rank's words under atomics */
} perf_counts_t;

/* Measurements of one rank. */
typedef struct perf_result {
    uint64_t iterations; /* of each side */
    perf_side_t keel, peer;
    perf_counts_t counts;
    perf_part_t parts[PERF_PARTS]; /* ckpt, restore: at rank 0 */
} perf_result_t;

typedef struct perf_run {
    const perf_plan_t *plan;
    perf_pair_t *pair; /* NULL: under a launcher */
    keel_context_h ctx;
    uint64_t main_ns; /* start of main() */
    uint32_t rank, size;
    /* the progress of each initiator; then, at rank 0, results, and the cards of raw UCX */
    keel_win_h marks;
    uint64_t mark;      /* number of the current step of all ranks */
    int is_shm;         /* every rank is reachable by loads and stores */
    uint64_t overflows; /* of logs, so far */
    uint64_t stage_ns;  /* time of the last printed line */

    /* ---- of the current test ---- */
    const perf_test_t *test;
    perf_schedule_t schedule;
    keel_win_h data;
    raw_ucp_t raw;
    int is_initiator;
    uint32_t *targets; /* sequence of targets */
    unsigned target_count, next;
    /* next target of each side between its blocks; side of the last block */
    unsigned cursors[2], side;
    uint64_t *swaps[2];  /* cswap: the last value written, by rank of the target */
    uint32_t initiators; /* ranks below this one issue accesses */
    uint64_t offset;     /* in the window, where this rank writes */
    char *source;
    char *store; /* --vs stores: destination, a ring */
    size_t store_bytes, store_at;
    double *samples[2]; /* of Keel, and of the peer */
    unsigned long sampled[2];
    unsigned long chunk[2]; /* accesses per sample */
    double *times[2];       /* of the blocks of a round, ns per access */
    perf_counts_t counts;
    unsigned last_from;   /* start of the last round in the sequence of targets */
    uint64_t last_issued; /* accesses before the last round */
} perf_run_t;

/* Returns from the calling function if @a _call returns an error. */
#define PERF_TRY(_call)                            \
    do {                                           \
        const keel_status_t try_status_ = (_call); \
        if (try_status_ < 0) {                     \
            return try_status_;                    \
        }                                          \
    } while (0)

/* Bytes of an initiator's place in its target's memory. */
static inline size_t perf_stride(const perf_test_t *test)
{
    return (test->size + 63) & ~(size_t)63;
}

uint64_t perf_now_ns(void);
/*
 * Names a part and sets it to the quartiles of ns, of bytes, of bytes per ns, or of multiples of a
 * memcpy. Sorts the values.
 */
void perf_part_fill(perf_part_t *part, const char *name, double *ns, size_t count);
void perf_part_fill_bytes(perf_part_t *part, const char *name, double *bytes, size_t count);
void perf_part_fill_rates(perf_part_t *part, const char *name, double *rates, size_t count);
void perf_part_fill_ratios(perf_part_t *part, const char *name, double *ratios, size_t count);

/* Joins the job: the context and, unless the test is @a bare, the marks. */
keel_status_t perf_run_open(perf_run_t *run, int is_bare);
/*
 * All ranks: sets is_shm. At @a at in @a win there is room for PERF_HOST_NAME bytes per rank,
 * unused so far.
 */
keel_status_t perf_run_hosts_compare(perf_run_t *run, keel_win_h win, size_t at);
/*
 * An initiator, before accesses by raw UCX: the ranks that have to make progress wait in
 * perf_run_sync().
 */
keel_status_t perf_run_await_targets(perf_run_t *run, int is_raw);
/* Brings all ranks to the same step. @a is_raw: waiting ranks make progress of raw UCX. */
keel_status_t perf_run_sync(perf_run_t *run, int is_raw);
/* Collects every rank's result at rank 0, in the order of ranks; elsewhere NULL. */
keel_status_t perf_run_gather(perf_run_t *run, const perf_result_t *own, const perf_result_t **all_p);
/* Opens raw UCX with @a bytes of memory at each rank, connected to the targets. */
keel_status_t perf_run_raw_open(perf_run_t *run, size_t bytes);
keel_status_t perf_run_raw_close(perf_run_t *run);

#endif
