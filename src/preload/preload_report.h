/*
 * Result of a measured process, and the sum of a job's: calls, bytes, sizes of the logs that Keel
 * would keep, time in logging, and calls beyond the measurement. The library fills a report,
 * preload_json writes and preload_read reads one, and keel_preload_sum adds them. Knows nothing of
 * UCP.
 */
#ifndef KEEL_PRELOAD_REPORT_H_
#define KEEL_PRELOAD_REPORT_H_

#include <stddef.h>
#include <stdint.h>

/* first line of each report */
#define PRELOAD_NOTE                                                                                                 \
    "keel-preload measures what logging by Keel would cost. It recovers nothing: a death ends this job as it would " \
    "without it."

/* The first three are accesses: they have a target, bytes and records. */
typedef enum {
    PRELOAD_PUT,
    PRELOAD_GET,
    PRELOAD_ATOMIC,
    PRELOAD_FLUSH,
    PRELOAD_FENCE,
    PRELOAD_POINTER, /* ucp_rkey_ptr(): stores and loads through the pointer are not seen */
    PRELOAD_MESSAGE, /* active messages: layers above UCP may carry accesses in them */
    PRELOAD_KINDS
} preload_kind_t;
enum { PRELOAD_ACCESSES = PRELOAD_ATOMIC + 1 };

#define PRELOAD_NO_RANK (-1)

typedef struct preload_target_sum {
    uint64_t uid; /* of the target's UCP worker; 0: unknown */
    int64_t rank; /* PRELOAD_NO_RANK: unknown */
    uint64_t calls[PRELOAD_ACCESSES], bytes[PRELOAD_ACCESSES];
    uint64_t put_log; /* bytes of records of puts and atomics, kept at the source */
    uint64_t get_log; /* bytes of records of gets, kept at the target */
    uint64_t peak;    /* most bytes of put_log between two flushes */
} preload_target_sum_t;

typedef struct preload_report {
    char program[64], host[64];
    /* "log", or the reason for copying nothing: "count" is the mode, "no memory" for the log,
     * "devices" may hold the buffers */
    char state[16];
    int64_t rank; /* PRELOAD_NO_RANK: no launcher announced one */
    int64_t pid;
    uint64_t processes; /* 1, or the number of reports in a sum */
    uint64_t calls[PRELOAD_KINDS], failed[PRELOAD_KINDS];
    uint64_t nested[PRELOAD_KINDS]; /* calls of UCX among its own functions, not in calls */
    uint64_t bytes[PRELOAD_ACCESSES];
    uint64_t fetches; /* atomics that return the old value */
    uint64_t put_log, get_log;
    uint64_t peak;         /* sum over targets of put_log's peaks between two flushes */
    uint64_t copied;       /* bytes that were written to the log */
    uint64_t late_gets;    /* gets that completed after the call returned: not copied */
    uint64_t device;       /* accesses of device memory: not copied */
    uint64_t unpacked;     /* accesses of generic datatypes: their bytes are unknown */
    uint64_t full;         /* records without room in the log: not copied */
    uint64_t samples;      /* timed calls */
    double seconds;        /* from the first to the last access */
    double logging;        /* time in logging, extrapolated from the samples */
    double setup;          /* time to allocate and touch the log */
    double put_rate_most;  /* most bytes of put_log a second of one process */
    uint64_t put_log_most; /* most put_log of one process */
    uint64_t peak_most;    /* highest peak of one process */
    uint64_t get_log_most; /* most get_log at one target */
    double get_rate_most;  /* most bytes of get_log a second at one target */
    uint64_t *workers;     /* uids of the process's own workers */
    size_t worker_count;
    preload_target_sum_t *targets;
    size_t target_count;
} preload_report_t;

/* Sets rank to PRELOAD_NO_RANK, all else to zero. */
void preload_report_init(preload_report_t *report);
void preload_report_release(preload_report_t *report);
/* Adds a worker of the process. Returns 0 if there is no memory. */
int preload_report_add_worker(preload_report_t *report, uint64_t uid);
/* Adds to the target with the same uid; a uid of 0 makes a new target. Returns 0 if there is no
 * memory. */
int preload_report_add_target(preload_report_t *report, const preload_target_sum_t *target);
/* Sorts targets by rank, unknown ranks last, then by bytes in logs. */
void preload_report_sort(preload_report_t *report);
/* Completes the report of one process: sets the maxima, and sorts. */
void preload_report_finish(preload_report_t *report);

/*
 * Adds @a count reports. Finds the rank of each target by the workers of all reports, and sets the
 * rank in the reports, too. Targets of the sum: one for each accessed process. The sum of one
 * report has its rank, pid and host. Returns 0 if there is no memory.
 */
int preload_report_sum(preload_report_t *reports, size_t count, preload_report_t *sum);

#endif
