/*
 * The table of epochs: numbers find their phase across trims, a full table, and the end of the
 * numbers.
 */
#include "oplog/epochs.h"

#include "unit.h"

#define CAPACITY 8

static keel_epochs_t epochs;

static void start(uint32_t open)
{
    ck_assert_int_eq(keel_epochs_init(&epochs, CAPACITY, 0), KEEL_OK);
    epochs.open = open;
}

START_TEST(an_epoch_lies_between_its_phase_and_the_next)
{
    uint32_t number[5][3];

    start(0);
    for (uint32_t phase = 0; phase < 5; phase++) {
        for (int i = 0; i < 3; i++) {
            ck_assert_int_eq(keel_epochs_enter(&epochs, 10 * phase), KEEL_OK);
            number[phase][i] = epochs.open;
            keel_epochs_close(&epochs);
        }
    }
    for (uint32_t phase = 0; phase < 5; phase++) {
        ck_assert_uint_eq(keel_epochs_find(&epochs, 10 * phase), number[phase][0]);
        for (int i = 0; i < 3; i++) {
            ck_assert(!keel_epoch_is_before(number[phase][i], keel_epochs_find(&epochs, 10 * phase)));
            ck_assert(keel_epoch_is_before(number[phase][i], keel_epochs_find(&epochs, 10 * phase + 1)));
        }
    }
    keel_epochs_release(&epochs);
}
END_TEST

START_TEST(a_phase_without_epochs_has_an_empty_range)
{
    start(0);
    ck_assert_uint_eq(keel_epochs_find(&epochs, 7), keel_epochs_find(&epochs, 8));
    ck_assert_int_eq(keel_epochs_enter(&epochs, 2), KEEL_OK);
    ck_assert_int_eq(keel_epochs_enter(&epochs, 9), KEEL_OK);
    ck_assert_uint_eq(keel_epochs_find(&epochs, 3), keel_epochs_find(&epochs, 8));
    ck_assert_uint_eq(keel_epochs_find(&epochs, 10), keel_epochs_find(&epochs, 11));
    ck_assert(keel_epoch_is_before(epochs.open, keel_epochs_find(&epochs, 10)));
    keel_epochs_release(&epochs);
}
END_TEST

START_TEST(a_full_table_refuses_until_it_is_trimmed)
{
    start(0);
    for (uint32_t phase = 0; phase < CAPACITY; phase++) {
        ck_assert_int_eq(keel_epochs_enter(&epochs, phase), KEEL_OK);
        ck_assert_int_eq(keel_epochs_enter(&epochs, phase), KEEL_OK); /* again: no new epoch */
    }
    ck_assert_int_eq(keel_epochs_enter(&epochs, CAPACITY), KEEL_ERR_BUDGET);
    keel_epochs_trim(&epochs, 3);
    ck_assert_int_eq(keel_epochs_enter(&epochs, CAPACITY), KEEL_OK);
    ck_assert_uint_eq(keel_epochs_find(&epochs, CAPACITY), epochs.open);
    ck_assert_uint_eq(keel_epochs_find(&epochs, 0), keel_epochs_find(&epochs, 3));
    keel_epochs_release(&epochs);
}
END_TEST

START_TEST(phases_before_the_oldest_record_are_forgotten)
{
    uint32_t first[4];

    start(0);
    for (uint32_t phase = 0; phase < 4; phase++) {
        ck_assert_int_eq(keel_epochs_enter(&epochs, phase), KEEL_OK);
        first[phase] = epochs.open;
        keel_epochs_close(&epochs);
        ck_assert_int_eq(keel_epochs_enter(&epochs, phase), KEEL_OK); /* a second epoch */
    }
    keel_epochs_trim_before(&epochs, first[2] + 1); /* inside phase 2, so phase 2 stays */
    ck_assert_uint_eq(keel_epochs_find(&epochs, 0), first[2]);
    ck_assert_uint_eq(keel_epochs_find(&epochs, 2), first[2]);
    ck_assert_uint_eq(keel_epochs_find(&epochs, 3), first[3]);
    keel_epochs_trim_before(&epochs, epochs.open + 1); /* no records, but the newest epoch stays */
    ck_assert_uint_eq(keel_epochs_find(&epochs, 3), first[3]);
    keel_epochs_release(&epochs);
}
END_TEST

START_TEST(flushes_take_no_room)
{
    start(0);
    for (uint32_t i = 0; i < 100 * CAPACITY; i++) {
        ck_assert_int_eq(keel_epochs_enter(&epochs, 1), KEEL_OK);
        keel_epochs_close(&epochs);
    }
    ck_assert_int_eq(keel_epochs_enter(&epochs, 2), KEEL_OK);
    keel_epochs_release(&epochs);
}
END_TEST

START_TEST(numbers_may_run_over_their_end)
{
    uint32_t before, after;

    start(UINT32_MAX - 2);
    ck_assert_int_eq(keel_epochs_enter(&epochs, 1), KEEL_OK);
    before = epochs.open;
    for (int i = 0; i < 5; i++) {
        keel_epochs_close(&epochs);
    }
    ck_assert_int_eq(keel_epochs_enter(&epochs, 2), KEEL_OK);
    after = epochs.open;
    ck_assert(after < before && keel_epoch_is_before(before, after));
    ck_assert_uint_eq(keel_epochs_find(&epochs, 2), after);
    keel_epochs_release(&epochs);
}
END_TEST

/* With as many epochs again, an old number would pass for a future one. */
START_TEST(a_table_that_goes_back_too_far_refuses_until_it_is_trimmed)
{
    start(UINT32_MAX - 1);
    ck_assert_int_eq(keel_epochs_enter(&epochs, 0), KEEL_OK);
    epochs.open += KEEL_EPOCHS_MAX - 1;
    ck_assert_int_eq(keel_epochs_enter(&epochs, 1), KEEL_OK);
    /* this call closed the epoch before */
    ck_assert_int_eq(keel_epochs_enter(&epochs, 1), KEEL_ERR_BUDGET);
    ck_assert_int_eq(keel_epochs_enter(&epochs, 2), KEEL_ERR_BUDGET);
    keel_epochs_trim(&epochs, 1);
    ck_assert_int_eq(keel_epochs_enter(&epochs, 2), KEEL_OK);
    keel_epochs_release(&epochs);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {an_epoch_lies_between_its_phase_and_the_next,
                                  a_phase_without_epochs_has_an_empty_range,
                                  a_full_table_refuses_until_it_is_trimmed,
                                  phases_before_the_oldest_record_are_forgotten,
                                  flushes_take_no_room,
                                  numbers_may_run_over_their_end,
                                  a_table_that_goes_back_too_far_refuses_until_it_is_trimmed,
                                  NULL};

    return unit_run("epochs", tests);
}
