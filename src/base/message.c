/* Prints diagnostics: one line, one write, so that lines of different processes do not mix. */
#include "base/message.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define KEEL_MESSAGE_MAX 1024 /* bytes of a line; longer lines end in "..." */

static const char *const keel_message_level_names[] = {"error", "warn", "info", "debug"};

/* returns the length of the text, without newline, at most KEEL_MESSAGE_MAX - 2 */
static size_t keel_message_format(char *line, const keel_message_t *message, keel_message_level_t level,
                                  const char *format, va_list args)
{
    const size_t max = KEEL_MESSAGE_MAX - 1; /* leaves room for the newline */
    size_t length;
    int n;

    if (message->rank == KEEL_MESSAGE_NO_RANK) {
        n = snprintf(line, max, "keel %s: ", keel_message_level_names[level]);
    } else {
        n = snprintf(line, max, "keel %u.%u %s: ", message->rank, message->incarnation,
                     keel_message_level_names[level]);
    }
    length = n;
    n = vsnprintf(line + length, max - length, format, args);
    if (n < 0) {
        return length;
    }
    if (length + n >= max) {
        memcpy(line + max - 4, "...", 4);
        return max - 1;
    }
    return length + n;
}

static void keel_message_write(const char *line, size_t length)
{
    ssize_t n;

    while (length > 0) {
        n = write(STDERR_FILENO, line, length);
        if (n < 0) {
            if (errno == EINTR) {
                continue;
            }
            return; /* standard error is gone */
        }
        line += n;
        length -= n;
    }
}

void keel_message_to_stderr(const char *line)
{
    char copy[KEEL_MESSAGE_MAX];
    const size_t length = strnlen(line, sizeof(copy) - 1);

    memcpy(copy, line, length);
    copy[length] = '\n';
    keel_message_write(copy, length + 1);
}

void keel_message_print(const keel_message_t *message, keel_message_level_t level, const char *format, ...)
{
    const int saved_errno = errno;
    char line[KEEL_MESSAGE_MAX];
    size_t length;
    va_list args;

    va_start(args, format);
    length = keel_message_format(line, message, level, format, args);
    va_end(args);

    if (message->sink != NULL) {
        message->sink(message->arg, level, line);
    } else {
        line[length] = '\0';
        keel_message_to_stderr(line);
    }
    errno = saved_errno;
}
