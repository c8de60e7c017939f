/*
 * Advice: the failures of a machine that the job meets, the costs of a choice for the resulting
 * groups, and the choice taken.
 */
#include "plan_advice.h"

#include "ckpt/two_level.h"
#include "unit.h"

#include <math.h>
#include <string.h>

static keel_plan_machine_t machine;
static keel_plan_advice_t advice;
static keel_plan_error_t error;

static const char tsubame2[] =
    "machine tsubame2\nlevel node 1408 fit 0.30142e-2 1.3567\nlevel psu 352 fit 1.1836e-4 1.4831\n"
    "level switch 88 fit 3.9249e-5 1.5902\nlevel rack 44 fit 3.2257e-5 1.5488\n";

static void parse(const char *text)
{
    ck_assert_msg(keel_plan_machine_parse(text, strlen(text), &machine, &error) == 0, "%s", error.text);
}

static keel_plan_options_t job(uint32_t ranks, uint32_t ranks_per_node, double mtbf_s)
{
    return (keel_plan_options_t){.mode = KEEL_PLAN_ADVICE,
                                 .ranks = ranks,
                                 .ranks_per_node = ranks_per_node,
                                 .memory = 0x1p32,
                                 .network = 0x1p33,
                                 .memory_bandwidth = 50 * 0x1p30,
                                 .mtbf_s = mtbf_s,
                                 .target = 1e-5};
}

static void advise(const keel_plan_options_t *of_job, const keel_plan_machine_t *of)
{
    keel_plan_options_t options = *of_job;

    options.machine = (of != NULL) ? of->name : NULL;
    ck_assert_msg(keel_plan_advise(&options, of, &advice, &error) == 0, "%s", error.text);
}

static const keel_plan_choice_t *choice(uint32_t parities, uint32_t group_size)
{
    unsigned i;

    for (i = 0; i < advice.choice_count; i++) {
        if ((advice.choices[i].parities == parities) && (advice.choices[i].group_size == group_size)) {
            return &advice.choices[i];
        }
    }
    ck_abort_msg("no groups of %u with %u parities", group_size, parities);
    return NULL;
}

START_TEST(the_risk_on_a_machine_follows_the_mtbf)
{
    keel_plan_options_t options = job(4000, 3, 12 * 3600);
    double risk;

    parse(tsubame2);
    advise(&options, &machine);
    risk = choice(1, 8)->risk;
    ck_assert_double_eq_tol(keel_plan_machine_rate(&advice.machine), 2, 1e-9);
    /* the given machine stays */
    ck_assert_double_eq_tol(keel_plan_machine_rate(&machine), 1.0986e-3, 1e-6);
    options.mtbf_s *= 100;
    advise(&options, &machine);
    ck_assert_double_eq_tol(choice(1, 8)->risk / risk, 0.01, 1e-3);
}
END_TEST

START_TEST(a_job_meets_the_failures_of_its_own_elements)
{
    const keel_plan_options_t whole = job(1408, 1, 0), part = job(88, 1, 0);
    double mtbf_s;

    parse(tsubame2);
    advise(&whole, &machine);
    mtbf_s = advice.mtbf_s;
    ck_assert_uint_eq(advice.machine.levels[3].used, 44);
    advise(&part, &machine);
    ck_assert_uint_eq(advice.machine.levels[0].used, 88);
    ck_assert_uint_eq(advice.machine.levels[3].used, 3); /* 32 nodes each */
    ck_assert_double_gt(advice.mtbf_s, 10 * mtbf_s);
    ck_assert_uint_le(choice(1, 4)->aware, 3); /* four members do not fit on three racks */
}
END_TEST

START_TEST(costs_are_those_of_the_groups_that_are_made)
{
    const keel_plan_options_t even = job(4002, 3, 43200), uneven = job(4000, 3, 43200), small = job(10, 1, 43200);
    unsigned i, j;

    advise(&even, NULL);
    ck_assert_double_eq(choice(1, 3)->parity, 0x1p32);
    advise(&uneven, NULL); /* 1334 groups, two of them of 2 ranks */
    ck_assert_uint_eq(choice(1, 3)->smallest, 2);
    ck_assert_double_eq(choice(1, 3)->parity, 0x1p33);
    advise(&small, NULL); /* the sizes 6 and 8 give the groups of 5 */
    for (i = 0; i < advice.choice_count; i++) {
        ck_assert_uint_ne(advice.choices[i].group_size, 8);
        for (j = 0; j < i; j++) {
            ck_assert((advice.choices[i].groups != advice.choices[j].groups) ||
                      (advice.choices[i].parities != advice.choices[j].parities));
        }
    }
    ck_assert_uint_eq(choice(1, 5)->groups, 2);
}
END_TEST

START_TEST(the_target_comes_before_the_time)
{
    keel_plan_options_t options = job(4000, 3, 43200);
    const keel_plan_choice_t *best;
    unsigned i;

    options.target = 1e-15;
    advise(&options, NULL);
    best = &advice.choices[advice.best];
    ck_assert(advice.is_met);
    ck_assert_double_le(best->risk, 1e-15);
    for (i = 0; i < advice.choice_count; i++) {
        ck_assert((advice.choices[i].risk > 1e-15) || (best->lost <= advice.choices[i].lost + 0.001));
    }
    options.target = 1e-60;
    advise(&options, NULL);
    ck_assert(!advice.is_met);
    for (i = 0; i < advice.choice_count; i++) {
        ck_assert_double_le(advice.choices[advice.best].risk, advice.choices[i].risk);
    }
}
END_TEST

START_TEST(what_the_node_cannot_hold_is_not_taken)
{
    keel_plan_options_t options = job(4000, 3, 43200);
    keel_plan_logs_t logs;

    keel_plan_cost_logs(&options, &logs);
    ck_assert_double_eq(logs.oplog, 8 * 0x1p32);
    ck_assert_double_eq(logs.getlog, 0x1p24);
    options.node_memory = 60 * 0x1p30;
    keel_plan_cost_logs(&options, &logs);
    ck_assert_double_eq(logs.oplog, 5 * 0x1p30); /* a third of a quarter */
    options.target = 1e-6;
    advise(&options, NULL);
    ck_assert(choice(1, 2)->is_too_large);
    ck_assert(!advice.choices[advice.best].is_too_large);
    ck_assert_double_le(keel_plan_cost_node(&options, &advice.choices[advice.best]), options.node_memory);
}
END_TEST

START_TEST(a_run_is_riskier_than_a_day)
{
    const keel_plan_choice_t rare = {.risk = 1e-12}, often = {.risk = 0.5}, always = {.risk = 1};

    ck_assert_double_eq_tol(keel_plan_risk_of_run(&rare, 30 * 86400), 3e-11, 1e-20);
    ck_assert_double_eq_tol(keel_plan_risk_of_run(&often, 2 * 86400), 1 - exp(-1), 1e-12);
    ck_assert_double_eq(keel_plan_risk_of_run(&always, 60), 1);
}
END_TEST

/* The window is the time until a group is complete again, and at least the window of the file. */
START_TEST(the_window_is_what_a_rebuild_takes)
{
    const keel_plan_options_t options = job(64, 1, 0);
    const keel_plan_choice_t *of;

    parse("machine a\nlevel node 64 mtbf 30d\n");
    advise(&options, &machine);
    of = choice(1, 8);
    ck_assert_double_eq_tol(of->window_s, of->rebuild_s + of->safe_s + 10, 1e-9);
    parse("machine a\nwindow 2h\nlevel node 64 mtbf 30d\n");
    advise(&options, &machine);
    ck_assert_double_eq(choice(1, 8)->window_s, 7200);
    ck_assert_double_eq(advice.mtbf_s, 30 * 86400.0 / 64);
}
END_TEST

/* The intervals are those of the two levels with the choice's costs and failures. */
START_TEST(files_go_by_the_two_levels)
{
    keel_plan_options_t options = job(4000, 3, 43200);
    const keel_plan_choice_t *of;
    const double image_s = 3 * 0x1p32 / options.memory_bandwidth;
    keel_two_level_t params = {.covered_mtbf_s = 1 / (1 / 43200.0 - 1e-5), .beyond_mtbf_s = 1e5};
    keel_plan_choice_t often;
    double interval_s;
    uint32_t checkpoints;

    options.file_rate = 4000 * 0x1p32 / 100;
    options.file_latency_s = 20;
    advise(&options, NULL);
    of = choice(1, 4);
    ck_assert_double_eq(of->files.set_s, 120);
    ck_assert_double_eq(of->files.set_cost_s, 8 * image_s);
    ck_assert_double_eq_tol(of->files.beyond_mtbf_s, 86400 / of->risk, 1);
    ck_assert(of->files.is_daly);
    ck_assert_double_eq(of->files.interval_s, of->interval_s);
    ck_assert_double_gt(of->files.lost, of->lost);

    often = *of;
    often.risk = 0.864; /* a day: once in 1e5 s */
    keel_plan_cost_files(&options, 43200, &often);
    params.cost_s = of->stop_s + of->work_s;
    params.recovery_s = of->rebuild_s + 10;
    params.set_cost_s = 8 * image_s;
    params.set_time_s = 120;
    params.restart_s = 130;
    ck_assert_uint_eq(often.files.checkpoints, keel_two_level_checkpoints(&params, of->interval_s));
    ck_assert_uint_lt(often.files.checkpoints, of->files.checkpoints);
    ck_assert_double_eq_tol(often.files.lost,
                            1 - 1 / keel_two_level_time(&params, of->interval_s, often.files.checkpoints), 1e-9);

    often.risk = 1; /* every failure */
    keel_plan_cost_files(&options, 600, &often);
    params.covered_mtbf_s = INFINITY;
    params.beyond_mtbf_s = 600;
    keel_two_level_best(&params, &interval_s, &checkpoints);
    ck_assert(!often.files.is_daly);
    ck_assert_uint_eq(often.files.checkpoints, checkpoints);
    ck_assert_double_eq_tol(often.files.interval_s, interval_s, 1e-6);
}
END_TEST

START_TEST(slow_files_are_complete_before_the_next)
{
    keel_plan_options_t options = job(4000, 3, 43200);
    const keel_plan_files_t *files;

    options.file_rate = 1e6; /* half a year for a set */
    advise(&options, NULL);
    files = &choice(1, 4)->files;
    ck_assert_double_ge(files->checkpoints * (files->interval_s + choice(1, 4)->stop_s + choice(1, 4)->work_s),
                        files->set_s);
    options.file_rate = 0;
    advise(&options, NULL);
    ck_assert_uint_eq(choice(1, 4)->files.checkpoints, 0);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        the_risk_on_a_machine_follows_the_mtbf,      a_job_meets_the_failures_of_its_own_elements,
        costs_are_those_of_the_groups_that_are_made, the_target_comes_before_the_time,
        what_the_node_cannot_hold_is_not_taken,      a_run_is_riskier_than_a_day,
        the_window_is_what_a_rebuild_takes,          files_go_by_the_two_levels,
        slow_files_are_complete_before_the_next,     NULL};

    return unit_run("plan advice", tests);
}
