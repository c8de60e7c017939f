/* Lines written again by a rank are dropped, and no other line is. */
#include "once.h"
#include "channel.h"

#include "unit.h"

#include <string.h>

void *must_allocate(void *old, size_t bytes) /* stands in for keelrun's */
{
    void *memory = realloc(old, bytes);

    ck_assert(memory != NULL);
    return memory;
}

static const char *expected;
static size_t expected_length;

static bool take(once_t *once, const char *piece)
{
    return once_take(once, piece, strlen(piece), &expected, &expected_length);
}

static void mark(once_t *once, const char *text)
{
    size_t length;

    ck_assert_uint_eq(once_find_mark(text, strlen(text), &length), 0);
    ck_assert_uint_eq(length, strlen(text));
    once_take_mark(once, text, length);
}

START_TEST(replacement_is_silent_up_to_what_is_new)
{
    once_t *once = once_create();

    once_begin(once);
    ck_assert(take(once, "a\n") && take(once, "b\n") && take(once, "b\n"));
    once_begin(once);
    ck_assert(!take(once, "a\n") && !take(once, "b\n") && !take(once, "b\n"));
    ck_assert(take(once, "b\n") && expected == NULL);
    once_begin(once);
    ck_assert(!take(once, "a\n") && !take(once, "b\n") && !take(once, "b\n") && !take(once, "b\n") &&
              take(once, "c\n"));
    once_destroy(once);
}
END_TEST

START_TEST(restored_rank_stands_at_its_mark)
{
    once_t *once = once_create();

    once_begin(once);
    ck_assert(take(once, "start\n"));
    mark(once, "\033_keel:s0\033\\");
    ck_assert(take(once, "1\n"));
    mark(once, "\033_keel:s5\033\\");
    ck_assert(take(once, "2\n"));
    mark(once, "\033_keel:s9\033\\");
    ck_assert(take(once, "2\n"));
    mark(once, "\033_keel:r5\033\\"); /* a survivor */
    ck_assert(!take(once, "2\n") && !take(once, "2\n") && take(once, "3\n"));
    once_begin(once); /* a replacement */
    ck_assert(!take(once, "start\n"));
    mark(once, "\033_keel:r9\033\\");
    ck_assert(!take(once, "2\n") && !take(once, "3\n") && take(once, "4\n"));
    mark(once, "\033_keel:r7\033\\"); /* an unknown mark */
    ck_assert(take(once, "4\n") && expected == NULL);
    mark(once, "\033_keel:r0\033\\");
    ck_assert(!take(once, "1\n"));
    once_destroy(once);
}
END_TEST

START_TEST(what_differs_is_passed_on_and_said_once)
{
    once_t *once = once_create();

    once_begin(once);
    ck_assert(take(once, "a\n") && take(once, "b\n") && take(once, "c\n") && take(once, "d\n"));
    once_begin(once);
    ck_assert(!take(once, "a\n"));
    ck_assert(take(once, "x\n") && expected_length == 2 && memcmp(expected, "b\n", 2) == 0);
    ck_assert(take(once, "y\n") && expected == NULL);
    ck_assert(!take(once, "c\n")); /* b was left out */
    once_begin(once);
    ck_assert(!take(once, "a\n") && !take(once, "x\n") && !take(once, "y\n") && !take(once, "b\n") &&
              !take(once, "d\n"));
    once_destroy(once);
}
END_TEST

START_TEST(line_without_an_end_is_written_again_as_a_whole)
{
    once_t *once = once_create();
    size_t length;

    once_begin(once);
    once_take_unfinished(once, "half a", 6);
    ck_assert(memcmp(once_unfinished(once, &length), "half a", 6) == 0 && length == 6);
    once_begin(once);
    ck_assert(once_unfinished(once, &length) == NULL && length == 0);
    ck_assert(take(once, "half a line\n"));
    ck_assert(once_mark_cuts(once, "\033_keel:r1\033\\", 11) && !once_mark_cuts(once, "\033_keel:s1\033\\", 11));
    once_begin(once);
    /* the process has just begun: no line was rolled back */
    ck_assert(!once_mark_cuts(once, "\033_keel:r1\033\\", 11));
    once_destroy(once);
}
END_TEST

START_TEST(only_marks_are_taken_for_marks)
{
    static const char *const wrong[] = {"\033_keel:",
                                        "\033_keel:s",
                                        "\033_keel:s\033\\",
                                        "\033_keel:x1\033\\",
                                        "\033_keel:s1",
                                        "\033_keel:s1\033",
                                        "\033_keel:r99999999999999999999999999999999999\033\\",
                                        ""};
    size_t length;

    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        ck_assert_uint_eq(once_find_mark(wrong[i], strlen(wrong[i]), &length), strlen(wrong[i]));
        ck_assert_uint_eq(length, 0);
    }
    ck_assert_uint_eq(once_find_mark("ab\033_keel:s\033_keel:s12\033\\c", 23, &length), 10);
    ck_assert_uint_eq(length, 12);
}
END_TEST

START_TEST(memory_is_bounded_and_the_newest_image_is_kept)
{
    once_t *once = once_create();
    char line[1000];

    once_begin(once);
    ck_assert(take(once, "start\n"));
    mark(once, "\033_keel:s0\033\\");
    for (unsigned i = 1; i <= 100000; i++) { /* 100 MB */
        snprintf(line, sizeof(line), "%0990u\n", i);
        ck_assert(take(once, line));
        if (i % 1000 == 0) {
            snprintf(line, sizeof(line), "\033_keel:s%u\033\\", i);
            mark(once, line);
        }
    }
    ck_assert(take(once, "last\n"));
    once_begin(once);
    ck_assert(!take(once, "start\n"));
    mark(once, "\033_keel:r99000\033\\");
    snprintf(line, sizeof(line), "%0990u\n", 99001);
    ck_assert(!take(once, line) && expected == NULL);
    once_destroy(once);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        replacement_is_silent_up_to_what_is_new,
        restored_rank_stands_at_its_mark,
        what_differs_is_passed_on_and_said_once,
        line_without_an_end_is_written_again_as_a_whole,
        only_marks_are_taken_for_marks,
        memory_is_bounded_and_the_newest_image_is_kept,
        NULL,
    };

    return unit_run("once", tests);
}
