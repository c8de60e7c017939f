/*
 * Streaming copies, of a put to two targets and of an image: exact for every kernel, length,
 * alignment and tail, with no write around the target.
 */
#include "base/copy.h"

#include "racer.h"
#include "unit.h"

#define LARGE ((size_t)70000)
#define EDGE  ((size_t)64)

static unsigned char source[LARGE + 2 * EDGE] __attribute__((aligned(64)));
static unsigned char first[LARGE + 4 * EDGE] __attribute__((aligned(64)));
static unsigned char second[LARGE + 4 * EDGE] __attribute__((aligned(64)));

static void fill(uint64_t *state)
{
    for (size_t i = 0; i < sizeof source; i++) {
        source[i] = (unsigned char)unit_random(state);
    }
}

static void is_exact(const unsigned char *target, size_t at, size_t from, size_t length)
{
    unsigned char edge[EDGE];

    memset(edge, 0xee, sizeof edge);
    ck_assert_mem_eq(target + EDGE + at, source + from, length);
    ck_assert_mem_eq(target + at, edge, EDGE);
    ck_assert_mem_eq(target + EDGE + at + length, edge, EDGE);
}

/* @a kernel: KEEL_COPY_KERNELS for the kernel of puts */
static void copy_and_check(keel_copy_kernel_t kernel, size_t a, size_t b, size_t from, size_t length)
{
    memset(first + a, 0xee, length + 2 * EDGE);
    memset(second + b, 0xee, length + 2 * EDGE);
    if (kernel == KEEL_COPY_KERNELS) {
        keel_copy_two(first + EDGE + a, second + EDGE + b, source + from, length);
    } else {
        keel_copy_two_by(kernel, first + EDGE + a, second + EDGE + b, source + from, length);
    }
    is_exact(first, a, from, length);
    is_exact(second, b, from, length);
}

START_TEST(every_length_to_two_kilobytes_is_exact)
{
    uint64_t state = unit_seed();

    fill(&state);
    for (size_t length = 0; length < 2048; length++) {
        copy_and_check(KEEL_COPY_KERNELS, 8 * (unit_random(&state) % 8), unit_random(&state) % EDGE,
                       unit_random(&state) % EDGE, length);
    }
}
END_TEST

START_TEST(every_alignment_is_exact)
{
    static const size_t lengths[] = {
        1, 8, 15, 16, 17, 64, KEEL_COPY_STREAM - 1, KEEL_COPY_STREAM, 320, KEEL_COPY_LONG - 1, KEEL_COPY_LONG, 1000};
    uint64_t state = unit_seed();

    fill(&state);
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        for (size_t a = 0; a < EDGE; a++) {
            for (size_t b = 0; b < EDGE; b += 3) {
                copy_and_check(KEEL_COPY_KERNELS, a, b, (a + 5 * b) % EDGE, lengths[i]);
            }
        }
    }
}
END_TEST

START_TEST(every_kernel_copies_the_same)
{
    uint64_t state = unit_seed();

    fill(&state);
    for (int kernel = 0; kernel < KEEL_COPY_KERNELS; kernel++) {
        if (!keel_copy_has_kernel((keel_copy_kernel_t)kernel)) {
            printf("kernel %d: not on this machine\n", kernel);
            continue;
        }
        for (size_t length = EDGE; length < 400; length++) {
            copy_and_check((keel_copy_kernel_t)kernel, unit_random(&state) % EDGE, unit_random(&state) % EDGE,
                           unit_random(&state) % EDGE, length);
        }
        for (int i = 0; i < 200; i++) {
            copy_and_check((keel_copy_kernel_t)kernel, unit_random(&state) % EDGE, unit_random(&state) % EDGE,
                           unit_random(&state) % EDGE, EDGE + unit_random(&state) % (LARGE - EDGE));
        }
    }
}
END_TEST

START_TEST(every_kernel_copies_whole_lines)
{
    uint64_t state = unit_seed();

    fill(&state);
    for (int kernel = 0; kernel <= KEEL_COPY_KERNELS; kernel++) {
        if (kernel < KEEL_COPY_KERNELS && !keel_copy_has_kernel((keel_copy_kernel_t)kernel)) {
            continue;
        }
        for (int i = 0; i < 200; i++) {
            const size_t at = KEEL_COPY_LINE * (unit_random(&state) % 3), from = unit_random(&state) % EDGE;
            const size_t length = KEEL_COPY_LINE * (unit_random(&state) % (LARGE / KEEL_COPY_LINE));

            memset(first + at, 0xee, length + 2 * EDGE);
            if (kernel == KEEL_COPY_KERNELS) {
                keel_copy_lines(first + EDGE + at, source + from, length);
            } else {
                keel_copy_lines_by((keel_copy_kernel_t)kernel, first + EDGE + at, source + from, length);
            }
            keel_copy_lines_done();
            is_exact(first, at, from, length);
        }
    }
}
END_TEST

/* Another rank may write the memory during a logged get: log and program have the same values. */
START_TEST(both_copies_are_the_same)
{
    static const size_t lengths[] = {4, 8, 12, 16, 24, 64, KEEL_COPY_STREAM - 8, KEEL_COPY_STREAM, 1000};
    static uint64_t from[128];

    for (size_t c = 0; c < sizeof(lengths) / sizeof(*lengths); c++) {
        for (int kernel = 0; kernel <= KEEL_COPY_KERNELS; kernel++) {
            const int is_put = (kernel == KEEL_COPY_KERNELS);
            const size_t length = lengths[c];
            unsigned differing = 0, changes = 0;
            racer_t racer;

            if (!is_put && (length < KEEL_COPY_STREAM || !keel_copy_has_kernel((keel_copy_kernel_t)kernel))) {
                continue;
            }
            racer_begin(&racer, from, (length + 7) / 8);
            for (unsigned i = 0; i < 2000 || changes < 10; i++) {
                if (is_put) {
                    keel_copy_two(first + 8, second + 1, from, length);
                } else {
                    keel_copy_two_by((keel_copy_kernel_t)kernel, first + 8, second + 1, from, length);
                }
                differing += memcmp(first + 8, second + 1, length) != 0;
                changes += memcmp(first + 8, first + LARGE / 2, length) != 0;
                memcpy(first + LARGE / 2, first + 8, length);
            }
            racer_end(&racer);
            ck_assert_msg(differing == 0, "%zu bytes, kernel %d: %u copies", length, kernel, differing);
        }
    }
}
END_TEST

START_TEST(records_side_by_side_stay_whole)
{
    uint64_t state = unit_seed();
    size_t lengths[200], at = 0;
    unsigned count;

    fill(&state);
    /* as a log is filled: plain and streamed lines meet */
    for (count = 0; count < 200 && at + 700 < LARGE; count++) {
        lengths[count] = unit_random(&state) % 600;
        keel_copy_two(first + at, second, source + count, lengths[count]);
        at += (lengths[count] + 7) & ~(size_t)7;
    }
    at = 0;
    for (unsigned i = 0; i < count; i++) {
        ck_assert_mem_eq(first + at, source + i, lengths[i]);
        at += (lengths[i] + 7) & ~(size_t)7;
    }
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {every_length_to_two_kilobytes_is_exact,
                                  every_alignment_is_exact,
                                  every_kernel_copies_the_same,
                                  every_kernel_copies_whole_lines,
                                  both_copies_are_the_same,
                                  records_side_by_side_stay_whole,
                                  NULL};

    return unit_run("copy", tests);
}
