/* Statistics of all ranks and lives of a job, as text and as JSON. */
#ifndef KEEL_TRACE_TRACE_SUMS_H_
#define KEEL_TRACE_TRACE_SUMS_H_

#include "trace/trace_job.h"
#include "trace/trace_words.h"

#include <stdio.h>

/* Values of all fields. */
typedef struct keel_trace_sums {
    size_t fields;
    uint64_t *job;   /* by field */
    uint64_t *ranks; /* by rank, then by field: over the lives of the rank */
} keel_trace_sums_t;

/* 0 or ENOMEM; *sums_p needs a release after 0. */
int keel_trace_sums_make(const keel_trace_job_t *job, keel_trace_sums_t *sums_p);
void keel_trace_sums_release(keel_trace_sums_t *sums);
/* Lives that did not leave the job by themselves: each is a death. */
uint64_t keel_trace_deaths(const keel_trace_job_t *job);

/* 0 or ENOMEM; errors of the stream stay in the stream. */
int keel_trace_sums_text(const keel_trace_job_t *job, FILE *stream);
int keel_trace_sums_json(const keel_trace_job_t *job, FILE *stream);

#endif
