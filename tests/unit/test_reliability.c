/*
 * Catastrophic failures: equations 7 to 9 against enumeration on small machines, properties, and
 * the paper's facts.
 */
#include "tools/topo/reliability.h"

#include "unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LEVELS_MAX 4

static const keel_hazard_t tsubame2[] = {
    {.count = 1408, .failures = {.kind = KEEL_FAILURES_FIT, .scale = 0.30142e-2, .decay = 1.3567}},
    {.count = 352, .failures = {.kind = KEEL_FAILURES_FIT, .scale = 1.1836e-4, .decay = 1.4831}},
    {.count = 88, .failures = {.kind = KEEL_FAILURES_FIT, .scale = 3.9249e-5, .decay = 1.5902}},
    {.count = 44, .failures = {.kind = KEEL_FAILURES_FIT, .scale = 3.2257e-5, .decay = 1.5488}},
};

static double bound(uint64_t count, uint64_t elements, uint64_t deaths, uint64_t x)
{
    return keel_reliability_bound(count, keel_reliability_classes(count, elements), elements, deaths, x);
}

static double catastrophe(const keel_hazard_t *levels, uint32_t count, uint32_t aware, uint64_t group,
                          uint64_t parities, keel_reliability_method_t method)
{
    const keel_reliability_params_t params = {levels, count, aware, group, parities, 0, NULL, 0, method};
    double probability = -1;

    ck_assert_int_eq(keel_reliability_catastrophe(&params, NULL, &probability), KEEL_OK);
    return probability;
}

static void assert_close(double a, double b, double relative)
{
    ck_assert_msg(fabs(a - b) <= relative * fmax(fabs(a), fabs(b)), "%.17g and %.17g", a, b);
}

static uint64_t draw(uint64_t *seed, uint64_t below)
{
    return unit_random(seed) % below;
}

/* Returns the share of subsets of x of count elements that hit some class of the given sizes at
 * least `deaths` times. */
static double enumerate(unsigned count, const unsigned *class_of, unsigned classes, unsigned deaths, unsigned x)
{
    double all = 0, bad = 0;
    unsigned set, i;

    for (set = 0; set < (1u << count); set++) {
        unsigned hits[16] = {0}, worst = 0;
        if ((unsigned)__builtin_popcount(set) != x) {
            continue;
        }
        for (i = 0; i < count; i++) {
            hits[class_of[i]] += (set >> i) & 1;
        }
        for (i = 0; i < classes; i++) {
            worst = (hits[i] > worst) ? hits[i] : worst;
        }
        all++;
        bad += (worst >= deaths);
    }
    return bad / all;
}

START_TEST(exact_is_what_enumeration_finds)
{
    unsigned count, elements, deaths, x, i;

    for (count = 2; count <= 13; count++) {
        for (elements = 1; elements <= count; elements++) {
            const unsigned classes = count / elements;
            unsigned class_of[16], next = 0, c;
            for (c = 0; c < classes; c++) {
                for (i = 0; i < count / classes + (c < count % classes); i++) {
                    class_of[next++] = c;
                }
            }
            ck_assert_uint_eq(next, count);
            for (deaths = 1; deaths <= elements; deaths++) {
                double conditional[16];
                keel_reliability_exact(count, elements, deaths, count, conditional);
                for (x = 0; x <= count; x++) {
                    assert_close(conditional[x], enumerate(count, class_of, classes, deaths, x), 1e-12);
                }
            }
        }
    }
}
END_TEST

/* With equal classes the bound counts every subset of `deaths` failures of one class. With exactly
 * so many failures the bound is exact. */
START_TEST(the_bound_is_never_below_the_exact_value_and_meets_it_at_the_first_catastrophe)
{
    unsigned count, elements, deaths, x;

    for (count = 2; count <= 60; count++) {
        for (elements = 1; elements <= count; elements++) {
            for (deaths = 1; deaths <= elements; deaths++) {
                double conditional[61];
                if (count % elements != 0) {
                    continue;
                }
                keel_reliability_exact(count, elements, deaths, count, conditional);
                for (x = 0; x <= count; x++) {
                    ck_assert(bound(count, elements, deaths, x) >= conditional[x] * (1 - 1e-12));
                }
                assert_close(conditional[deaths], bound(count, elements, deaths, deaths), 1e-12);
            }
        }
    }
}
END_TEST

START_TEST(equation_8_is_as_printed)
{
    /* D C(|G|, 2) C(H - 2, x - 2) / C(H, x) for H = 44, |G| = 21, x = 5:
     * 3 * 210 * 11480 / 1086008 > 1 */
    ck_assert_double_eq(bound(44, 21, 2, 5), 1);
    /* H = 1408, |G| = 21, x = 3: 68 * 210 * 1406 / C(1408, 3) */
    assert_close(bound(1408, 21, 2, 3), 68.0 * 210 * 1406 / (1408.0 * 1407 * 1406 / 6), 1e-14);
    ck_assert_double_eq(bound(1408, 21, 2, 1), 0);
}
END_TEST

START_TEST(tails_are_the_sums_of_their_terms)
{
    static const double table[] = {0.1, 0.01, 0, 1e-6};
    const keel_hazard_t levels[] = {
        {.count = 1408, .failures = {.kind = KEEL_FAILURES_FIT, .scale = 0.003, .decay = 1.3567}},
        {.count = 7, .failures = {.kind = KEEL_FAILURES_FIT, .scale = 0.003, .decay = 0.01}},
        {.count = 1408, .failures = {.kind = KEEL_FAILURES_TABLE, .table = table, .table_len = 4}},
        {.count = 3, .failures = {.kind = KEEL_FAILURES_TABLE, .table = table, .table_len = 4}},
        {.count = 1408, .failures = {.kind = KEEL_FAILURES_ELEMENT, .mtbf_s = 1e8, .window_s = 600}},
        {.count = 200, .failures = {.kind = KEEL_FAILURES_ELEMENT, .mtbf_s = 1000, .window_s = 600}},
        {.count = 5, .failures = {.kind = KEEL_FAILURES_ELEMENT, .mtbf_s = 1e-3, .window_s = 600}},
        {.count = 65,
         /* the first terms underflow */
         .failures = {.kind = KEEL_FAILURES_ELEMENT, .mtbf_s = 51, .window_s = 600}},
    };
    unsigned i;

    for (i = 0; i < sizeof levels / sizeof *levels; i++) {
        uint64_t from, x;
        for (from = 0; from <= 9; from++) {
            double sum = 0;
            for (x = levels[i].count; x >= from && x > 0; x--) {
                sum += keel_failures_probability(&levels[i], x);
            }
            assert_close(keel_failures_tail(&levels[i], from), sum, 1e-11);
        }
        ck_assert_double_eq(keel_failures_tail(&levels[i], levels[i].count + 1), 0);
    }
}
END_TEST

/* Equation 9 as a program that sums every term, without cut or clever order. */
START_TEST(equation_9_is_the_plain_sum)
{
    const uint64_t groups[] = {2, 5, 11, 22, 44};
    unsigned g, j, aware;
    uint64_t x;

    for (g = 0; g < sizeof groups / sizeof *groups; g++) {
        for (aware = 0; aware <= LEVELS_MAX; aware++) {
            double sum = 0;
            for (j = 0; j < LEVELS_MAX; j++) {
                for (x = 1; x <= tsubame2[j].count; x++) {
                    sum += keel_failures_probability(&tsubame2[j], x) *
                           ((j < aware) ? bound(tsubame2[j].count, groups[g], 2, x) : 1);
                }
            }
            assert_close(catastrophe(tsubame2, LEVELS_MAX, aware, groups[g], 1, KEEL_RELIABILITY_PAPER), sum, 1e-13);
        }
    }
}
END_TEST

/* Draws four levels, with all three kinds of rates. */
static void draw_machine(uint64_t *seed, keel_hazard_t *levels, double *table)
{
    uint64_t count = 8 + draw(seed, 300);
    unsigned j;

    for (j = 0; j < 8; j++) {
        table[j] = 0.1 * exp(-(double)j * (double)(1 + draw(seed, 5))) / (double)(1 + draw(seed, 9));
    }
    for (j = 0; j < LEVELS_MAX; j++) {
        levels[j].count = count;
        levels[j].used = 0;
        levels[j].failures = (keel_failures_t){.kind = (keel_failures_kind_t)draw(seed, 3),
                                               .scale = 1e-3 * (double)(1 + draw(seed, 100)),
                                               .decay = 0.5 + 0.1 * (double)draw(seed, 40),
                                               .table = table,
                                               .table_len = 8,
                                               .mtbf_s = 1e6 * (double)(1 + draw(seed, 1000)),
                                               .window_s = (double)(1 + draw(seed, 3600))};
        count = 1 + draw(seed, count);
    }
}

START_TEST(more_parity_smaller_groups_and_lower_rates_are_never_less_safe)
{
    keel_spread_t spread;
    uint64_t seed = unit_seed();
    unsigned round, j;

    for (round = 0; round < 300; round++) {
        keel_hazard_t levels[LEVELS_MAX], worse[LEVELS_MAX];
        double table[8], worse_table[8], one, other;
        const uint64_t parities = 1 + draw(&seed, 4);
        const uint64_t group = parities + 1 + draw(&seed, 30);
        uint32_t aware;

        draw_machine(&seed, levels, table);
        for (aware = 0; aware < LEVELS_MAX; aware++) {
            if (keel_reliability_spread(levels[aware].count, group + 1, parities, &spread) != KEEL_OK) {
                break;
            }
        }
        one = catastrophe(levels, LEVELS_MAX, aware, group, parities, KEEL_RELIABILITY_EXACT);
        ck_assert(one >= 0 && one <= 1);
        other = catastrophe(levels, LEVELS_MAX, aware, group + 1, parities, KEEL_RELIABILITY_EXACT);
        ck_assert_msg(other >= one * (1 - 1e-11), "k: round %u, %.17g then %.17g", round, one, other);
        if (group > parities + 1) {
            other = catastrophe(levels, LEVELS_MAX, aware, group, parities + 1, KEEL_RELIABILITY_EXACT);
            ck_assert_msg(other <= one * (1 + 1e-11), "m: round %u, %.17g then %.17g", round, one, other);
        }
        if (aware > 0) {
            other = catastrophe(levels, LEVELS_MAX, aware - 1, group, parities, KEEL_RELIABILITY_EXACT);
            ck_assert_msg(other >= one * (1 - 1e-11), "level: round %u, %.17g then %.17g", round, one, other);
        }
        memcpy(worse, levels, sizeof worse);
        for (j = 0; j < 8; j++) {
            worse_table[j] = table[j] * 1.5;
        }
        for (j = 0; j < LEVELS_MAX; j++) {
            worse[j].failures.table = worse_table;
            worse[j].failures.scale *= 1.5;
            worse[j].failures.mtbf_s /= 1.5;
        }
        other = catastrophe(worse, LEVELS_MAX, aware, group, parities, KEEL_RELIABILITY_EXACT);
        ck_assert_msg(other >= one * (1 - 1e-11), "rates: round %u, %.17g then %.17g", round, one, other);
    }
}
END_TEST

/* The bound rounds the number of classes up, so the bound is monotone where the group size divides
 * the count. */
START_TEST(the_papers_formula_grows_with_groups_that_divide_the_machine)
{
    uint64_t group, parities;

    for (parities = 1; parities < 4; parities++) {
        double last = 0;
        for (group = parities + 1; group <= 1408; group++) {
            double now;
            if (1408 % group != 0) {
                continue;
            }
            now = catastrophe(tsubame2, 1, 1, group, parities, KEEL_RELIABILITY_PAPER);
            ck_assert(now >= last);
            last = now;
        }
    }
}
END_TEST

START_TEST(tiny_probabilities_keep_their_digits)
{
    /* One catastrophic case: both of 2 elements; and m = 5 of a group of 6 at a steep fit. */
    const keel_hazard_t pair = {.count = 2, .failures = {.kind = KEEL_FAILURES_FIT, .scale = 1e-4, .decay = 25}};
    const keel_hazard_t steep = {.count = 600, .failures = {.kind = KEEL_FAILURES_FIT, .scale = 1e-3, .decay = 5}};
    const keel_hazard_t alone = {.count = 1000,
                                 .failures = {.kind = KEEL_FAILURES_ELEMENT, .mtbf_s = 1e9, .window_s = 1}};
    double expected;

    assert_close(catastrophe(&pair, 1, 1, 2, 1, KEEL_RELIABILITY_EXACT), 1e-4 * exp(-50), 1e-13);
    /* Six failures, 100 classes of 6: 100 / C(600, 6); seven: 100 * 594 / C(600, 7), then far
     * less. */
    expected = 1e-3 * exp(-30) * 100 * 720 / (600.0 * 599 * 598 * 597 * 596 * 595) *
               (1 + 7 * exp(-5) + 7 * 8 / 2 * exp(-10) + 7.0 * 8 * 9 / 6 * exp(-15) + 7.0 * 8 * 9 * 10 / 24 * exp(-20) +
                7.0 * 8 * 9 * 10 * 11 / 120 * exp(-25));
    ck_assert(expected < 1e-27);
    assert_close(catastrophe(&steep, 1, 1, 6, 5, KEEL_RELIABILITY_EXACT), expected, 1e-8);
    assert_close(catastrophe(&steep, 1, 1, 6, 5, KEEL_RELIABILITY_PAPER), expected, 1e-8);
    /* 4500 pairs in 100 classes of 10, each in two orders. */
    assert_close(catastrophe(&alone, 1, 1, 10, 1, KEEL_RELIABILITY_EXACT), 86400 * 9000e-18, 1e-5);
}
END_TEST

START_TEST(a_group_that_a_level_cannot_hold_is_refused)
{
    keel_reliability_params_t params = {tsubame2, LEVELS_MAX, 4, 45, 1, 0, NULL, 0, KEEL_RELIABILITY_PAPER};
    double probability;

    ck_assert_int_eq(keel_reliability_catastrophe(&params, NULL, &probability), KEEL_ERR_GROUPS);
    params.aware = 3;
    ck_assert_int_eq(keel_reliability_catastrophe(&params, NULL, &probability), KEEL_OK);
    params.aware = 4;
    params.parities = 2; /* then two members on a rack are allowed */
    ck_assert_int_eq(keel_reliability_catastrophe(&params, NULL, &probability), KEEL_OK);
    params.parities = 45;
    ck_assert_int_eq(keel_reliability_catastrophe(&params, NULL, &probability), KEEL_ERR_INVALID_PARAM);
    params.parities = 0;
    ck_assert_int_eq(keel_reliability_catastrophe(&params, NULL, &probability), KEEL_ERR_INVALID_PARAM);
    params.parities = 1;
    params.aware = 5;
    ck_assert_int_eq(keel_reliability_catastrophe(&params, NULL, &probability), KEEL_ERR_INVALID_PARAM);
}
END_TEST

START_TEST(members_that_share_elements_need_fewer_failures)
{
    keel_spread_t spread;

    ck_assert_int_eq(keel_reliability_spread(44, 45, 2, &spread), KEEL_OK);
    ck_assert_uint_eq(spread.each, 1); /* and a second member on one element */
    ck_assert_uint_eq(spread.elements, 1);
    ck_assert_uint_eq(keel_reliability_deaths(&spread, 2, 1), 2);
    ck_assert_uint_eq(keel_reliability_deaths(&spread, 2, 2), 1);
    ck_assert_uint_eq(keel_reliability_deaths(&spread, 2, 3), 0);
    ck_assert_int_eq(keel_reliability_spread(44, 45, 1, &spread), KEEL_ERR_GROUPS);
    ck_assert_int_eq(keel_reliability_spread(4, 8, 4, &spread), KEEL_OK);
    ck_assert_uint_eq(spread.each, 2);
    ck_assert_uint_eq(spread.elements, 0);
    ck_assert_uint_eq(keel_reliability_deaths(&spread, 4, 3), 0);
    ck_assert_int_eq(keel_reliability_spread(100, 8, 4, &spread), KEEL_OK);
    ck_assert_uint_eq(spread.each, 0);
    ck_assert_uint_eq(spread.elements, 8);
    ck_assert_uint_eq(keel_reliability_deaths(&spread, 4, 50), 5);
}
END_TEST

/*
 * Enumerates every set of x failed elements of a small level, in the layout of the formula. With
 * more members than elements, each element has some members. Groups with their odd members on one
 * class of elements are the worst of all choices within that class.
 */
static double enumerate_uneven(unsigned count, unsigned used, unsigned k, unsigned m, unsigned x)
{
    const unsigned each = k / used, extra = k % used, classes = (extra > 0) ? used / extra : 0;
    double all = 0, bad = 0;
    unsigned set, i, c;

    for (set = 0; set < (1u << count); set++) {
        const unsigned hits = (unsigned)__builtin_popcount(set & ((1u << used) - 1));
        unsigned worst = 0, first = 0;
        if ((unsigned)__builtin_popcount(set) != x) {
            continue;
        }
        for (c = 0; c < classes; c++) {
            const unsigned size = used / classes + (c < used % classes);
            unsigned of_class = 0;
            for (i = first; i < first + size; i++) {
                of_class += (set >> i) & 1;
            }
            first += size;
            worst = (of_class > worst) ? of_class : worst;
        }
        all++;
        bad += (each * hits + ((worst < extra) ? worst : extra) > m);
    }
    return bad / all;
}

START_TEST(uneven_shares_and_unused_elements_are_counted_as_they_are)
{
    const unsigned count = 10;
    unsigned used, k, m, x;

    for (used = 3; used <= count; used += 3 + (used == 6)) {
        for (k = 2; k <= 3 * used; k++) {
            for (m = (k + used - 1) / used; m < k && m <= 6; m++) {
                const double table[10] = {1e-2, 1e-3, 1e-3, 1e-4, 1e-4, 1e-5, 1e-5, 1e-6, 1e-6, 1e-6};
                const keel_hazard_t level = {
                    count, {.kind = KEEL_FAILURES_TABLE, .table = table, .table_len = count}, used};
                double sum = 0;
                for (x = 1; x <= count; x++) {
                    sum += table[x - 1] * enumerate_uneven(count, used, k, m, x);
                }
                assert_close(catastrophe(&level, 1, 1, k, m, KEEL_RELIABILITY_EXACT), sum, 1e-12);
            }
        }
    }
}
END_TEST

/* Groups of 103 with 3 parities on 88 switches: 15 of these hold two members, and two failures need
 * not be too many. */
START_TEST(a_share_is_not_the_fullest_everywhere)
{
    const double exact = catastrophe(tsubame2, LEVELS_MAX, 4, 103, 3, KEEL_RELIABILITY_EXACT);

    assert_close(exact, 2.6301e-06, 1e-4);
}
END_TEST

START_TEST(failures_of_the_job_are_those_that_it_has_elements_of)
{
    const double table[] = {0.5, 0.25, 0.125};
    keel_hazard_t level = {
        .count = 4, .failures = {.kind = KEEL_FAILURES_TABLE, .table = table, .table_len = 3}, .used = 2};
    const keel_hazard_t element = {
        .count = 10, .failures = {.kind = KEEL_FAILURES_ELEMENT, .mtbf_s = 86400, .window_s = 5}, .used = 3};

    /* Two of four elements: one failure hits with 1/2, two with 5/6, three always. */
    assert_close(keel_failures_of_job(&level), 0.25 + 0.25 * 5 / 6 + 0.125, 1e-14);
    level.used = 0;
    assert_close(keel_failures_of_job(&level), 0.875, 1e-14);
    assert_close(keel_failures_of_job(&element), 3, 1e-14);
}
END_TEST

/* [F 7.1.1]: at 5 % switches are about 4 times safer than nodes; every level is 1 to 3 orders of
 * magnitude safer than none. */
START_TEST(the_papers_facts_hold)
{
    const double none = catastrophe(tsubame2, LEVELS_MAX, 0, 21, 1, KEEL_RELIABILITY_PAPER);
    const double nodes = catastrophe(tsubame2, LEVELS_MAX, 1, 21, 1, KEEL_RELIABILITY_PAPER);
    const double switches = catastrophe(tsubame2, LEVELS_MAX, 3, 21, 1, KEEL_RELIABILITY_PAPER);
    const uint64_t groups[] = {5, 6, 9, 11, 13, 21, 26, 41}; /* 25 % down to 2.5 % */
    unsigned i;
    uint32_t aware;

    ck_assert_msg(nodes / switches > 3.4 && nodes / switches < 4.5, "%g", nodes / switches);
    for (i = 0; i < sizeof groups / sizeof *groups; i++) {
        for (aware = 1; aware <= LEVELS_MAX; aware++) {
            const double gain = none / catastrophe(tsubame2, LEVELS_MAX, aware, groups[i], 1, KEEL_RELIABILITY_PAPER);
            ck_assert_msg(gain > 10 && gain < 1000, "group size %u, level %u: %g", (unsigned)groups[i], aware, gain);
        }
    }
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {exact_is_what_enumeration_finds,
                                  the_bound_is_never_below_the_exact_value_and_meets_it_at_the_first_catastrophe,
                                  equation_8_is_as_printed,
                                  tails_are_the_sums_of_their_terms,
                                  equation_9_is_the_plain_sum,
                                  more_parity_smaller_groups_and_lower_rates_are_never_less_safe,
                                  the_papers_formula_grows_with_groups_that_divide_the_machine,
                                  tiny_probabilities_keep_their_digits,
                                  a_group_that_a_level_cannot_hold_is_refused,
                                  members_that_share_elements_need_fewer_failures,
                                  uneven_shares_and_unused_elements_are_counted_as_they_are,
                                  a_share_is_not_the_fullest_everywhere,
                                  failures_of_the_job_are_those_that_it_has_elements_of,
                                  the_papers_facts_hold,
                                  NULL};

    return unit_run("reliability", tests);
}
