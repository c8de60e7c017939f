/* All lives of a job, on one clock. */
#ifndef KEEL_TRACE_TRACE_JOB_H_
#define KEEL_TRACE_TRACE_JOB_H_

#include "trace/trace_life.h"

typedef struct keel_trace_job {
    keel_trace_life_t *lives; /* by job, rank and incarnation; times since the begin */
    size_t count;
    size_t unreadable; /* files that are no areas */
    uint32_t size;     /* largest number of ranks */
} keel_trace_job_t;

/* Reads all areas of a folder. 0 or an errno; *job_p needs a release after 0. */
int keel_trace_job_read(const char *folder, keel_trace_job_t *job_p);
void keel_trace_job_release(keel_trace_job_t *job);

#endif
