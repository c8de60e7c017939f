/* The words of a lock: numbers have no gaps, readers and writers see each other, who asks again gets the same answer. */
#include "lane/lockword.h"

#include "lane/lane.h"

#include "unit.h"

#include <string.h>

#define RANKS 3

static _Alignas(64) unsigned char memory[sizeof(keel_lock_area_t) + RANKS * sizeof(uint64_t)];
static keel_lock_area_t *const area = (void *)memory;
static const keel_locker_t first = {.rank = 0, .ranks = RANKS}, second = {.rank = 1, .ranks = RANKS};

START_TEST(a_writer_asking_again_holds_the_same_number)
{
    memset(memory, 0, sizeof memory);
    ck_assert_uint_eq(keel_lock_try(area, &first), 1);
    ck_assert_uint_eq(keel_lock_try(area, &first), 1);
    ck_assert_uint_eq(keel_lock_try(area, &second), 0);
    keel_lock_release(area, &second); /* not the owner */
    ck_assert_uint_eq(keel_lock_owner(area->word), 1);
    keel_lock_release(area, &first);
    ck_assert_uint_eq(keel_lock_try(area, &second), 2);
}
END_TEST

START_TEST(a_reader_that_sees_a_writer_takes_its_word_back)
{
    memset(memory, 0, sizeof memory);
    ck_assert_uint_eq(keel_lock_try(area, &first), 1);
    ck_assert_uint_eq(keel_lock_try_read(area, &second, 7), 0);
    ck_assert_uint_eq(area->reading[1], 0);
}
END_TEST

START_TEST(a_reader_asking_again_does_not_count_the_writer_that_waits_for_it)
{
    uint64_t seen;

    memset(memory, 0, sizeof memory);
    keel_lock_try(area, &first);
    keel_lock_release(area, &first);
    seen = keel_lock_try_read(area, &second, 7);
    ck_assert_uint_eq(seen, 2);
    ck_assert_uint_eq(keel_lock_try(area, &first), 0); /* owns the word, waits for the reader */
    ck_assert_uint_eq(keel_lock_try_read(area, &second, 7), seen);
    keel_lock_release_read(area, &second);
    ck_assert_uint_eq(keel_lock_try(area, &first), 2);
}
END_TEST

START_TEST(own_readings_take_numbers_and_yield_to_writers)
{
    memset(memory, 0, sizeof memory);
    ck_assert_uint_eq(keel_lock_count_read(area), 1);
    ck_assert_uint_eq(keel_lock_count_read(area), 2);
    ck_assert_uint_eq(keel_lock_try(area, &second), 3);
    ck_assert_uint_eq(keel_lock_count_read(area), 0);
}
END_TEST

/* the word has the counter, the incarnation and rank + 1, from the top: 32, 10 and 22 bits */
START_TEST(the_word_says_who_took_it)
{
    const keel_lane_t lane = {.rank = 2, .incarnation = 5, .size = RANKS},
                      next = {.rank = 2, .incarnation = 6, .size = RANKS};
    const keel_locker_t owner = keel_lane_locker(&lane), replacement = keel_lane_locker(&next);

    memset(memory, 0, sizeof memory);
    ck_assert_uint_eq(keel_lock_answer(area, &owner, KEEL_LOCK_TRY, 1), 1);
    ck_assert_uint_eq(area->word, 0x0000000101400003u);
    ck_assert_uint_eq(keel_lock_try(area, &replacement), 1); /* what its predecessor owned, in the predecessor's name */
    ck_assert_uint_eq(area->word, 0x0000000101400003u);
    keel_lock_release(area, &replacement);
    ck_assert_uint_eq(area->word, 0x0000000100000000u);
    ck_assert_uint_eq(keel_lock_try(area, &replacement), 2);
    ck_assert_uint_eq(area->word, 0x0000000201800003u);
}
END_TEST

START_TEST(no_part_of_the_word_reaches_into_another)
{
    const uint64_t word = keel_lock_word(UINT32_MAX, (1u << KEEL_LOCK_RANK_BITS) - 2, 1023);

    ck_assert_uint_eq(word, UINT64_MAX);
    ck_assert_uint_eq(keel_lock_counter(word), UINT32_MAX);
    ck_assert_uint_eq(keel_lock_owner(word), (1u << KEEL_LOCK_RANK_BITS) - 1);
    ck_assert_uint_eq(keel_lock_word(8, 4, 1024 + 3), keel_lock_word(8, 4, 3)); /* read by people: its low bits */
    ck_assert_uint_eq(keel_lock_word(8, 4, 3), 0x0000000800c00005u);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {a_writer_asking_again_holds_the_same_number,
                                  a_reader_that_sees_a_writer_takes_its_word_back,
                                  a_reader_asking_again_does_not_count_the_writer_that_waits_for_it,
                                  own_readings_take_numbers_and_yield_to_writers,
                                  the_word_says_who_took_it,
                                  no_part_of_the_word_reaches_into_another,
                                  NULL};

    return unit_run("lockword", tests);
}
