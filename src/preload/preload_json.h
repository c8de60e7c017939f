/* A report as a JSON object in one line: note, fields, lists of workers and targets, advice. */
#ifndef KEEL_PRELOAD_JSON_H_
#define KEEL_PRELOAD_JSON_H_

#include "preload/preload_report.h"

#include <stdio.h>

/* without the end of the line */
void preload_json_write(const preload_report_t *report, FILE *stream);

/*
 * Reads the next report of a stream of such objects. Returns 1, 0 at the end of the stream, or -1
 * if the next bytes are no report; *report_p needs a release if 1 is returned.
 */
int preload_json_read(FILE *stream, preload_report_t *report_p);

#endif
