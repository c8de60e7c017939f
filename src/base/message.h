/* Diagnostics. The code that detects an error reports it once. Text is lower case, prefixed with
 * rank and incarnation. */
#ifndef KEEL_BASE_MESSAGE_H_
#define KEEL_BASE_MESSAGE_H_

#include <stdint.h>

typedef enum { KEEL_MSG_ERROR, KEEL_MSG_WARN, KEEL_MSG_INFO, KEEL_MSG_DEBUG } keel_message_level_t;

#define KEEL_MESSAGE_NO_RANK UINT32_MAX /* value of rank while unknown: no rank is printed */

/* destination of a context's messages; embedded in the context, no globals */
typedef struct keel_message {
    keel_message_level_t level;
    uint32_t rank, incarnation;
    /* NULL: stderr, a single write for each line */
    void (*sink)(void *arg, keel_message_level_t level, const char *line);
    void *arg;
} keel_message_t;

void keel_message_print(const keel_message_t *message, keel_message_level_t level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* A message that is no trouble: "keel: " and the text, at the level of warnings. */
void keel_message_notice(const keel_message_t *message, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Writes a line and its end to standard error by one write(). */
void keel_message_to_stderr(const char *line);

#define keel_message(_m, _level, ...)                        \
    do {                                                     \
        if ((_level) <= (_m)->level) {                       \
            keel_message_print((_m), (_level), __VA_ARGS__); \
        }                                                    \
    } while (0)
#define keel_error(_m, ...) keel_message(_m, KEEL_MSG_ERROR, __VA_ARGS__)
#define keel_warn(_m, ...)  keel_message(_m, KEEL_MSG_WARN, __VA_ARGS__)
#define keel_notice(_m, ...)                        \
    do {                                            \
        if (KEEL_MSG_WARN <= (_m)->level) {         \
            keel_message_notice((_m), __VA_ARGS__); \
        }                                           \
    } while (0)
#define keel_info(_m, ...)  keel_message(_m, KEEL_MSG_INFO, __VA_ARGS__)
#define keel_debug(_m, ...) keel_message(_m, KEEL_MSG_DEBUG, __VA_ARGS__)

#endif
