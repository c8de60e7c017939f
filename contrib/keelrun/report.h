/* keelrun's own lines on stderr: one write each, with the time since its start. */
#ifndef KEELRUN_REPORT_H_
#define KEELRUN_REPORT_H_

#include <stdbool.h>
#include <stdint.h>

void report_setup(bool verbose, uint64_t start_ns);
void report_move(int fd);                                                   /* lines go to @a fd instead of stderr */
void report(const char *format, ...) __attribute__((format(printf, 1, 2))); /* always: something is wrong */
void report_verbose(const char *format, ...) __attribute__((format(printf, 1, 2))); /* -v: what happens, with times */

/* "keelrun: WHAT: reason of the errno @a error; limits of the process that may be why" */
void report_failure(const char *what, int error);

uint64_t clock_now_ns(void); /* CLOCK_MONOTONIC */

#endif
