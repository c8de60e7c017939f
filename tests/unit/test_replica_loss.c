/*
 * Loss of replicated data: the paper's alternating sum, kept precise, against enumeration and
 * against a count that never subtracts; the expectation against the plain sum and the paper's
 * figure.
 */
#include "tools/topo/replica_loss.h"

#include "unit.h"

#include <math.h>

static void assert_close(double a, double b, double relative)
{
    ck_assert_msg(fabs(a - b) <= relative * fmax(fabs(a), fabs(b)), "%.17g and %.17g", a, b);
}

/* True if r consecutive processes of a ring are in the set. The rings follow each other; the first
 * ones have one process more than the others. */
static int is_lost(unsigned set, unsigned p, unsigned r)
{
    const unsigned groups = p / r;
    unsigned begin = 0, i, first, k;

    for (i = 0; i < groups; i++) {
        const unsigned size = p / groups + (i < p % groups);

        for (first = 0; first < size; first++) {
            int whole = 1;
            for (k = 0; k < r; k++) {
                whole &= (set >> (begin + (first + k) % size)) & 1;
            }
            if (whole) {
                return 1;
            }
        }
        begin += size;
    }
    return 0;
}

/* Returns the share of sets of f failures that lose data. */
static double enumerate(unsigned p, unsigned r, unsigned f)
{
    double all = 0, lost = 0;
    unsigned set;

    for (set = 0; set < (1u << p); set++) {
        if ((unsigned)__builtin_popcount(set) == f) {
            all++;
            lost += is_lost(set, p, r);
        }
    }
    return lost / all;
}

START_TEST(loss_is_what_enumeration_finds)
{
    unsigned p, r, f;

    for (p = 1; p <= 12; p++) {
        for (r = 1; r <= p; r++) {
            const keel_replicas_t replicas = {p, r};

            ck_assert_int_eq(keel_replicas_check(&replicas), KEEL_OK);
            for (f = 0; f <= p; f++) {
                const double lost = enumerate(p, r, f);
                assert_close(keel_replicas_loss(&replicas, f), lost, 1e-13);
                ck_assert_double_eq_tol(keel_replicas_survival(&replicas, f), 1 - lost, 1e-14);
                ck_assert_double_eq_tol(keel_replicas_loss_at(&replicas, f),
                                        (f > 0) ? lost - enumerate(p, r, f - 1) : 0, 1e-14);
            }
        }
    }
}
END_TEST

START_TEST(impossible_numbers_are_refused)
{
    static const keel_replicas_t wrong[] = {{100, 17}, {3, 4}, {0, 1}, {4, 0}};
    unsigned i;

    for (i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        ck_assert_int_eq(keel_replicas_check(&wrong[i]), KEEL_ERR_INVALID_PARAM);
    }
}
END_TEST

/* Around the number up to which processes are counted, both ways give almost the same. */
START_TEST(many_processes_are_as_few)
{
    const keel_replicas_t few = {4095, 4}, many = {4099, 4}, divided = {4096, 4};
    uint64_t f;

    for (f = 4; f < 1000; f += 83) {
        const double between = keel_replicas_loss(&divided, f);

        ck_assert_double_eq_tol(keel_replicas_loss(&few, f) / between, 1, 0.03);
        ck_assert_double_eq_tol(keel_replicas_loss(&many, f) / between, 1, 0.03);
        ck_assert_double_eq_tol(keel_replicas_survival(&many, f), 1 - keel_replicas_loss(&many, f), 1e-14);
    }
    assert_close(keel_replicas_failures_expected(&few), keel_replicas_failures_expected(&divided), 0.01);
    assert_close(keel_replicas_failures_expected(&many), keel_replicas_failures_expected(&divided), 0.01);
    /* three groups of five lose more than groups of four: 5 choices of 4 failures each */
    assert_close(keel_replicas_loss(&many, 4), (1021 + 3 * 5) * 24.0 / (4099.0 * 4098 * 4097 * 4096), 1e-12);
}
END_TEST

#define GROUPS_MAX   64
#define REPLICAS_MAX 8

/*
 * Counts the ways to choose f of g groups of r without a whole group, over all ways, one group
 * after the other. The count only adds and multiplies positive numbers. Failures are dealt as in a
 * draw without replacement.
 */
static void survival_by_groups(unsigned groups, unsigned r, double *survival)
{
    static long double ways[GROUPS_MAX * REPLICAS_MAX + 1], all[GROUPS_MAX * REPLICAS_MAX + 1];
    unsigned g, i, k;

    for (i = 0; i <= groups * r; i++) {
        ways[i] = all[i] = (i == 0);
    }
    for (g = 0; g < groups; g++) {
        for (i = groups * r; i > 0; i--) {
            long double choose = 1;
            for (k = 1; (k <= r) && (k <= i); k++) {
                choose = choose * (r - k + 1) / k;
                ways[i] += (k < r) ? choose * ways[i - k] : 0;
                all[i] += choose * all[i - k];
            }
        }
    }
    for (i = 0; i <= groups * r; i++) {
        survival[i] = (double)(ways[i] / all[i]);
    }
}

START_TEST(survival_is_right_where_the_alternating_sum_cancels)
{
    static double survival[GROUPS_MAX * REPLICAS_MAX + 1];
    unsigned r, f;

    for (r = 2; r <= REPLICAS_MAX; r++) {
        const keel_replicas_t replicas = {(uint64_t)GROUPS_MAX * r, r};
        survival_by_groups(GROUPS_MAX, r, survival);
        for (f = 0; f <= GROUPS_MAX * r; f++) {
            ck_assert_double_eq_tol(keel_replicas_survival(&replicas, f), survival[f], 1e-13);
            ck_assert_double_eq_tol(keel_replicas_loss(&replicas, f), 1 - survival[f], 1e-13);
        }
    }
}
END_TEST

START_TEST(loss_grows_with_failures_and_falls_with_replicas)
{
    uint64_t seed = unit_seed();
    unsigned round;

    for (round = 0; round < 200; round++) {
        const uint64_t r = 1 + unit_random(&seed) % 6;
        const uint64_t p = r * (r + 1) * (1 + unit_random(&seed) % 100000);
        const keel_replicas_t few = {p, r}, more = {p, r + 1};
        const uint64_t f = unit_random(&seed) % p;
        const double loss = keel_replicas_loss(&few, f);

        ck_assert(loss >= 0 && loss <= 1);
        ck_assert_msg(keel_replicas_loss(&few, f + 1) >= loss * (1 - 1e-13), "p %llu r %llu f %llu",
                      (unsigned long long)p, (unsigned long long)r, (unsigned long long)f);
        ck_assert(keel_replicas_loss(&more, f) <= loss * (1 + 1e-13));
    }
}
END_TEST

START_TEST(tiny_losses_keep_their_digits)
{
    /* The first possible loss: one group whole among r failures, g / C(p, r). */
    const keel_replicas_t replicas = {1u << 25, 4};
    const double p = 1u << 25;

    assert_close(keel_replicas_loss(&replicas, 4), p / 4 * 24 / (p * (p - 1) * (p - 2) * (p - 3)), 1e-14);
    ck_assert(keel_replicas_loss(&replicas, 4) < 1e-20);
    assert_close(keel_replicas_loss_at(&replicas, 5), keel_replicas_loss(&replicas, 4) * 4, 1e-10);
}
END_TEST

START_TEST(the_approximation_is_close_for_few_failures)
{
    const keel_replicas_t replicas = {1u << 25, 4};

    /* The approximation ignores that failures are different processes: (1 - 6 / f) for r = 4. */
    assert_close(keel_replicas_loss_approximate(&replicas, 100000), keel_replicas_loss(&replicas, 100000), 1e-3);
    assert_close(keel_replicas_failures_approximate(&replicas), pow(2, 25) * pow(4 / pow(2, 25), 0.25), 1e-14);
    assert_close(
        keel_replicas_loss_approximate(&replicas, (uint64_t)lrint(keel_replicas_failures_approximate(&replicas))), 1,
        1e-5);
}
END_TEST

START_TEST(the_integral_is_the_sum)
{
    const keel_replicas_t replicas[] = {{1u << 14, 4}, {3u << 14, 3}, {1u << 22, 2}};
    unsigned i;
    uint64_t f;

    for (i = 0; i < sizeof replicas / sizeof *replicas; i++) {
        double sum = 0, survival;
        for (f = 0; (survival = keel_replicas_survival(&replicas[i], f)) > 1e-15; f++) {
            sum += survival;
        }
        assert_close(keel_replicas_failures_expected(&replicas[i]), sum, 1e-10);
    }
}
END_TEST

START_TEST(expectations_known_in_closed_form)
{
    const keel_replicas_t alone = {1000, 1}, one_group = {7, 7}, pairs = {4, 2};

    assert_close(keel_replicas_failures_expected(&alone), 1, 1e-14);
    assert_close(keel_replicas_failures_expected(&one_group), 7, 1e-14);
    /* Two pairs: the second failure loses with 1/3, else the third. */
    assert_close(keel_replicas_failures_expected(&pairs), 2 * 1.0 / 3 + 3 * 2.0 / 3, 1e-14);
}
END_TEST

/* [R VI-B1]: with r = 4 more than 1 % of 2^25 processes have to fail. */
START_TEST(four_replicas_survive_one_percent_of_two_to_the_25)
{
    const keel_replicas_t replicas = {1u << 25, 4};
    const double share = keel_replicas_failures_expected(&replicas) / (1u << 25);

    ck_assert_msg(share > 0.0168 && share < 0.0169, "%g", share);
    ck_assert(keel_replicas_survival(&replicas, (1u << 25) / 100) > 0.9);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {loss_is_what_enumeration_finds,
                                  impossible_numbers_are_refused,
                                  many_processes_are_as_few,
                                  survival_is_right_where_the_alternating_sum_cancels,
                                  loss_grows_with_failures_and_falls_with_replicas,
                                  tiny_losses_keep_their_digits,
                                  the_approximation_is_close_for_few_failures,
                                  the_integral_is_the_sum,
                                  expectations_known_in_closed_form,
                                  four_replicas_survive_one_percent_of_two_to_the_25,
                                  NULL};

    return unit_run("replica loss", tests);
}
