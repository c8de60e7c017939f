/*
 * A copy stores each word once, because the owner of the memory may write the same words. The test
 * steps a copying process, instruction by instruction. When the first store to a word is seen, the
 * test sets the word to another value, as an owner does after waiting for the store. The value must
 * stay.
 */
#include "base/copy.h"

#include "unit.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#define STEPS       1000000 /* bound */
#define LENGTH_MOST 768u

static uint8_t *page; /* shared with the copying process */
static uint8_t source[LENGTH_MOST], streamed[LENGTH_MOST];

static void copy_stepped(volatile size_t *length, int is_of_two)
{
    (void)ptrace(PTRACE_TRACEME, 0, NULL, NULL);
    raise(SIGSTOP);
    if (is_of_two) {
        keel_copy_two(streamed, page, source, *length);
    } else {
        keel_copy_one(page, source, *length);
    }
    raise(SIGSTOP);
    _exit(0);
}

/* Returns the number of words stored again; -1: no process can be stepped here. */
static int stored_again(size_t length, size_t word, int is_of_two)
{
    volatile size_t bytes = length;
    int status, is_seen[LENGTH_MOST] = {0}, again = 0;
    pid_t child;

    memset(page, 0, LENGTH_MOST);
    child = fork();
    if (child == 0) {
        copy_stepped(&bytes, is_of_two);
    }
    ck_assert(waitpid(child, &status, 0) == child && WIFSTOPPED(status));
    for (int step = 0; step < STEPS; step++) {
        if (ptrace(PTRACE_SINGLESTEP, child, NULL, NULL) != 0) {
            kill(child, SIGKILL);
            (void)waitpid(child, &status, 0);
            return -1;
        }
        ck_assert(waitpid(child, &status, 0) == child && WIFSTOPPED(status));
        for (size_t at = 0; at < length; at += word) {
            /* a word that is seen by halves was not stored whole */
            for (size_t i = 1; word >= 4 && i < word; i++) {
                ck_assert_msg((page[at] == source[at]) == (page[at + i] == source[at + i]),
                              "%zu bytes: the word at %zu is stored in parts", length, at);
            }
            if (page[at] == source[at]) {
                again += is_seen[at];
                is_seen[at] = 1;
                memset(page + at, 0, word);
            }
        }
        if (WSTOPSIG(status) == SIGSTOP) {
            break;
        }
    }
    for (size_t at = 0; at < length; at += word) {
        ck_assert_msg(is_seen[at], "%zu bytes: the word at %zu was not seen", length, at);
    }
    (void)ptrace(PTRACE_CONT, child, NULL, NULL);
    (void)waitpid(child, &status, 0);
    return again;
}

START_TEST(words_are_stored_once)
{
    static const size_t cases[][2] = {{1, 1}, {2, 2},  {4, 4},  {8, 8},  {16, 8}, {24, 8},
                                      {3, 1}, {12, 4}, {32, 8}, {40, 8}, {56, 8}, {64, 8}};

    memset(source, 0x5a, sizeof(source));
    page = mmap(NULL, LENGTH_MOST, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ck_assert(page != MAP_FAILED);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const int again = stored_again(cases[i][0], cases[i][1], 0);

        ck_assert_msg(again <= 0, "%zu bytes: %d words were stored again", cases[i][0], again);
    }
}
END_TEST

/* the target's copy of a put with a record */
START_TEST(words_of_a_put_are_stored_once)
{
    static const size_t lengths[] = {8, 16, 24, 40, 56, 64, 120, 248, 256, 264, 408, 512, 640, 760};

    memset(source, 0x5a, sizeof(source));
    page = mmap(NULL, LENGTH_MOST, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ck_assert(page != MAP_FAILED);
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        const int again = stored_again(lengths[i], sizeof(uint64_t), 1);

        ck_assert_msg(again <= 0, "%zu bytes: %d words were stored again", lengths[i], again);
    }
}
END_TEST

START_TEST(every_length_is_exact)
{
    uint8_t from[3 * KEEL_COPY_LINE], to[sizeof(from) + 16];

    for (size_t i = 0; i < sizeof(from); i++) {
        from[i] = (uint8_t)(i + 1);
    }
    for (size_t length = 0; length < sizeof(from) - 8; length++) {
        for (size_t at = 0; at < 8; at++) {
            memset(to, 0xee, sizeof(to));
            keel_copy_one(to + 8 + at, from + 7 - at, length);
            ck_assert_mem_eq(to + 8 + at, from + 7 - at, length);
            ck_assert(to[7 + at] == 0xee && to[8 + at + length] == 0xee);
        }
    }
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {words_are_stored_once, words_of_a_put_are_stored_once, every_length_is_exact, NULL};

    return unit_run("copy_once", tests);
}
