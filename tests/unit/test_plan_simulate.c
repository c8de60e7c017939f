/*
 * The simulations against the formulas: within their interval where the assumptions hold, and never
 * above the bound.
 */
#include "plan_simulate.h"

#include "store/store_place.h"
#include "unit.h"

#include <math.h>
#include <string.h>

static const keel_plan_progress_t silent = {NULL, NULL};

static void parse(keel_plan_machine_t *machine, const char *text)
{
    keel_plan_error_t error;

    ck_assert_msg(keel_plan_machine_parse(text, strlen(text), machine, &error) == 0, "%u: %s", error.line, error.text);
}

static const char tsubame2[] =
    "machine tsubame2\nlevel node 1408 fit 0.30142e-2 1.3567\nlevel psu 352 fit 1.1836e-4 1.4831\n"
    "level switch 88 fit 3.9249e-5 1.5902\nlevel rack 44 fit 3.2257e-5 1.5488\n";

static keel_status_t compute(const keel_plan_machine_t *machine, const keel_plan_layout_params_t *params,
                             keel_reliability_method_t method, double *probability_p)
{
    uint64_t most[KEEL_PLAN_LEVELS_MAX];
    keel_reliability_params_t of = {.levels = machine->levels,
                                    .level_count = machine->level_count,
                                    .aware = params->aware,
                                    .group_size = params->group_size,
                                    .parities = params->parities,
                                    .most_ranks = most,
                                    .window_s = machine->window_s,
                                    .method = method};

    if (method == KEEL_RELIABILITY_BOUND) {
        keel_plan_most_ranks(machine, params->ranks, params->ranks_per_node, most);
        keel_plan_groups(params->ranks, params->group_size, params->parities, &of.groups, &of.group_size);
    }
    return keel_reliability_catastrophe(&of, NULL, probability_p);
}

static double formula(const keel_plan_machine_t *machine, const keel_plan_layout_params_t *params,
                      keel_reliability_method_t method)
{
    double probability = 0;

    ck_assert_int_eq(compute(machine, params, method, &probability), KEEL_OK);
    return probability;
}

/* @a parts, may be NULL: results by level */
static keel_plan_estimate_t simulate_parts(const keel_plan_machine_t *machine, const keel_plan_layout_params_t *params,
                                           uint64_t samples, uint64_t seed, keel_plan_estimate_t *parts)
{
    keel_plan_layout_t layout;
    keel_plan_error_t error;
    keel_plan_estimate_t estimate;
    keel_plan_random_t random;

    ck_assert_msg(keel_plan_layout_make(machine, params, &layout, &error) == 0, "%s", error.text);
    keel_plan_random_seed(&random, seed);
    ck_assert_int_eq(keel_plan_simulate(machine, &layout, samples, &random, &silent, parts, &estimate), 0);
    keel_plan_layout_release(&layout);
    return estimate;
}

static keel_plan_estimate_t simulate(const keel_plan_machine_t *machine, const keel_plan_layout_params_t *params,
                                     uint64_t samples, uint64_t seed)
{
    return simulate_parts(machine, params, samples, seed, NULL);
}

/* Three times the interval of 95 %: a correct program is outside once in 10^8 times. */
static void assert_within(const keel_plan_estimate_t *estimate, double expected, double relative)
{
    const double low = estimate->value - 3 * (estimate->value - estimate->low) - expected * relative;
    const double high = estimate->value + 3 * (estimate->high - estimate->value) + expected * relative;

    ck_assert_msg(expected >= low && expected <= high, "%.6e is not in %.6e .. %.6e", expected, low, high);
}

/* With 22 ranks to a class, every element of a coarser level holds two members of one group. With
 * 11 not every element does, so only the aware levels are compared. */
START_TEST(on_the_aligned_layout_the_simulation_finds_the_exact_value)
{
    static keel_plan_machine_t machine;
    const uint32_t sizes[] = {11, 22};
    uint64_t seed = unit_seed();
    uint32_t aware, j;
    unsigned i;

    parse(&machine, tsubame2);
    for (i = 0; i < 2; i++) {
        for (aware = 1; aware <= 4; aware++) {
            const keel_plan_layout_params_t params = {4224, aware, sizes[i], 1, KEEL_PLAN_PLACE_ALIGNED, 0};
            const keel_reliability_params_t of = {machine.levels,        4, aware, sizes[i], 1, 0, NULL, 0,
                                                  KEEL_RELIABILITY_EXACT};
            keel_plan_estimate_t parts[KEEL_PLAN_LEVELS_MAX];
            const keel_plan_estimate_t estimate = simulate_parts(&machine, &params, 1000000, unit_random(&seed), parts);
            double exact, exact_part[4];

            ck_assert_int_eq(keel_reliability_catastrophe(&of, exact_part, &exact), KEEL_OK);
            for (j = 0; j < aware; j++) {
                assert_within(&parts[j], exact_part[j], 1e-9);
            }
            if (sizes[i] == 22) {
                assert_within(&estimate, exact, 1e-9);
                ck_assert((estimate.high - estimate.low) < 0.1 * estimate.value);
            }
        }
    }
}
END_TEST

/* Half of a machine, and failures of the whole: failures of elements without ranks do not concern
 * the job. */
START_TEST(a_job_on_a_part_of_a_machine_meets_what_is_computed)
{
    static keel_plan_machine_t machine;
    const keel_plan_layout_params_t params = {704, 4, 22, 1, KEEL_PLAN_PLACE_KEEL, 1};
    const keel_reliability_params_t of = {machine.levels, 4, 4, 22, 1, 0, NULL, 0, KEEL_RELIABILITY_EXACT};
    keel_plan_estimate_t parts[KEEL_PLAN_LEVELS_MAX];
    keel_plan_error_t error;
    double exact, exact_part[4];
    uint32_t j;

    parse(&machine, tsubame2);
    ck_assert_int_eq(keel_plan_use_elements(&machine, 704, 1, &error), 0);
    ck_assert_int_eq(keel_reliability_catastrophe(&of, exact_part, &exact), KEEL_OK);
    simulate_parts(&machine, &params, 1000000, 5, parts);
    for (j = 0; j < 4; j++) {
        assert_within(&parts[j], exact_part[j], 1e-9);
    }
    ck_assert_int_eq(keel_plan_use_elements(&machine, 1409, 1, &error), -1);
    ck_assert(strstr(error.text, "do not fit on the 1408 nodes") != NULL);
}
END_TEST

/* m > 1, at rates that a simulation can see. Coarser levels are left out, because the loss of one
 * element there need not be a catastrophe. */
START_TEST(several_parities_are_found_too)
{
    static keel_plan_machine_t machine;
    uint64_t seed = unit_seed();
    uint32_t m;

    parse(&machine, "machine a\nlevel node 120 fit 0.1 0.3\nlevel rack 24 table 0.01 0.01 0.01 0.01 0.01 0.01\n");
    for (m = 1; m <= 4; m++) {
        const keel_plan_layout_params_t params = {480, 2, 12, m, KEEL_PLAN_PLACE_ALIGNED, 0};
        const keel_plan_estimate_t estimate = simulate(&machine, &params, 1000000, unit_random(&seed));
        assert_within(&estimate, formula(&machine, &params, KEEL_RELIABILITY_EXACT), 1e-9);
        ck_assert((estimate.high - estimate.low) < 0.1 * estimate.value);
    }
}
END_TEST

START_TEST(without_topology_any_failure_is_a_catastrophe)
{
    static keel_plan_machine_t machine;
    const keel_plan_layout_params_t params = {4224, 0, 22, 1, KEEL_PLAN_PLACE_NEIGHBOURS, 0};
    keel_plan_estimate_t estimate;

    parse(&machine, tsubame2);
    estimate = simulate(&machine, &params, 100000, unit_seed());
    assert_within(&estimate, formula(&machine, &params, KEEL_RELIABILITY_PAPER), 1e-9);
}
END_TEST

/* All cases are enumerated: no error at all. */
START_TEST(small_cases_are_enumerated)
{
    static keel_plan_machine_t machine;
    const keel_plan_layout_params_t params = {12, 1, 3, 1, KEEL_PLAN_PLACE_ALIGNED, 0};
    keel_plan_estimate_t estimate;
    double expected;

    parse(&machine, "machine a\nlevel node 6 table 0.1 0.1 0.1 0.1 0.1 0.1\n");
    estimate = simulate(&machine, &params, 100000, 1);
    ck_assert_double_eq(estimate.low, estimate.high);
    ck_assert_uint_eq(estimate.samples, 0);
    /* Two classes of three nodes: two failures are in one class in 6 of 15 cases, more failures
     * always. */
    expected = 0.1 * (6.0 / 15 + 4);
    ck_assert_double_eq_tol(estimate.value, expected, 1e-12);
    ck_assert_double_eq_tol(formula(&machine, &params, KEEL_RELIABILITY_EXACT), expected, 1e-12);
}
END_TEST

/* The library spreads groups over each aware level as evenly as the formula assumes. */
static void check_spread(const keel_plan_machine_t *machine, const keel_plan_layout_params_t *params)
{
    static uint32_t members[1000];
    uint64_t groups, largest, most_ranks[KEEL_PLAN_LEVELS_MAX];
    keel_plan_layout_t layout;
    keel_plan_error_t error;
    uint32_t j, e, r;

    ck_assert_int_eq(keel_plan_layout_make(machine, params, &layout, &error), 0);
    keel_plan_most_ranks(machine, params->ranks, params->ranks_per_node, most_ranks);
    keel_plan_groups(params->ranks, params->group_size, params->parities, &groups, &largest);
    ck_assert_uint_eq(groups, layout.group_count);
    ck_assert_uint_le(groups, 1000);
    for (j = 0; j < params->aware; j++) {
        const uint64_t even = (largest + machine->levels[j].count - 1) / machine->levels[j].count;
        const uint64_t crowd = (most_ranks[j] + groups - 1) / groups;
        uint64_t ranks_most = 0;
        for (e = 0; e < layout.count[j]; e++) {
            memset(members, 0, sizeof members);
            for (r = layout.start[j][e]; r < layout.start[j][e + 1]; r++) {
                ck_assert_uint_le(++members[layout.group_of[r]], (even > crowd) ? even : crowd);
            }
            r = layout.start[j][e + 1] - layout.start[j][e];
            ranks_most = (r > ranks_most) ? r : ranks_most;
        }
        ck_assert_uint_eq(ranks_most, most_ranks[j]);
    }
    keel_plan_layout_release(&layout);
}

START_TEST(the_librarys_groups_are_never_above_the_bound)
{
    static keel_plan_machine_t machine;
    uint64_t seed = unit_seed();
    unsigned round, checked = 0;

    for (round = 0; round < UNIT_ROUNDS(300); round++) {
        const unsigned nodes = 2 + unit_random(&seed) % 60, racks = 1 + unit_random(&seed) % nodes;
        const uint32_t ranks = nodes * (1 + unit_random(&seed) % 4) - unit_random(&seed) % 2;
        const uint32_t m = 1 + unit_random(&seed) % 3;
        const keel_plan_layout_params_t params = {.ranks = ranks,
                                                  .aware = 1 + unit_random(&seed) % 2,
                                                  .group_size = m + 1 + unit_random(&seed) % 12,
                                                  .parities = m,
                                                  .place = KEEL_PLAN_PLACE_KEEL,
                                                  .ranks_per_node = unit_random(&seed) % 2 ? 4 : 0};
        keel_plan_estimate_t estimate;
        double bound;
        char text[200];

        snprintf(text, sizeof text, "machine a\nlevel node %u fit 0.1 %g\nlevel rack %u fit 0.05 1.5\n", nodes,
                 0.3 + 0.1 * (double)(unit_random(&seed) % 20), racks);
        parse(&machine, text);
        if ((params.group_size > ranks) || (compute(&machine, &params, KEEL_RELIABILITY_BOUND, &bound) != KEEL_OK)) {
            continue;
        }
        check_spread(&machine, &params);
        estimate = simulate(&machine, &params, 20000, unit_random(&seed));
        ck_assert_msg(estimate.value - 3 * (estimate.value - estimate.low) <= bound * (1 + 1e-9),
                      "round %u: %u ranks (%u), k %u, m %u, level %u: %.4e above %.4e\n%s", round, ranks,
                      params.ranks_per_node, params.group_size, m, params.aware, estimate.low, bound, text);
        checked++;
    }
    ck_assert_uint_gt(checked, UNIT_ROUNDS(50));
}
END_TEST

START_TEST(a_seed_is_a_result)
{
    static keel_plan_machine_t machine;
    const keel_plan_layout_params_t params = {4000, 3, 21, 1, KEEL_PLAN_PLACE_KEEL, 0};
    keel_plan_estimate_t one, two, other;

    parse(&machine, tsubame2);
    one = simulate(&machine, &params, 50000, 7);
    two = simulate(&machine, &params, 50000, 7);
    other = simulate(&machine, &params, 50000, 8);
    ck_assert_double_eq(one.value, two.value);
    ck_assert_double_eq(one.high, two.high);
    ck_assert(one.value != other.value);
}
END_TEST

START_TEST(impossible_layouts_say_why)
{
    static keel_plan_machine_t machine;
    const keel_plan_layout_params_t bad[] = {{10, 1, 11, 1, KEEL_PLAN_PLACE_KEEL, 0},
                                             {10, 1, 2, 2, KEEL_PLAN_PLACE_KEEL, 0},
                                             {4000, 1, 22, 1, KEEL_PLAN_PLACE_ALIGNED, 0},
                                             {4224, 1, 21, 1, KEEL_PLAN_PLACE_ALIGNED, 0}};
    keel_plan_layout_t layout;
    keel_plan_error_t error;
    unsigned i;

    parse(&machine, tsubame2);
    for (i = 0; i < sizeof bad / sizeof *bad; i++) {
        ck_assert_int_eq(keel_plan_layout_make(&machine, &bad[i], &layout, &error), -1);
        ck_assert(error.text[0] != '\0');
    }
}
END_TEST

/* One more element than strata of a single number: the last stratum has one number too. */
START_TEST(seven_elements_are_drawn)
{
    static keel_plan_machine_t machine;
    const keel_plan_layout_params_t params = {14, 1, 7, 6, KEEL_PLAN_PLACE_KEEL, 0};
    keel_plan_estimate_t estimate;

    parse(&machine, "machine a\nlevel node 7 table 0 0 0 0 0 0 0.25\n");
    estimate = simulate(&machine, &params, 1000, 1);
    ck_assert_double_eq(estimate.value, 0.25);
}
END_TEST

START_TEST(more_than_one_catastrophe_a_day_is_certain)
{
    static keel_plan_machine_t machine;
    const keel_plan_layout_params_t params = {100, 0, 10, 1, KEEL_PLAN_PLACE_NEIGHBOURS, 0};
    keel_plan_estimate_t estimate;

    parse(&machine, "machine a\nlevel node 10 mtbf 1h\n");
    estimate = simulate(&machine, &params, 1000, 1);
    ck_assert_double_eq(estimate.value, 1);
    ck_assert_double_eq(estimate.low, 1);
    ck_assert_double_eq(estimate.high, 1);
}
END_TEST

static int stop_at_once(void *arg, double done)
{
    (*(unsigned *)arg)++;
    return 1;
}

START_TEST(a_simulation_stops_on_request)
{
    static keel_plan_machine_t machine;
    const keel_plan_layout_params_t params = {4000, 3, 21, 1, KEEL_PLAN_PLACE_KEEL, 0};
    const keel_replicas_t replicas = {64, 2};
    unsigned calls = 0;
    const keel_plan_progress_t progress = {stop_at_once, &calls};
    keel_plan_layout_t layout;
    keel_plan_error_t error;
    keel_plan_estimate_t estimate;
    keel_plan_random_t random;
    keel_plan_replicas_t result = {0};

    parse(&machine, tsubame2);
    ck_assert_int_eq(keel_plan_layout_make(&machine, &params, &layout, &error), 0);
    keel_plan_random_seed(&random, 1);
    ck_assert_int_eq(keel_plan_simulate(&machine, &layout, 1000000000, &random, &progress, NULL, &estimate), 0);
    keel_plan_layout_release(&layout);
    ck_assert_uint_eq(calls, 1);
    ck_assert(estimate.samples < 100000);
    assert_within(&estimate, 1.55e-5, 1e-2); /* every stratum has samples */
    ck_assert_int_eq(keel_plan_simulate_replicas(&replicas, 1000, &random, &progress, &result), 0);
    ck_assert_uint_eq(calls, 2);
    ck_assert_uint_eq(result.failures.samples, 1);
}
END_TEST

START_TEST(simulated_failures_until_loss_are_those_expected)
{
    const keel_replicas_t replicas[] = {{4, 2}, {64, 4}, {1u << 16, 4}, {1u << 20, 2}, {12, 12}};
    const uint64_t samples[] = {100000, 50000, 300, 300, 1000};
    uint64_t seed = unit_seed();
    keel_plan_random_t random;
    unsigned i;

    keel_plan_random_seed(&random, seed);
    for (i = 0; i < sizeof replicas / sizeof *replicas; i++) {
        const double expected = keel_replicas_failures_expected(&replicas[i]);
        keel_plan_replicas_t result = {.asked_count = 1, .asked = {(uint64_t)expected}};
        ck_assert_int_eq(keel_plan_simulate_replicas(&replicas[i], samples[i], &random, &silent, &result), 0);
        assert_within(&result.failures, expected, 1e-12);
        assert_within(&result.lost[0], keel_replicas_loss(&replicas[i], (uint64_t)expected), 1e-12);
        ck_assert(result.tenth <= result.median && result.median <= result.ninetieth);
    }
}
END_TEST

/* ---- copies as a store places them ---- */

enum { PLACED_RANKS = 12, PLACED_SAMPLES = 20000 };

/* By number of failed nodes: the share of choices in which all copies of a range are on failed
 * nodes, with the holders that the store finds. */
static void enumerate_placed(const keel_plan_placed_t *placed, double *lost)
{
    const keel_store_place_params_t params = {
        .ranks = placed->ranks, .copies = (uint32_t)placed->replicas, .ranges = 2, .seed = 3};
    const uint32_t nodes = keel_plan_placed_nodes(placed);
    uint32_t node[PLACED_RANKS], failed, all[PLACED_RANKS + 1] = {0}, r;
    keel_domains_t domains;
    keel_store_place_t place;

    for (r = 0; r < placed->ranks; r++) {
        node[r] = r / placed->width;
    }
    ck_assert_int_eq(keel_domains_of_nodes(placed->ranks, node, &domains), KEEL_OK);
    ck_assert_int_eq(keel_store_place_init(&place, &domains, &params), KEEL_OK);
    memset(lost, 0, (nodes + 1) * sizeof *lost);
    for (failed = 0; failed < 1u << nodes; failed++) {
        int is_lost = 0;

        for (uint64_t range = 0; range < 2 * placed->ranks && !is_lost; range++) {
            is_lost = 1;
            for (uint32_t copy = 0; copy < placed->replicas; copy++) {
                is_lost &= failed >> node[keel_store_place_find(&place, range, copy).holder] & 1;
            }
        }
        lost[__builtin_popcount(failed)] += is_lost;
        all[__builtin_popcount(failed)]++;
    }
    for (r = 0; r <= nodes; r++) {
        lost[r] /= all[r];
    }
    keel_store_place_release(&place);
    keel_domains_release(&domains);
}

START_TEST(losses_are_those_of_the_stores_placement)
{
    double lost[PLACED_RANKS + 1];

    for (uint32_t ranks = 1; ranks <= 10; ranks++) {
        for (uint32_t copies = 1; copies <= ranks; copies++) {
            const keel_plan_placed_t placed = {ranks, 1, copies};
            const keel_replicas_t replicas = {ranks, copies};

            enumerate_placed(&placed, lost);
            for (uint32_t f = 0; f <= ranks; f++) {
                ck_assert_double_eq_tol(keel_replicas_loss(&replicas, f), lost[f], 1e-12);
            }
        }
    }
}
END_TEST

START_TEST(simulated_losses_are_those_of_the_stores_placement)
{
    static const keel_plan_placed_t placed[] = {{12, 3, 3}, {12, 3, 2}, {12, 4, 4}, {11, 2, 3}, {10, 3, 4}, {9, 1, 4}};
    double lost[PLACED_RANKS + 1];
    keel_plan_random_t random;

    keel_plan_random_seed(&random, unit_seed());
    for (size_t i = 0; i < sizeof placed / sizeof *placed; i++) {
        const uint32_t nodes = keel_plan_placed_nodes(&placed[i]);
        keel_plan_replicas_t result = {.asked_count = (nodes < KEEL_PLAN_ASKED_MAX) ? nodes : KEEL_PLAN_ASKED_MAX};

        for (unsigned f = 0; f < result.asked_count; f++) {
            result.asked[f] = f + 1;
        }
        enumerate_placed(&placed[i], lost);
        ck_assert_int_eq(keel_plan_simulate_placed(&placed[i], PLACED_SAMPLES, &random, &silent, &result), 0);
        for (unsigned f = 0; f < result.asked_count; f++) {
            assert_within(&result.lost[f], lost[f + 1], 1e-9);
        }
    }
}
END_TEST

/* [R VI-B1]: 2^25 processes; 40 samples take about a second */
START_TEST(two_to_the_25_processes_are_simulated)
{
    const keel_replicas_t replicas = {1u << 25, 4};
    keel_plan_replicas_t result = {0};
    keel_plan_random_t random;

    keel_plan_random_seed(&random, unit_seed());
    ck_assert_int_eq(keel_plan_simulate_replicas(&replicas, 40, &random, &silent, &result), 0);
    assert_within(&result.failures, keel_replicas_failures_expected(&replicas), 1e-12);
    ck_assert(result.failures.value > 0.01 * (1u << 25));
}
END_TEST

START_TEST(wilsons_interval_is_the_published_one)
{
    double low, high;

    keel_plan_wilson(0, 10, &low, &high);
    ck_assert_double_eq(low, 0);
    ck_assert_double_eq_tol(high, 0.27753, 1e-5);
    keel_plan_wilson(81, 263, &low, &high);
    ck_assert_double_eq_tol(low, 0.2553, 1e-4);
    ck_assert_double_eq_tol(high, 0.3662, 1e-4);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {on_the_aligned_layout_the_simulation_finds_the_exact_value,
                                  a_job_on_a_part_of_a_machine_meets_what_is_computed,
                                  several_parities_are_found_too,
                                  without_topology_any_failure_is_a_catastrophe,
                                  small_cases_are_enumerated,
                                  the_librarys_groups_are_never_above_the_bound,
                                  a_seed_is_a_result,
                                  impossible_layouts_say_why,
                                  seven_elements_are_drawn,
                                  more_than_one_catastrophe_a_day_is_certain,
                                  a_simulation_stops_on_request,
                                  simulated_failures_until_loss_are_those_expected,
                                  losses_are_those_of_the_stores_placement,
                                  simulated_losses_are_those_of_the_stores_placement,
                                  two_to_the_25_processes_are_simulated,
                                  wilsons_interval_is_the_published_one,
                                  NULL};

    return unit_run("plan simulate", tests);
}
