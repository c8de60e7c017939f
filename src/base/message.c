/* Prints diagnostics: one line, one write, so that lines of different processes do not mix. */
#include "base/message.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define KEEL_MESSAGE_MAX 1024 /* bytes of a line; longer lines end in "..." */

static const char *const keel_message_level_names[] = {"error", "warn", "info", "debug"};

/* Appends the text to the @a length bytes in @a line. Returns the length of both, without newline,
 * at most KEEL_MESSAGE_MAX - 2. */
static size_t keel_message_append(char *line, size_t length, const char *format, va_list args)
{
    const size_t max = KEEL_MESSAGE_MAX - 1; /* leaves room for the newline */
    const int n = vsnprintf(line + length, max - length, format, args);

    if (n < 0) {
        return length;
    }
    if (length + n >= max) {
        memcpy(line + max - 4, "...", 4);
        return max - 1;
    }
    return length + n;
}

static size_t keel_message_begin(char *line, const keel_message_t *message, keel_message_level_t level)
{
    const char *name = keel_message_level_names[level];

    return (message->rank == KEEL_MESSAGE_NO_RANK)
               ? (size_t)snprintf(line, KEEL_MESSAGE_MAX, "keel %s: ", name)
               : (size_t)snprintf(line, KEEL_MESSAGE_MAX, "keel %u.%u %s: ", message->rank, message->incarnation, name);
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

static void keel_message_emit(const keel_message_t *message, keel_message_level_t level, char *line, size_t length)
{
    if (message->sink != NULL) {
        message->sink(message->arg, level, line);
    } else {
        line[length] = '\0';
        keel_message_to_stderr(line);
    }
}

void keel_message_print(const keel_message_t *message, keel_message_level_t level, const char *format, ...)
{
    const int saved_errno = errno;
    char line[KEEL_MESSAGE_MAX];
    size_t length = keel_message_begin(line, message, level);
    va_list args;

    va_start(args, format);
    length = keel_message_append(line, length, format, args);
    va_end(args);
    keel_message_emit(message, level, line, length);
    errno = saved_errno;
}

void keel_message_notice(const keel_message_t *message, const char *format, ...)
{
    const int saved_errno = errno;
    char line[KEEL_MESSAGE_MAX] = "keel: ";
    size_t length = strlen(line);
    va_list args;

    va_start(args, format);
    length = keel_message_append(line, length, format, args);
    va_end(args);
    keel_message_emit(message, KEEL_MSG_WARN, line, length);
    errno = saved_errno;
}
