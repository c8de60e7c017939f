/* Messages of keelrun on stderr: one write each, with the time since the start. */
#ifndef KEELRUN_REPORT_H_
#define KEELRUN_REPORT_H_

#include <stdbool.h>
#include <stdint.h>

void report_setup(bool verbose, uint64_t start_ns);
/* messages go to @a fd instead of stderr */
void report_move(int fd);
void report(const char *format, ...) __attribute__((format(printf, 1, 2))); /* always: an error */
/* -v: events with times */
void report_verbose(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints "keelrun: WHAT: reason of errno @a error; limits of the process as possible causes". */
void report_failure(const char *what, int error);

uint64_t clock_now_ns(void); /* CLOCK_MONOTONIC */

#endif
