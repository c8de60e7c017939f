/* When a coordinated checkpoint is due, in virtual time. */
#include "ckpt/interval.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

#define SECOND 1000000000ull

static keel_interval_t interval_of(keel_interval_mode_t mode, double value, double mtbf_s, uint64_t now_ns)
{
    const keel_config_t config = {.interval_mode = mode, .interval_value = value, .mtbf_s = mtbf_s};
    keel_interval_t interval;

    keel_interval_init(&interval, &config, now_ns);
    return interval;
}

/* sqrt(2 C M) (1 + sqrt(C / 2M) / 3 + C / 18M) - C [F 6.1], computed apart from the code with 40
 * decimal digits */
START_TEST(daly_is_the_published_optimum)
{
    static const struct {
        double cost_s, mtbf_s, interval_s;
    } published[] = {{1, 3600, 84.1874565327212336},   {0.02, 86400, 58.7744212494782936},
                     {0.075, 600, 9.4368988612897248}, {60, 600, 229.818869284974623},
                     {300, 600, 416.666666666666667},  {8, 4.5, 3.9900005223115155},
                     {0.02, 100, 1.9866888888888889}};

    for (size_t i = 0; i < sizeof published / sizeof *published; i++) {
        ck_assert_double_eq_tol(keel_interval_daly_s(published[i].cost_s, published[i].mtbf_s), published[i].interval_s,
                                1e-13 * published[i].interval_s);
    }
}
END_TEST

/* The two cases of the formula do not meet: just below C = 2M the interval is 8/9 M. */
START_TEST(daly_steps_to_the_mtbf_where_a_checkpoint_costs_twice_as_much)
{
    ck_assert_double_eq_tol(keel_interval_daly_s(nextafter(20, 0), 10), 80.0 / 9, 1e-9);
    ck_assert_double_eq(keel_interval_daly_s(20, 10), 10);
    ck_assert_double_eq(keel_interval_daly_s(1000, 10), 10);
    ck_assert_double_eq(keel_interval_daly_s(0, 10), 0);
}
END_TEST

START_TEST(daly_is_never_negative_and_grows_with_the_mtbf)
{
    for (double cost = 1e-6; cost < 1e3; cost *= 3) {
        double before = 0;

        for (double mtbf = cost; mtbf < 1e7; mtbf *= 2) {
            const double now = keel_interval_daly_s(cost, mtbf);

            ck_assert(now >= 0);
            if (cost < 2 * mtbf) {
                ck_assert(now > before);
                before = now;
            }
        }
    }
}
END_TEST

START_TEST(off_is_never_due)
{
    keel_interval_t interval = interval_of(KEEL_INTERVAL_OFF, 1, 1, 0);

    for (uint64_t i = 0; i < 1000; i++) {
        ck_assert(!keel_interval_is_due(&interval, i * SECOND));
    }
}
END_TEST

START_TEST(gsyncs_are_counted_since_the_last_one_taken)
{
    keel_interval_t interval = interval_of(KEEL_INTERVAL_GSYNCS, 3, 1, 0);

    for (int round = 0; round < 5; round++) {
        ck_assert(!keel_interval_is_due(&interval, 0));
        ck_assert(!keel_interval_is_due(&interval, 0));
        ck_assert(keel_interval_is_due(&interval, 0));
        ck_assert(keel_interval_is_due(&interval, 0)); /* given up, not taken: still due */
        keel_interval_taken(&interval, 0, 0.1);
    }
}
END_TEST

START_TEST(time_is_counted_since_the_last_one_taken)
{
    const uint64_t start = 77 * SECOND;
    keel_interval_t interval = interval_of(KEEL_INTERVAL_TIME, 2.5, 1, start);

    ck_assert(!keel_interval_is_due(&interval, start));
    ck_assert(!keel_interval_is_due(&interval, start + 2 * SECOND));
    ck_assert(keel_interval_is_due(&interval, start + 5 * SECOND / 2));
    keel_interval_taken(&interval, start + 3 * SECOND, 0.1);
    ck_assert(!keel_interval_is_due(&interval, start + 5 * SECOND));
    ck_assert(keel_interval_is_due(&interval, start + 6 * SECOND));
}
END_TEST

START_TEST(a_clock_that_went_back_makes_nothing_due)
{
    keel_interval_t interval = interval_of(KEEL_INTERVAL_TIME, 1, 1, 100 * SECOND);

    ck_assert(!keel_interval_is_due(&interval, 5 * SECOND));
}
END_TEST

START_TEST(daly_takes_the_first_at_once_and_then_by_the_measured_cost)
{
    keel_interval_t interval = interval_of(KEEL_INTERVAL_DALY, 0, 200, 0);
    const uint64_t next = (uint64_t)(keel_interval_daly_s(1, 200) * 1e9); /* 19.3 s */

    ck_assert(keel_interval_is_due(&interval, 0));
    keel_interval_taken(&interval, SECOND, 1.0);
    ck_assert(!keel_interval_is_due(&interval, SECOND));
    ck_assert(!keel_interval_is_due(&interval, next));
    ck_assert(keel_interval_is_due(&interval, SECOND + next + 1));
}
END_TEST

START_TEST(daly_spaces_checkpoints_over_a_long_run)
{
    keel_interval_t interval = interval_of(KEEL_INTERVAL_DALY, 0, 3600, 0);
    const uint64_t cost_ns = SECOND / 2;
    uint64_t now = 0, taken = 0;

    while (now < 3600 * SECOND) { /* a safe gsync every 100 ms */
        now += SECOND / 10;
        if (keel_interval_is_due(&interval, now)) {
            now += cost_ns;
            taken++;
            keel_interval_taken(&interval, now, 0.5);
        }
    }
    /* One checkpoint at the start, then one every daly + cost = 60.167 s. */
    ck_assert_uint_ge(taken, 59);
    ck_assert_uint_le(taken, 61);
}
END_TEST

START_TEST(cost_is_smoothed_and_follows)
{
    keel_interval_t interval = interval_of(KEEL_INTERVAL_DALY, 0, 100, 0);

    keel_interval_taken(&interval, 0, 1.0);
    ck_assert_double_eq(interval.cost_s, 1.0);
    keel_interval_taken(&interval, 0, 3.0);
    ck_assert(interval.cost_s > 1.0 && interval.cost_s < 2.0);
    for (int i = 0; i < 50; i++) {
        keel_interval_taken(&interval, 0, 3.0);
    }
    ck_assert_double_eq_tol(interval.cost_s, 3.0, 1e-3);
}
END_TEST

START_TEST(a_cost_too_small_to_measure_is_a_known_cost)
{
    keel_interval_t interval = interval_of(KEEL_INTERVAL_DALY, 0, 3600, 0);

    ck_assert(keel_interval_is_due(&interval, 0));
    keel_interval_taken(&interval, 0, 0);
    ck_assert(!keel_interval_is_due(&interval, 0));
    keel_interval_taken(&interval, 0, -1);
    ck_assert(interval.cost_s > 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("ckpt interval");
    TCase *tcase = tcase_create("interval");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_add_test(tcase, daly_is_the_published_optimum);
    tcase_add_test(tcase, daly_steps_to_the_mtbf_where_a_checkpoint_costs_twice_as_much);
    tcase_add_test(tcase, daly_is_never_negative_and_grows_with_the_mtbf);
    tcase_add_test(tcase, off_is_never_due);
    tcase_add_test(tcase, gsyncs_are_counted_since_the_last_one_taken);
    tcase_add_test(tcase, time_is_counted_since_the_last_one_taken);
    tcase_add_test(tcase, a_clock_that_went_back_makes_nothing_due);
    tcase_add_test(tcase, daly_takes_the_first_at_once_and_then_by_the_measured_cost);
    tcase_add_test(tcase, daly_spaces_checkpoints_over_a_long_run);
    tcase_add_test(tcase, cost_is_smoothed_and_follows);
    tcase_add_test(tcase, a_cost_too_small_to_measure_is_a_known_cost);
    suite_add_tcase(suite, tcase);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
