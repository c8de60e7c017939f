/* The recovery of a job as a figure (SVG): a row for each rank, from before the first death until
 * all replacements have caught up. */
#ifndef KEEL_TRACE_TRACE_TIMELINE_H_
#define KEEL_TRACE_TRACE_TIMELINE_H_

#include "trace/trace_job.h"

#include <stdio.h>

#define KEEL_TIMELINE_ROWS 32 /* of a larger job: the ranks that died, then the first others */

/* 0 or ENOMEM; errors of the stream stay in the stream. */
int keel_trace_timeline_write(const keel_trace_job_t *job, FILE *stream);

#endif
