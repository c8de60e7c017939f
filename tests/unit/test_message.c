/* Messages: form, level, length, sink, and that a line is one write. */
#include "base/message.h"

#include "unit.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

typedef struct captured {
    int lines;
    keel_message_level_t level;
    char line[2048];
} captured_t;

static void capture(void *arg, keel_message_level_t level, const char *line)
{
    captured_t *captured = arg;

    captured->lines++;
    captured->level = level;
    snprintf(captured->line, sizeof captured->line, "%s", line);
}

START_TEST(a_message_begins_with_rank_incarnation_and_level)
{
    captured_t captured = {0};
    const keel_message_t message = {KEEL_MSG_DEBUG, 3, 1, capture, &captured};

    keel_warn(&message, "log of %u bytes is full", 64u);
    ck_assert_str_eq(captured.line, "keel 3.1 warn: log of 64 bytes is full");
    ck_assert_int_eq(captured.level, KEEL_MSG_WARN);
}
END_TEST

START_TEST(without_a_rank_none_is_printed)
{
    captured_t captured = {0};
    const keel_message_t message = {KEEL_MSG_WARN, KEEL_MESSAGE_NO_RANK, 0, capture, &captured};

    keel_error(&message, "no");
    ck_assert_str_eq(captured.line, "keel error: no");
}
END_TEST

START_TEST(levels_above_the_chosen_one_are_silent)
{
    captured_t captured = {0};
    const keel_message_t message = {KEEL_MSG_WARN, 0, 0, capture, &captured};

    keel_debug(&message, "x");
    keel_info(&message, "x");
    ck_assert_int_eq(captured.lines, 0);
    keel_warn(&message, "x");
    keel_error(&message, "x");
    ck_assert_int_eq(captured.lines, 2);
}
END_TEST

START_TEST(a_notice_has_neither_rank_nor_level_and_is_printed_with_warnings)
{
    captured_t captured = {0};
    keel_message_t message = {KEEL_MSG_WARN, 3, 1, capture, &captured};

    keel_notice(&message, "%d deaths", 2);
    ck_assert_str_eq(captured.line, "keel: 2 deaths");
    ck_assert_int_eq(captured.level, KEEL_MSG_WARN);
    message.level = KEEL_MSG_ERROR;
    keel_notice(&message, "%d deaths", 2);
    ck_assert_int_eq(captured.lines, 1);
}
END_TEST

START_TEST(a_long_message_is_cut_and_says_so)
{
    captured_t captured = {0};
    const keel_message_t message = {KEEL_MSG_WARN, 0, 0, capture, &captured};
    char text[4096];
    size_t length;

    for (length = 900; length < 1200; length++) {
        memset(text, 'a', length);
        text[length] = '\0';
        keel_warn(&message, "%s", text);
        if (strlen(captured.line) != strlen("keel 0.0 warn: ") + length) {
            ck_assert_uint_le(strlen(captured.line), 1023);
            ck_assert_str_eq(captured.line + strlen(captured.line) - 4, "a...");
        }
    }
}
END_TEST

START_TEST(a_line_on_stderr_is_one_write_and_errno_stays)
{
    const keel_message_t message = {KEEL_MSG_WARN, 7, 2, NULL, NULL};
    char line[256] = "";
    int ends[2];
    ssize_t n;

    ck_assert_int_eq(pipe(ends), 0);
    ck_assert_int_eq(dup2(ends[1], STDERR_FILENO), STDERR_FILENO);
    errno = EAGAIN;
    keel_error(&message, "peer %d.%d is gone", 4, 1);
    ck_assert_int_eq(errno, EAGAIN);
    n = read(ends[0], line, sizeof line - 1);
    ck_assert_int_gt(n, 0);
    ck_assert_str_eq(line, "keel 7.2 error: peer 4.1 is gone\n");
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {a_notice_has_neither_rank_nor_level_and_is_printed_with_warnings,
                                  a_message_begins_with_rank_incarnation_and_level,
                                  without_a_rank_none_is_printed,
                                  levels_above_the_chosen_one_are_silent,
                                  a_long_message_is_cut_and_says_so,
                                  a_line_on_stderr_is_one_write_and_errno_stays,
                                  NULL};

    return unit_run("message", tests);
}
