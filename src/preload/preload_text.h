/* Reports as text for people. */
#ifndef KEEL_PRELOAD_TEXT_H_
#define KEEL_PRELOAD_TEXT_H_

#include "preload/preload_report.h"

#include <stdio.h>

/* the report of a process, or the sum of a job's; begins with PRELOAD_NOTE */
void preload_text_write(const preload_report_t *report, FILE *stream);
/* a table with a line for each report; @a count is at least 1 */
void preload_text_ranks(const preload_report_t *reports, size_t count, FILE *stream);

#endif
