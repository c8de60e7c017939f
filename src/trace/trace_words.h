/* Words of a snapshot of statistics. */
#ifndef KEEL_TRACE_TRACE_WORDS_H_
#define KEEL_TRACE_TRACE_WORDS_H_

#include <keel/stats.h>

#include <stddef.h>

/* Reserved words keep the places of the fields of keel_stats_t. */
typedef struct keel_trace_words {
    uint64_t copy_ns, work_ns; /* of all checkpoints: copies; comparing and parity */
    uint64_t reserved[6];
    keel_stats_t stats;
} keel_trace_words_t;

/* How the value of the job is computed from the values of the ranks. */
typedef enum keel_trace_rule {
    KEEL_TRACE_SUM, /* of all ranks */
    KEEL_TRACE_MOST /* largest of a rank: a peak, or events of the job, counted by each rank */
} keel_trace_rule_t;

typedef struct keel_trace_field {
    const char *name;
    size_t word;
    keel_trace_rule_t rule;
    int is_peak; /* of a rank: the largest value of its lives */
} keel_trace_field_t;

/* Ends with a NULL name. */
extern const keel_trace_field_t keel_trace_fields[];

#endif
