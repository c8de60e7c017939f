/*
 * The digest of records: an equal re-execution has an equal digest, and a change of any byte of a
 * short record changes the digest.
 */
#include "wire/digest.h"

#include "unit.h"

#define PHASE  3u
#define RECORD 64u /* longest data that are summed as a whole, in bytes */

typedef struct made {
    uint64_t where;
    uint32_t length, epoch;
    uint8_t data[RECORD * 16];
} made_t;

static void fill(made_t *made, uint32_t length, uint64_t *state)
{
    *made = (made_t){.where = keel_where(unit_random(state) % 4096, KEEL_RECORD_PUT, 12), .length = length};
    for (uint32_t i = 0; i < sizeof(made->data); i++) {
        made->data[i] = (uint8_t)unit_random(state);
    }
}

static void add(keel_digest_t *digest, uint32_t number, const made_t *made, unsigned shift)
{
    const keel_record_t record = {.where = made->where, .length = made->length, .epoch = made->epoch};
    uint8_t data[sizeof(made->data) + 8];

    memset(data, 0xa5, sizeof(data));
    memcpy(data + shift, made->data, made->length);
    keel_digest_add(digest, PHASE, number, &record, data + shift);
}

/* Sums the record between two others. */
static uint64_t sum_of(const made_t *made, unsigned shift)
{
    const made_t other = {.where = keel_where(8, KEEL_RECORD_PUT, 12), .length = 8};
    keel_digest_t digest = {0};

    add(&digest, 0, &other, shift);
    add(&digest, 1, made, shift);
    add(&digest, 2, &other, shift);
    ck_assert_uint_eq(keel_digest_count(&digest), 3);
    ck_assert_uint_eq(keel_digest_phase(&digest), PHASE);
    return digest.sum;
}

START_TEST(any_byte_of_a_short_record_shows)
{
    uint64_t state = 1;
    made_t made;

    for (uint32_t length = 1; length <= RECORD; length++) {
        fill(&made, length, &state);
        const uint64_t sum = sum_of(&made, 0);

        for (uint32_t i = 0; i < length * 8; i++) {
            made.data[i / 8] ^= (uint8_t)(1u << (i % 8));
            ck_assert_uint_ne(sum_of(&made, 0), sum);
            made.data[i / 8] ^= (uint8_t)(1u << (i % 8));
        }
        made.where++;
        ck_assert_uint_ne(sum_of(&made, 0), sum);
        made.where--;
        made.length--;
        ck_assert_uint_ne(sum_of(&made, 0), sum);
    }
}
END_TEST

START_TEST(signs_that_change_together_show)
{
    uint64_t state = 2;
    made_t made;

    fill(&made, RECORD, &state);
    const uint64_t sum = sum_of(&made, 0);

    for (uint32_t i = 7; i + 8 < RECORD; i += 8) { /* every other double */
        made.data[i] ^= 0x80;
        made.data[i + 8] ^= 0x80;
        ck_assert_uint_ne(sum_of(&made, 0), sum);
        made.data[i] ^= 0x80;
        made.data[i + 8] ^= 0x80;
    }
}
END_TEST

START_TEST(a_long_record_that_is_another_throughout_shows)
{
    uint64_t state = 3;
    made_t made;

    for (uint32_t length = RECORD + 1; length <= sizeof(made.data); length++) {
        fill(&made, length, &state);
        const uint64_t sum = sum_of(&made, 0);

        made.data[0] ^= 1; /* the first and the last word are summed */
        ck_assert_uint_ne(sum_of(&made, 0), sum);
        made.data[0] ^= 1;
        made.data[length - 1] ^= 1;
        ck_assert_uint_ne(sum_of(&made, 0), sum);
    }
}
END_TEST

START_TEST(what_is_not_the_programs_does_not_show)
{
    uint64_t state = 4;
    made_t made;

    fill(&made, 17, &state);
    const uint64_t sum = sum_of(&made, 0);

    made.epoch = 9;
    made.data[17] ^= 1; /* padding */
    for (unsigned shift = 0; shift < 8; shift++) {
        ck_assert_uint_eq(sum_of(&made, shift), sum);
    }
    for (int is_lock = 0; is_lock < 2; is_lock++) {
        fill(&made, 8, &state);
        made.where = keel_where(0, is_lock ? KEEL_RECORD_LOCK : KEEL_RECORD_CLOCK, 12);
        const uint64_t clock = sum_of(&made, 0);

        made.data[0] ^= 1;
        ck_assert_uint_eq(sum_of(&made, 0), clock);
    }
}
END_TEST

START_TEST(records_are_counted_without_a_gap_and_from_0_in_each_phase)
{
    const made_t made = {.where = keel_where(8, KEEL_RECORD_PUT, 12), .length = 8};
    const keel_record_t record = {.where = made.where, .length = 8};
    keel_digest_t digest = {0};

    add(&digest, 1, &made, 0); /* record 0 came another way */
    ck_assert_uint_eq(keel_digest_count(&digest), 0);
    add(&digest, 0, &made, 0);
    add(&digest, 1, &made, 0);
    add(&digest, 3, &made, 0);
    ck_assert_uint_eq(keel_digest_count(&digest), 2);
    keel_digest_end(&digest, PHASE);
    ck_assert(!digest.is_all);
    keel_digest_end(&digest, PHASE + 1);
    ck_assert(digest.is_all);
    keel_digest_add(&digest, PHASE + 1, 0, &record, made.data);
    ck_assert_uint_eq(keel_digest_phase(&digest), PHASE + 1);
    ck_assert_uint_eq(keel_digest_count(&digest), 1);
    ck_assert(!digest.is_all);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {any_byte_of_a_short_record_shows,
                                  signs_that_change_together_show,
                                  a_long_record_that_is_another_throughout_shows,
                                  what_is_not_the_programs_does_not_show,
                                  records_are_counted_without_a_gap_and_from_0_in_each_phase,
                                  NULL};

    return unit_run("digest", tests);
}
