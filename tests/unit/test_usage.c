/*
 * Usage: the laws of the merge, on values and on boards, and the part of a usage that an arrival
 * piggybacks.
 */
#include "peer/usage.h"

#include "unit.h"

#include <string.h>

#define ROUNDS 20000u
#define PHASES 5u

/* Draws few values of each field, so that equal values and 0 are frequent. */
static keel_usage_t usage_random(uint64_t *state)
{
    const uint64_t bits = unit_random(state);

    return (keel_usage_t){.classes = (uint32_t)(bits & 7) | ((bits & 8) ? KEEL_CLASS_MIXES : 0),
                          .fetched = (uint32_t)(bits >> 8) % PHASES,
                          .in_doubt = (uint32_t)(bits >> 16) % PHASES,
                          .begun = (uint32_t)(bits >> 24) % PHASES,
                          .waits = (uint32_t)(bits >> 32) % PHASES};
}

static keel_usage_t merged(keel_usage_t a, keel_usage_t b)
{
    (void)keel_usage_merge(&a, &b);
    return a;
}

static int are_equal(keel_usage_t a, keel_usage_t b)
{
    return memcmp(&a, &b, sizeof(a)) == 0;
}

START_TEST(merge_is_commutative_associative_and_idempotent)
{
    const keel_usage_t none = {0};
    uint64_t state = 1;

    for (unsigned i = 0; i < ROUNDS; i++) {
        const keel_usage_t a = usage_random(&state), b = usage_random(&state), c = usage_random(&state);

        ck_assert(are_equal(merged(a, b), merged(b, a)));
        ck_assert(are_equal(merged(merged(a, b), c), merged(a, merged(b, c))));
        ck_assert(are_equal(merged(a, a), a));
        ck_assert(are_equal(merged(merged(a, b), b), merged(a, b)));
        ck_assert(are_equal(merged(a, none), a));
    }
}
END_TEST

START_TEST(merge_returns_whether_the_value_has_changed)
{
    uint64_t state = 2;

    for (unsigned i = 0; i < ROUNDS; i++) {
        const keel_usage_t before = usage_random(&state), other = usage_random(&state);
        keel_usage_t usage = before;

        ck_assert_int_eq(keel_usage_merge(&usage, &other), !are_equal(usage, before));
    }
}
END_TEST

START_TEST(merge_loses_nothing)
{
    const keel_usage_t a = {.classes = 5, .fetched = 3, .waits = 4}, b = {.classes = 2, .begun = 1, .waits = 2};
    const keel_usage_t both = merged(a, b);

    ck_assert_uint_eq(both.classes, 7);
    ck_assert_uint_eq(both.fetched, 3);
    ck_assert_uint_eq(both.begun, 1);
    ck_assert_uint_eq(both.waits, 2); /* the earliest first wait */
}
END_TEST

/* `first` alone depends on the order: the phase of the first announcement */
static int is_same_slot(keel_board_slot_t a, keel_board_slot_t b)
{
    a.first = b.first = 0;
    return memcmp(&a, &b, sizeof(a)) == 0;
}

START_TEST(a_board_has_the_same_in_any_order_and_number_of_announcements)
{
    uint64_t state = 3;

    for (unsigned i = 0; i < ROUNDS; i++) {
        const keel_usage_t a = usage_random(&state), b = usage_random(&state), both = merged(a, b);
        keel_board_slot_t ab = {0}, ba = {0}, at_once = {0};

        keel_usage_store(&ab, &a);
        keel_usage_store(&ab, &b);
        keel_usage_store(&ba, &b);
        keel_usage_store(&ba, &a);
        keel_usage_store(&ba, &b);
        keel_usage_store(&at_once, &both);
        ck_assert(is_same_slot(ab, ba));
        ck_assert(is_same_slot(ab, at_once));
    }
}
END_TEST

START_TEST(an_arrival_has_the_usage_of_its_phase)
{
    uint64_t state = 4;

    for (unsigned i = 0; i < ROUNDS; i++) {
        const keel_usage_t usage = usage_random(&state);
        const uint32_t number = 1 + i % PHASES;
        const keel_usage_t of = keel_usage_unpack(keel_usage_pack(&usage, number), number);

        ck_assert_uint_eq(of.classes, usage.classes);
        ck_assert_uint_eq(of.fetched, usage.fetched == number ? number : 0);
        ck_assert_uint_eq(of.in_doubt, usage.in_doubt == number ? number : 0);
        ck_assert_uint_eq(of.waits, usage.waits == number + 1 ? number + 1 : 0);
        ck_assert(are_equal(merged(usage, of), usage));
    }
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {merge_is_commutative_associative_and_idempotent,
                                  merge_returns_whether_the_value_has_changed,
                                  merge_loses_nothing,
                                  a_board_has_the_same_in_any_order_and_number_of_announcements,
                                  an_arrival_has_the_usage_of_its_phase,
                                  NULL};

    return unit_run("usage", tests);
}
