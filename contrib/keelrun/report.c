/* Messages on stderr. The settings below are written before a process has threads. */
#include "report.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <base/limit_hint.h>

static bool report_is_verbose;
static uint64_t report_start_ns;
static int report_fd = STDERR_FILENO;

uint64_t clock_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void report_setup(bool verbose, uint64_t start_ns)
{
    report_is_verbose = verbose;
    report_start_ns = start_ns;
}

void report_move(int fd)
{
    report_fd = fd;
}

static void report_line(bool with_time, const char *format, va_list arguments)
{
    char line[1024];
    size_t length;

    if (with_time) {
        length = snprintf(line, sizeof line, "keelrun: %.6f ", (double)(clock_now_ns() - report_start_ns) * 1e-9);
    } else {
        length = snprintf(line, sizeof line, "keelrun: ");
    }
    vsnprintf(line + length, sizeof line - length - 1, format, arguments);
    for (length = 0; line[length] != '\0'; length++) {
        if (line[length] == '\n') { /* one line, whatever text a program gave as its reason */
            line[length] = ' ';
        }
    }
    line[length++] = '\n';
    if (write(report_fd, line, length) < 0) {
        return; /* stderr has no reader */
    }
}

void report(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    report_line(false, format, arguments);
    va_end(arguments);
}

void report_verbose(const char *format, ...)
{
    va_list arguments;

    if (!report_is_verbose) {
        return;
    }
    va_start(arguments, format);
    report_line(true, format, arguments);
    va_end(arguments);
}

void report_failure(const char *what, int error)
{
    char hint[KEEL_LIMIT_HINT_MAX];

    report("%s: %s%s", what, strerror(error), keel_limit_hint(error, hint));
}
