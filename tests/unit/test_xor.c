/*
 * XOR against a reference, over alignments, tails, numbers of sources and a target among the
 * sources.
 */
#include "code/xor.h"

#include "unit.h"

#include <string.h>

#define SOURCE_MAX 100
#define ROOM       ((size_t)1 << 18)
#define SLACK      ((size_t)128) /* guard on both sides, and room for offsets */

static unsigned char *buffers[SOURCE_MAX + 1];
static unsigned char expected[ROOM];

static void setup_buffers(uint64_t *state, unsigned count)
{
    unsigned i;
    size_t j;
    uint64_t word;

    for (i = 0; i < count; i++) {
        buffers[i] = aligned_alloc(64, ROOM + 3 * SLACK);
        for (j = 0; j + sizeof word <= ROOM + 3 * SLACK; j += sizeof word) {
            word = unit_random(state);
            memcpy(buffers[i] + j, &word, sizeof word);
        }
    }
}

static void free_buffers(unsigned count)
{
    unsigned i;

    for (i = 0; i < count; i++) {
        free(buffers[i]);
    }
}

/* buffers[0] is the target; @a offset of each buffer; @a alias: index of the source that is also
 * the target, or count for none. */
static void xor_and_check(unsigned count, const size_t *offset, size_t length, unsigned alias)
{
    unsigned char *target = buffers[0] + SLACK + offset[0];
    const void *sources[SOURCE_MAX];
    unsigned char before[SLACK], after[SLACK];
    unsigned i;

    for (i = 0; i < count; i++) {
        sources[i] = (i == alias) ? target : buffers[i + 1] + SLACK + offset[i + 1];
    }
    memcpy(before, target - SLACK, SLACK);
    memcpy(after, target + length, SLACK);
    keel_xor_reference(expected, sources, count, length);
    keel_xor(target, sources, count, length);
    ck_assert_msg(memcmp(target, expected, length) == 0, "count %u length %zu alias %u", count, length, alias);
    ck_assert_mem_eq(target - SLACK, before, SLACK);
    ck_assert_mem_eq(target + length, after, SLACK);
}

START_TEST(no_source_gives_zeros)
{
    unsigned char bytes[100];
    int i;

    memset(bytes, 0xff, sizeof bytes);
    keel_xor(bytes, NULL, 0, 99);
    for (i = 0; i < 99; i++) {
        ck_assert_uint_eq(bytes[i], 0);
    }
    ck_assert_uint_eq(bytes[99], 0xff);
}
END_TEST

START_TEST(every_common_alignment_and_tail_equals_the_reference)
{
    uint64_t state = unit_seed();
    size_t offset[6];
    size_t align, length;
    unsigned count, i;

    setup_buffers(&state, 6);
    for (count = 1; count <= 5; count++) {
        for (align = 0; align < 64; align++) {
            for (i = 0; i <= count; i++) {
                offset[i] = align;
            }
            for (length = 0; length < 200; length++) {
                xor_and_check(count, offset, length, count);
            }
        }
    }
    free_buffers(6);
}
END_TEST

START_TEST(random_shapes_equal_the_reference)
{
    uint64_t state = unit_seed();
    size_t offset[SOURCE_MAX + 1];
    unsigned count, alias, i, n;
    size_t length, mask;

    setup_buffers(&state, SOURCE_MAX + 1);
    for (n = 0; n < 400; n++) {
        count = 1 + unit_random(&state) % ((n % 8 == 0) ? SOURCE_MAX : 8);
        length = unit_random(&state) % ((n % 4 == 0 && count <= 8) ? ROOM - 64 : 5000);
        alias = (n % 2 == 0) ? unit_random(&state) % count : count;
        mask = (n % 3 == 0) ? 63 : 0; /* all aligned, or each buffer at an offset of its own */
        for (i = 0; i <= count; i++) {
            offset[i] = unit_random(&state) & mask;
        }
        xor_and_check(count, offset, length, alias);
    }
    free_buffers(SOURCE_MAX + 1);
}
END_TEST

START_TEST(counts_around_the_limit_of_one_pass_are_right)
{
    uint64_t state = unit_seed();
    const size_t offset[SOURCE_MAX + 1] = {0};
    unsigned count;

    setup_buffers(&state, SOURCE_MAX + 1);
    for (count = 28; count <= 70; count++) {
        xor_and_check(count, offset, 1000, count);
        xor_and_check(count, offset, 1000, count - 1);
        xor_and_check(count, offset, 1000, 0);
    }
    free_buffers(SOURCE_MAX + 1);
}
END_TEST

START_TEST(a_target_given_twice_cancels)
{
    uint64_t state = unit_seed();
    const void *sources[SOURCE_MAX];
    unsigned count, i;

    setup_buffers(&state, SOURCE_MAX + 1);
    for (count = 2; count <= 70; count++) {
        for (i = 0; i < count; i++) {
            sources[i] = buffers[i + 1];
        }
        sources[0] = buffers[0];
        sources[count - 1] = buffers[0];
        keel_xor_reference(expected, sources, count, 1000);
        keel_xor(buffers[0], sources, count, 1000);
        ck_assert_mem_eq(buffers[0], expected, 1000);
    }
    free_buffers(SOURCE_MAX + 1);
}
END_TEST

START_TEST(into_twice_gives_the_original)
{
    uint64_t state = unit_seed();

    setup_buffers(&state, 2);
    memcpy(expected, buffers[0], 12345);
    keel_xor_into(buffers[0], buffers[1] + 1, 12345);
    ck_assert_int_ne(memcmp(expected, buffers[0], 12345), 0);
    keel_xor_into(buffers[0], buffers[1] + 1, 12345);
    ck_assert_mem_eq(expected, buffers[0], 12345);
    keel_xor_into(buffers[0], buffers[0], 12345);
    memset(expected, 0, 12345);
    ck_assert_mem_eq(expected, buffers[0], 12345);
    free_buffers(2);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {no_source_gives_zeros,
                                  every_common_alignment_and_tail_equals_the_reference,
                                  random_shapes_equal_the_reference,
                                  counts_around_the_limit_of_one_pass_are_right,
                                  a_target_given_twice_cancels,
                                  into_twice_gives_the_original,
                                  NULL};

    return unit_run("xor", tests);
}
