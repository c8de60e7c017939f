/*
 * CRC-32C against a bit-by-bit reference, over alignments, tails and splits; the copy copies
 * exactly.
 */
#include "base/crc.h"

#include "racer.h"
#include "unit.h"

#include <string.h>

#define LARGE ((size_t)70000)
#define RACED 64 /* words written by another thread */

static unsigned char source[LARGE + 128] __attribute__((aligned(64)));
static unsigned char target[LARGE + 256] __attribute__((aligned(64)));

static uint32_t reference(uint32_t seed, const unsigned char *bytes, size_t length)
{
    uint32_t crc = ~seed;
    size_t i;
    int bit;

    for (i = 0; i < length; i++) {
        crc ^= bytes[i];
        for (bit = 0; bit < 8; bit++) {
            crc = (crc >> 1) ^ ((crc & 1) ? 0x82f63b78u : 0);
        }
    }
    return ~crc;
}

static void fill(uint64_t *state)
{
    size_t i;

    for (i = 0; i < sizeof source; i++) {
        source[i] = (unsigned char)unit_random(state);
    }
}

/* Copies, then checks the sum, the bytes, and that the bytes around are unchanged. */
static void copy_and_check(size_t to, size_t from, size_t length, uint32_t seed)
{
    unsigned char untouched[128];

    memset(target, 0xee, sizeof target);
    memset(untouched, 0xee, sizeof untouched);
    ck_assert_uint_eq(keel_crc_copy(seed, target + 64 + to, source + from, length),
                      keel_crc(seed, source + from, length));
    ck_assert_mem_eq(target + 64 + to, source + from, length);
    ck_assert_mem_eq(target, untouched, 64 + to);
    ck_assert_mem_eq(target + 64 + to + length, untouched, 64);
}

/* The program may write the source during a copy. The sum is of the copied bytes in any case. The
 * head up to the first line, the streamed lines and the tail are copied in different ways. */
START_TEST(the_sum_is_of_what_was_copied)
{
    static const struct {
        size_t length, first, count;
    } cases[] = {{40, 0, 5}, {1000, 30, RACED}, {5096, 0, 7}, {5096, 580, 57}, {65536, 100, RACED}};
    static uint64_t from[8192], to[8192 + 1], before[8192 + 1];

    for (unsigned c = 0; c < sizeof(cases) / sizeof(*cases); c++) {
        char *target_at_odd = (char *)to + 1;
        unsigned differing = 0, changes = 0;
        racer_t racer;

        racer_begin(&racer, from + cases[c].first, cases[c].count);
        for (unsigned i = 0; i < 2000 || changes < 10; i++) {
            differing +=
                keel_crc_copy(0, target_at_odd, from, cases[c].length) != keel_crc(0, target_at_odd, cases[c].length);
            changes += memcmp(before, target_at_odd, cases[c].length) != 0;
            memcpy(before, target_at_odd, cases[c].length);
        }
        racer_end(&racer);
        ck_assert_msg(differing == 0, "case %u: %u sums", c, differing);
    }
}
END_TEST

START_TEST(published_values_come_out)
{
    unsigned char bytes[32];
    int i;

    ck_assert_uint_eq(keel_crc(0, "123456789", 9), 0xe3069283u);
    memset(bytes, 0, sizeof bytes);
    ck_assert_uint_eq(keel_crc(0, bytes, 32), 0x8a9136aau); /* RFC 3720, B.4 */
    memset(bytes, 0xff, sizeof bytes);
    ck_assert_uint_eq(keel_crc(0, bytes, 32), 0x62a8ab43u);
    for (i = 0; i < 32; i++) {
        bytes[i] = i;
    }
    ck_assert_uint_eq(keel_crc(0, bytes, 32), 0x46dd794eu);
    ck_assert_uint_eq(keel_crc(0, bytes, 0), 0);
}
END_TEST

START_TEST(every_alignment_and_tail_equals_the_reference)
{
    uint64_t state = unit_seed();
    size_t offset, length;

    fill(&state);
    for (offset = 0; offset < 64; offset++) {
        for (length = 0; length < 260; length++) {
            ck_assert_uint_eq(keel_crc(7, source + offset, length), reference(7, source + offset, length));
        }
    }
    ck_assert_uint_eq(keel_crc(0, source, LARGE), reference(0, source, LARGE));
}
END_TEST

START_TEST(a_sum_can_be_taken_in_parts)
{
    uint64_t state = unit_seed();
    size_t split, length;
    int i;

    fill(&state);
    for (i = 0; i < UNIT_ROUNDS(200); i++) {
        length = unit_random(&state) % LARGE;
        split = unit_random(&state) % (length + 1);
        ck_assert_uint_eq(keel_crc(keel_crc(0, source, split), source + split, length - split),
                          keel_crc(0, source, length));
    }
}
END_TEST

START_TEST(a_copy_is_exact_for_every_alignment_and_tail)
{
    uint64_t state = unit_seed();
    size_t to, from, length;

    fill(&state);
    for (to = 0; to < 17; to++) {
        for (from = 0; from < 17; from++) {
            for (length = 0; length < 36; length++) {
                copy_and_check(to, from, length, 0);
            }
            copy_and_check(to, from, 4096 + to, 3);
            copy_and_check(to, from, 4095 + from, 3);
        }
    }
}
END_TEST

START_TEST(long_copies_are_exact)
{
    uint64_t state = unit_seed();
    int i;

    fill(&state);
    for (i = 0; i < UNIT_ROUNDS(300); i++) {
        copy_and_check(unit_random(&state) % 64, unit_random(&state) % 64, unit_random(&state) % LARGE,
                       (uint32_t)unit_random(&state));
    }
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {the_sum_is_of_what_was_copied,
                                  published_values_come_out,
                                  every_alignment_and_tail_equals_the_reference,
                                  a_sum_can_be_taken_in_parts,
                                  a_copy_is_exact_for_every_alignment_and_tail,
                                  long_copies_are_exact,
                                  NULL};

    return unit_run("crc", tests);
}
