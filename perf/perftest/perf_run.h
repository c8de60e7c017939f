/* A job under measurement: its context, who takes part in a test, and how all keep in step. */
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
#define PERF_SAMPLES_MAX 16384u /* kept of a side; later ones replace the earliest */

/* ns an access of one side (Keel, or what it is compared with) */
typedef struct perf_side {
    double rounds[PERF_ROUNDS_MAX];      /* median of each round's blocks */
    double percentile, average, overall; /* ns; average: of the last round */
} perf_side_t;

/* a part of the time, memory that it took, a rate, or a ratio; quartiles */
typedef struct perf_part {
    char name[PERF_PART_NAME]; /* empty: no more */
    char unit[8];              /* ms, MiB, GB/s or memcpy: of its time */
    double values[3];
} perf_part_t;

/* what was done in all, in blocks and before them, counted where it is done */
typedef struct perf_counts {
    uint64_t accesses;                /* Keel's, as keel_stats() has them; of the gsync test gsyncs */
    uint64_t peer_accesses;           /* calls of raw UCX */
    uint64_t untimed;                 /* of each side: warm-up, and before blocks */
    uint64_t turns;                   /* times the other side took over */
    uint64_t put_log, get_log;        /* bytes */
    uint64_t expected, expected_last; /* targets that this rank was to reach; with the data of the last round */
    uint64_t reached[2], last[2];     /* of each side: initiators whose data is at this rank; that of the last round */
    uint64_t added[2];                /* of each side: sum of the words at this rank that atomics add to */
} perf_counts_t;

/* what one rank measured */
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
    uint64_t main_ns; /* when main() began */
    uint32_t rank, size;
    keel_win_h marks;   /* how far each initiator has come; after them, at rank 0, results, and the cards of raw UCX */
    uint64_t mark;      /* number of the step all are in */
    int is_shm;         /* every rank can be reached by loads and stores */
    uint64_t overflows; /* of logs, so far */
    uint64_t stage_ns;  /* when the last line was printed */

    /* of the test that runs */
    const perf_test_t *test;
    perf_schedule_t schedule;
    keel_win_h data;
    raw_ucp_t raw;
    int is_initiator;
    uint32_t *targets; /* in turn */
    unsigned target_count, next;
    unsigned cursors[2], side; /* next of each side between its blocks; whose block was the last */
    uint64_t *swaps[2];        /* cswap: what was written last, by rank of the target */
    uint32_t initiators;       /* ranks below this one issue */
    uint64_t offset;           /* of the window, where this rank writes */
    char *source;
    char *store; /* --vs stores: where they go, a ring */
    size_t store_bytes, store_at;
    double *samples[2]; /* of Keel, and of the peer */
    unsigned long sampled[2];
    unsigned long chunk[2]; /* accesses a sample */
    double *times[2];       /* of the blocks of a round, ns an access */
    perf_counts_t counts;
    unsigned last_from;   /* of the targets in turn, where the last round began */
    uint64_t last_issued; /* accesses before it */
} perf_run_t;

/* Leaves the calling function with the status of @a _call when that is an error. */
#define PERF_TRY(_call)                            \
    do {                                           \
        const keel_status_t try_status_ = (_call); \
        if (try_status_ < 0) {                     \
            return try_status_;                    \
        }                                          \
    } while (0)

/* bytes of an initiator's place in the memory of its target */
static inline size_t perf_stride(const perf_test_t *test)
{
    return (test->size + 63) & ~(size_t)63;
}

uint64_t perf_now_ns(void);
/* names a part and gives it the quartiles of ns, of bytes, of bytes a ns, or of times of a memcpy; sorts them */
void perf_part_fill(perf_part_t *part, const char *name, double *ns, size_t count);
void perf_part_fill_bytes(perf_part_t *part, const char *name, double *bytes, size_t count);
void perf_part_fill_rates(perf_part_t *part, const char *name, double *rates, size_t count);
void perf_part_fill_ratios(perf_part_t *part, const char *name, double *ratios, size_t count);

/* joins the job; the context and, unless the test is @a bare, the marks */
keel_status_t perf_run_open(perf_run_t *run, int is_bare);
/* all ranks: sets is_shm; @a at bytes into @a win there is room for PERF_HOST_NAME bytes a rank, which nobody needs yet */
keel_status_t perf_run_hosts_compare(perf_run_t *run, keel_win_h win, size_t at);
/* an initiator, before accesses by raw UCX: those who are to make progress for it wait in perf_run_sync() */
keel_status_t perf_run_await_targets(perf_run_t *run, int is_raw);
/* all ranks come to the same step. @a is_raw: meanwhile raw UCX makes progress at those who wait. */
keel_status_t perf_run_sync(perf_run_t *run, int is_raw);
/* every rank's result at rank 0, in the order of ranks; elsewhere NULL */
keel_status_t perf_run_gather(perf_run_t *run, const perf_result_t *own, const perf_result_t **all_p);
/* raw UCX with @a bytes of memory at each rank, connected to the targets */
keel_status_t perf_run_raw_open(perf_run_t *run, size_t bytes);
keel_status_t perf_run_raw_close(perf_run_t *run);

#endif
