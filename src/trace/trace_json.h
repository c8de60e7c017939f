/* A job as a trace in Chrome's trace event format, which Perfetto opens. */
#ifndef KEEL_TRACE_TRACE_JSON_H_
#define KEEL_TRACE_TRACE_JSON_H_

#include "trace/trace_job.h"

#include <stdio.h>

/* 0 or ENOMEM; errors of the stream stay in the stream. */
int keel_trace_json_write(const keel_trace_job_t *job, FILE *stream);

#endif
