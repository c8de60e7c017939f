/*
 * Failures one after the other, against a simulation that knows no formula. Failures are drawn in
 * continuous time, and each takes its elements away for a window. A catastrophe begins when more
 * members of a group than its parities are away at a time.
 */
#include "plan_simulate.h"

#include "unit.h"

#include <math.h>
#include <string.h>

#define LEVELS_MAX   3
#define ELEMENTS_MAX 64

static const keel_plan_progress_t silent = {NULL, NULL};

typedef struct history {
    const keel_plan_machine_t *machine;
    const keel_plan_layout_t *layout;
    keel_plan_random_t random;
    double window_s, now_s;
    double away_until_s[LEVELS_MAX][ELEMENTS_MAX];
} history_t;

static void parse(keel_plan_machine_t *machine, const char *text)
{
    keel_plan_error_t error;

    ck_assert_msg(keel_plan_machine_parse(text, strlen(text), machine, &error) == 0, "%u: %s", error.line, error.text);
}

/* True if more than m members of a group are away. */
static int is_catastrophic(const history_t *history)
{
    const keel_plan_layout_t *layout = history->layout;
    static uint32_t lost[1024];
    static uint8_t is_away[1024];
    uint32_t j, e, rank;

    memset(lost, 0, sizeof lost);
    memset(is_away, 0, sizeof is_away);
    for (j = 0; j < layout->level_count; j++) {
        for (e = 0; e < layout->count[j]; e++) {
            for (rank = layout->start[j][e]; rank < layout->start[j][e + 1]; rank++) {
                is_away[rank] |= (history->away_until_s[j][e] > history->now_s);
            }
        }
    }
    for (rank = 0; rank < layout->ranks; rank++) {
        if (is_away[rank] && (++lost[layout->group_of[rank]] > layout->parities)) {
            return 1;
        }
    }
    return 0;
}

static double event_rate(const keel_hazard_t *level)
{
    return keel_failures_of_job(level) / 86400;
}

static void break_elements(history_t *history, uint32_t j)
{
    const keel_hazard_t *level = &history->machine->levels[j];
    uint32_t x = 1, i, e;
    double left;

    if (level->failures.kind != KEEL_FAILURES_ELEMENT) {
        left = keel_plan_random_unit(&history->random) * keel_failures_tail(level, 1);
        for (; (x < level->count) && (left >= keel_failures_probability(level, x)); x++) {
            left -= keel_failures_probability(level, x);
        }
    }
    /* an element that is away may fail again, but the elements of one failure differ */
    for (i = 0; i < x; i++) {
        const double until_s = history->now_s + history->window_s;
        do {
            e = (uint32_t)keel_plan_random_below(&history->random, level->count);
        } while ((history->away_until_s[j][e] == until_s) && (i > 0));
        history->away_until_s[j][e] = until_s;
    }
}

/* Returns catastrophes a day, with three standard deviations of the count below and above. */
static keel_plan_estimate_t live(const keel_plan_machine_t *machine, const keel_plan_layout_t *layout, double window_s,
                                 unsigned failures, uint64_t seed)
{
    history_t history = {.machine = machine, .layout = layout, .window_s = window_s};
    double rate = 0, days, at;
    unsigned n, count = 0;
    int was = 0, is;
    uint32_t j;

    keel_plan_random_seed(&history.random, seed);
    for (j = 0; j < machine->level_count; j++) {
        rate += event_rate(&machine->levels[j]);
    }
    for (n = 0; n < failures; n++) {
        history.now_s -= log1p(-keel_plan_random_unit(&history.random)) / rate;
        was = is_catastrophic(&history);
        at = keel_plan_random_unit(&history.random) * rate;
        for (j = 0; (j + 1 < machine->level_count) && (at >= event_rate(&machine->levels[j])); j++) {
            at -= event_rate(&machine->levels[j]);
        }
        break_elements(&history, j);
        is = is_catastrophic(&history);
        count += (is && !was);
    }
    days = history.now_s / 86400;
    return (keel_plan_estimate_t){count / days, (count - 3 * sqrt(count + 1)) / days,
                                  (count + 3 * sqrt(count + 1)) / days, count};
}

static double formula(const keel_plan_machine_t *machine, const keel_plan_layout_params_t *params,
                      keel_reliability_method_t method)
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
    double by_level[KEEL_PLAN_LEVELS_MAX], probability;

    if (method == KEEL_RELIABILITY_BOUND) {
        keel_plan_most_ranks(machine, params->ranks, params->ranks_per_node, most);
        keel_plan_groups(params->ranks, params->group_size, params->parities, &of.groups, &of.group_size);
    }
    ck_assert_int_eq(keel_reliability_catastrophe(&of, by_level, &probability), KEEL_OK);
    return (method == KEEL_RELIABILITY_BOUND) ? probability : by_level[0];
}

static void assert_lives(const keel_plan_estimate_t *lived, double expected)
{
    ck_assert_msg(lived->samples >= 300, "%llu catastrophes", (unsigned long long)lived->samples);
    ck_assert_msg(expected >= lived->low && expected <= lived->high, "%.5g is not in %.5g .. %.5g", expected,
                  lived->low, lived->high);
}

/* Two nodes, one parity: 86400 s times 2 / 1000 s times the chances that the failed node has not
 * failed in the last 10 s, and that the other has. */
START_TEST(time_is_not_cut_into_windows)
{
    static keel_plan_machine_t machine;
    const keel_plan_layout_params_t params = {2, 1, 2, 1, KEEL_PLAN_PLACE_KEEL, 0};
    keel_plan_layout_t layout;
    keel_plan_error_t error;
    keel_plan_estimate_t lived;
    double exact;

    parse(&machine, "machine a\nwindow 10s\nlevel node 2 mtbf 100000s\n");
    exact = formula(&machine, &params, KEEL_RELIABILITY_EXACT);
    ck_assert_double_eq_tol(exact, 86400 * 2e-5 * -expm1(-1e-4) * exp(-1e-4), 1e-12);
    ck_assert_double_eq_tol(formula(&machine, &params, KEEL_RELIABILITY_PAPER), exact, 1e-12);
    ck_assert_double_eq_tol(formula(&machine, &params, KEEL_RELIABILITY_BOUND), exact * exp(1e-4), 1e-12);
    parse(&machine, "machine a\nwindow 10s\nlevel node 2 mtbf 1000s\n");
    ck_assert_int_eq(keel_plan_layout_make(&machine, &params, &layout, &error), 0);
    lived = live(&machine, &layout, 10, 1000000, 1);
    assert_lives(&lived, 86400 * 2e-3 * -expm1(-1e-2) * exp(-1e-2));
    keel_plan_layout_release(&layout);
}
END_TEST

/* A layout for which the formula is exact, at rates with many failures: the formula is not the
 * first term of a series. */
START_TEST(elements_that_fail_alone_lose_groups_as_often_as_computed)
{
    static const struct {
        const char *text;
        uint32_t group_size, parities;
    } cases[] = {{"machine a\nwindow 10s\nlevel node 12 mtbf 20000s\n", 4, 1},
                 {"machine a\nwindow 60s\nlevel node 12 mtbf 2000s\n", 6, 2},
                 {"machine a\nwindow 100s\nlevel node 24 mtbf 1000s\n", 8, 3},
                 {"machine a\nwindow 300s\nlevel node 12 mtbf 1000s\n", 6, 2}};
    static keel_plan_machine_t machine;
    keel_plan_layout_t layout;
    keel_plan_error_t error;
    keel_plan_random_t random;
    unsigned i;

    for (i = 0; i < sizeof cases / sizeof *cases; i++) {
        const keel_plan_layout_params_t params = {
            240, 1, cases[i].group_size, cases[i].parities, KEEL_PLAN_PLACE_ALIGNED, 0};
        keel_plan_estimate_t lived, simulated, part;
        double exact;

        parse(&machine, cases[i].text);
        exact = formula(&machine, &params, KEEL_RELIABILITY_EXACT);
        ck_assert_int_eq(keel_plan_layout_make(&machine, &params, &layout, &error), 0);
        lived = live(&machine, &layout, machine.window_s, 200000, i + 1);
        assert_lives(&lived, exact);
        keel_plan_random_seed(&random, i + 1);
        ck_assert_int_eq(keel_plan_simulate(&machine, &layout, 200000, &random, &silent, &part, &simulated), 0);
        keel_plan_layout_release(&layout);
        if (exact < 1) {
            ck_assert_double_le(fabs(part.value - exact), 3 * (part.high - part.low) / 2 + 1e-9 * exact);
        }
    }
}
END_TEST

/* "At most" is above the simulated rate, on the library's groups, with failures of two levels in
 * one window and several at once. */
START_TEST(no_placement_is_above_the_bound)
{
    static keel_plan_machine_t machine;
    uint64_t seed = 11;
    unsigned round, checked = 0;

    for (round = 0; round < 60; round++) {
        const unsigned nodes = 6 + unit_random(&seed) % 20, racks = 2 + unit_random(&seed) % (nodes / 2);
        const uint32_t m = 1 + unit_random(&seed) % 3;
        const keel_plan_layout_params_t params = {.ranks = nodes * (1 + unit_random(&seed) % 3),
                                                  .aware = 2,
                                                  .group_size = m + 1 + unit_random(&seed) % 6,
                                                  .parities = m,
                                                  .place = KEEL_PLAN_PLACE_KEEL};
        keel_plan_layout_t layout;
        keel_plan_error_t error;
        keel_plan_estimate_t lived;
        uint64_t most[KEEL_PLAN_LEVELS_MAX];
        keel_reliability_params_t of = {.levels = machine.levels,
                                        .level_count = 2,
                                        .aware = 2,
                                        .parities = m,
                                        .most_ranks = most,
                                        .method = KEEL_RELIABILITY_BOUND};
        double bound;
        char text[200];

        snprintf(text, sizeof text, "machine a\nwindow %us\nlevel node %u %s\nlevel rack %u table 0.02 0.001\n",
                 (unsigned)(60 + unit_random(&seed) % 600), nodes,
                 unit_random(&seed) % 2 ? "mtbf 30d" : "table 0.3 0.02 0.001 0.0001", racks);
        parse(&machine, text);
        of.window_s = machine.window_s;
        keel_plan_most_ranks(&machine, params.ranks, 0, most);
        if (params.group_size > params.ranks) {
            continue;
        }
        keel_plan_groups(params.ranks, params.group_size, m, &of.groups, &of.group_size);
        if (keel_reliability_catastrophe(&of, NULL, &bound) != KEEL_OK) {
            continue;
        }
        ck_assert_int_eq(keel_plan_layout_make(&machine, &params, &layout, &error), 0);
        lived = live(&machine, &layout, machine.window_s, 20000, round + 1);
        keel_plan_layout_release(&layout);
        ck_assert_msg(lived.low <= bound, "round %u: %u ranks, k %u, m %u: %.4g lived, %.4g at most\n%s", round,
                      params.ranks, params.group_size, m, lived.value, bound, text);
        checked++;
    }
    ck_assert_uint_gt(checked, 20);
}
END_TEST

/* A node and a rack of other nodes, each of which fails alone: equation 7, a sum over levels,
 * leaves such pairs out. */
START_TEST(failures_of_two_levels_meet)
{
    static keel_plan_machine_t machine;
    const keel_plan_layout_params_t params = {12, 2, 3, 1, KEEL_PLAN_PLACE_ALIGNED, 0};
    keel_plan_layout_t layout;
    keel_plan_error_t error;
    keel_plan_estimate_t lived;
    double bound;

    parse(&machine, "machine a\nwindow 60s\nlevel node 12 table 0.3\nlevel rack 3 table 0.3\n");
    ck_assert_int_eq(keel_plan_layout_make(&machine, &params, &layout, &error), 0);
    lived = live(&machine, &layout, 60, 2000000, 3);
    bound = formula(&machine, &params, KEEL_RELIABILITY_BOUND);
    ck_assert_uint_ge(lived.samples, 300);
    ck_assert_double_eq(formula(&machine, &params, KEEL_RELIABILITY_EXACT), 0);
    ck_assert_msg(lived.low <= bound && bound < 3 * lived.high, "%.5g lived, %.5g at most", lived.value, bound);
    keel_plan_layout_release(&layout);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {time_is_not_cut_into_windows,
                                  elements_that_fail_alone_lose_groups_as_often_as_computed,
                                  no_placement_is_above_the_bound, failures_of_two_levels_meet, NULL};

    return unit_run("overlap", tests);
}
