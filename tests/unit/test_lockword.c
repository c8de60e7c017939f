/*
 * The words of a lock: numbers have no gaps, readers and writers see each other, a repeated request
 * gets the same answer.
 */
#include "peer/lockword.h"

#include "peer/peer.h"

#include "unit.h"

#include <string.h>

#define RANKS 3

static _Alignas(64) unsigned char memory[sizeof(keel_lock_area_t) + KEEL_LOCK_WORDS(RANKS) * sizeof(uint64_t)];
static keel_lock_area_t *const area = (void *)memory;
static const keel_locker_t first = {.rank = 0, .ranks = RANKS}, second = {.rank = 1, .ranks = RANKS};

START_TEST(a_writer_asking_again_holds_the_same_number)
{
    memset(memory, 0, sizeof memory);
    ck_assert_uint_eq(keel_lock_try(area, &first, 0), 1);
    ck_assert_uint_eq(keel_lock_try(area, &first, 0), 1);
    ck_assert_uint_eq(keel_lock_try(area, &second, 0), 0);
    keel_lock_release(area, &second); /* not the owner */
    ck_assert_uint_eq(keel_lock_owner(area->word), 1);
    keel_lock_release(area, &first);
    ck_assert_uint_eq(keel_lock_try(area, &second, 0), 2);
}
END_TEST

START_TEST(a_reader_that_sees_a_writer_takes_its_word_back)
{
    memset(memory, 0, sizeof memory);
    ck_assert_uint_eq(keel_lock_try(area, &first, 0), 1);
    ck_assert_uint_eq(keel_lock_try_read(area, &second, 7), 0);
    ck_assert_uint_eq(area->reading[1], 0);
}
END_TEST

START_TEST(a_reader_asking_again_does_not_count_the_writer_that_waits_for_it)
{
    uint64_t seen;

    memset(memory, 0, sizeof memory);
    keel_lock_try(area, &first, 0);
    keel_lock_release(area, &first);
    seen = keel_lock_try_read(area, &second, 7);
    ck_assert_uint_eq(seen, 2);
    ck_assert_uint_eq(keel_lock_try(area, &first, 0), 0); /* owns the word, waits for the reader */
    ck_assert_uint_eq(keel_lock_try_read(area, &second, 7), seen);
    keel_lock_release_read(area, &second);
    ck_assert_uint_eq(keel_lock_try(area, &first, 0), 2);
}
END_TEST

START_TEST(own_readings_take_numbers_and_yield_to_writers)
{
    memset(memory, 0, sizeof memory);
    ck_assert_uint_eq(keel_lock_count_read(area), 1);
    ck_assert_uint_eq(keel_lock_count_read(area), 2);
    ck_assert_uint_eq(keel_lock_try(area, &second, 0), 3);
    ck_assert_uint_eq(keel_lock_count_read(area), 0);
}
END_TEST

/* The word has the counter and rank + 1, from the top: 42 and 22 bits. */
START_TEST(the_word_has_the_owner)
{
    const keel_lane_t lane = {.rank = 2, .incarnation = 5, .size = RANKS},
                      next = {.rank = 2, .incarnation = 6, .size = RANKS};
    const keel_locker_t owner = keel_lane_locker(&lane), replacement = keel_lane_locker(&next);

    memset(memory, 0, sizeof memory);
    ck_assert_uint_eq(keel_lock_answer(area, &owner, KEEL_LOCK_TRY, 1), 1);
    ck_assert_uint_eq(area->word, 0x0000000000400003u);
    /* takes over the lock of the predecessor */
    ck_assert_uint_eq(keel_lock_try(area, &replacement, 0), 1);
    keel_lock_release(area, &replacement);
    ck_assert_uint_eq(area->word, 0x0000000000400000u);
    ck_assert_uint_eq(keel_lock_try(area, &replacement, 0), 2);
    ck_assert_uint_eq(area->word, 0x0000000000800003u);
}
END_TEST

START_TEST(no_part_of_the_word_reaches_into_another)
{
    const uint64_t word = keel_lock_word(KEEL_LOCK_COUNTER_MAX, (1u << KEEL_LOCK_RANK_BITS) - 2);

    ck_assert_uint_eq(word, UINT64_MAX);
    ck_assert_uint_eq(keel_lock_counter(word), KEEL_LOCK_COUNTER_MAX);
    ck_assert_uint_eq(keel_lock_owner(word), (1u << KEEL_LOCK_RANK_BITS) - 1);
    ck_assert_uint_eq(keel_lock_word(8, 4), 0x0000000002000005u);
    ck_assert_uint_eq(keel_reading(UINT32_MAX, 1) >> 63, 0); /* a reader's word has one more bit */
    ck_assert_uint_eq(keel_reading_phase(keel_reading(UINT32_MAX, (1u << KEEL_READING_BITS) - 1)), UINT32_MAX);
}
END_TEST

/* Numbers exceed 32 bits and then stop: 0 would be no number at all. */
START_TEST(numbers_do_not_come_again)
{
    memset(memory, 0, sizeof memory);
    area->word = keel_lock_word_free(UINT32_MAX);
    ck_assert_uint_eq(keel_lock_try(area, &first, 0), 1ull << 32);
    ck_assert_uint_eq(keel_lock_try(area, &first, 0), 1ull << 32);
    keel_lock_release(area, &first);
    ck_assert_uint_eq(keel_lock_count_read(area), (1ull << 32) + 1);
    ck_assert_uint_eq(keel_lock_try_read(area, &second, 7), (1ull << 32) + 2);
    keel_lock_release_read(area, &second);
    area->word = keel_lock_word_free(KEEL_LOCK_COUNTER_MAX - 1);
    ck_assert_uint_eq(keel_lock_try(area, &first, 0), KEEL_LOCK_COUNTER_MAX);
    ck_assert_uint_eq(keel_lock_try(area, &second, 0), 0);
    keel_lock_release(area, &first);
    ck_assert_uint_eq(keel_lock_try(area, &second, 0), KEEL_LOCK_SPENT);
    ck_assert_uint_eq(keel_lock_count_read(area), KEEL_LOCK_SPENT);
    /* a pure reader takes no number */
    ck_assert_uint_eq(keel_lock_try_read(area, &second, 8), KEEL_LOCK_COUNTER_MAX + 1);
    ck_assert_uint_eq(keel_lock_owner(area->word), 0);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {a_writer_asking_again_holds_the_same_number,
                                  a_reader_that_sees_a_writer_takes_its_word_back,
                                  a_reader_asking_again_does_not_count_the_writer_that_waits_for_it,
                                  own_readings_take_numbers_and_yield_to_writers,
                                  the_word_has_the_owner,
                                  no_part_of_the_word_reaches_into_another,
                                  numbers_do_not_come_again,
                                  NULL};

    return unit_run("lockword", tests);
}
