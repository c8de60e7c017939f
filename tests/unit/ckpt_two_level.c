/*
 * Checkpoints on two levels: the expected time against a simulation of the process, which knows no
 * formula, and the best interval and number of checkpoints against the limits and a search.
 */
#include "ckpt/two_level.h"

#include "ckpt/interval.h"
#include "unit.h"

#include <math.h>

#define PATTERNS 200000

/* rare enough failures for progress, frequent enough to count */
static const keel_two_level_t usual = {.covered_mtbf_s = 1000,
                                       .beyond_mtbf_s = 5000,
                                       .cost_s = 5,
                                       .recovery_s = 40,
                                       .set_cost_s = 30,
                                       .set_time_s = 250,
                                       .restart_s = 200};

/* ---- the simulated process ---- */

typedef struct process {
    const keel_two_level_t *params;
    double interval_s;
    unsigned checkpoints;
    uint64_t random;
    double now_s, next_covered_s, next_beyond_s;
    long done, complete; /* segments done, and segments of the newest complete set */
    double complete_s;   /* when the set in the making is complete; INFINITY: none */
    long making;
} process_t;

static double draw(process_t *process, double mtbf_s)
{
    return -log1p(-(double)(unit_random(&process->random) >> 11) * 0x1p-53) * mtbf_s;
}

typedef enum { PASSED, COVERED, BEYOND } event_t;

/* Lets so much time pass, up to the next failure. */
static event_t pass(process_t *process, double time_s)
{
    const double end_s = process->now_s + time_s;
    const event_t event = (end_s <= process->next_covered_s && end_s <= process->next_beyond_s) ? PASSED
                          : (process->next_covered_s < process->next_beyond_s)                  ? COVERED
                                                                                                : BEYOND;

    process->now_s = (event == PASSED) ? end_s : (event == COVERED) ? process->next_covered_s : process->next_beyond_s;
    if (event == COVERED) {
        process->next_covered_s += draw(process, process->params->covered_mtbf_s);
    } else if (event == BEYOND) {
        process->next_beyond_s += draw(process, process->params->beyond_mtbf_s);
    }
    if (process->complete_s <= process->now_s) {
        process->complete = process->making;
        process->complete_s = INFINITY;
    }
    return event;
}

/* The job is lost and starts again from the newest complete set. */
static void restart(process_t *process)
{
    process->complete_s = INFINITY;
    process->making = -1;
    while (pass(process, process->params->restart_s) != PASSED) {
    }
    process->done = process->complete;
}

/* One attempt at the next segment, and at the recovery from a failure. */
static void attempt(process_t *process)
{
    const int is_due = process->done % process->checkpoints == 0 && process->done > process->complete;
    event_t event;

    if (is_due && process->complete_s == INFINITY) {
        process->making = process->done;
        process->complete_s = process->now_s + process->params->set_time_s;
    }
    event = pass(process, process->interval_s + process->params->cost_s +
                              ((process->making == process->done) ? process->params->set_cost_s : 0));
    process->done += (event == PASSED);
    while (event == COVERED) {
        event = pass(process, process->params->recovery_s);
    }
    if (event == BEYOND) {
        restart(process);
    }
}

/* Mean time of the process per second of work, and the standard error of the mean. */
static double simulate(const keel_two_level_t *params, double interval_s, unsigned checkpoints, uint64_t seed,
                       double *error_p)
{
    process_t process = {.params = params,
                         .interval_s = interval_s,
                         .checkpoints = checkpoints,
                         .random = seed,
                         .complete_s = INFINITY,
                         .making = -1};
    double sum = 0, squares = 0, mean;

    process.next_covered_s = draw(&process, params->covered_mtbf_s);
    process.next_beyond_s = draw(&process, params->beyond_mtbf_s);
    process.complete = -(long)checkpoints;
    for (long i = 1; i <= PATTERNS; i++) {
        const double begun_s = process.now_s;

        while (process.done < i * (long)checkpoints) {
            attempt(&process);
        }
        sum += process.now_s - begun_s;
        squares += (process.now_s - begun_s) * (process.now_s - begun_s);
    }
    mean = sum / PATTERNS;
    *error_p = sqrt((squares / PATTERNS - mean * mean) / PATTERNS) / (checkpoints * interval_s);
    return mean / (checkpoints * interval_s);
}

START_TEST(the_time_is_that_of_the_simulated_process)
{
    static const struct {
        double interval_s;
        unsigned checkpoints;
    } cases[] = {{100, 4}, {300, 1}, {45, 9}};
    unsigned i;

    for (i = 0; i < sizeof cases / sizeof *cases; i++) {
        double error;
        const double simulated = simulate(&usual, cases[i].interval_s, cases[i].checkpoints, 2 + i, &error);
        const double formula = keel_two_level_time(&usual, cases[i].interval_s, cases[i].checkpoints);

        printf("%g s, %u: formula %.5f, simulated %.5f +- %.5f\n", cases[i].interval_s, cases[i].checkpoints, formula,
               simulated, error);
        ck_assert_double_lt(error, 0.002 * simulated);
        ck_assert_double_eq_tol(formula, simulated, 3 * error);
    }
}
END_TEST

/* The simulation tells each constant from half of it. */
START_TEST(each_constant_is_told_from_half_of_it)
{
    keel_two_level_t params;
    double error;
    const double simulated = simulate(&usual, 100, 4, 2, &error);
    double *const constants[] = {&params.covered_mtbf_s, &params.beyond_mtbf_s, &params.cost_s,   &params.recovery_s,
                                 &params.set_cost_s,     &params.set_time_s,    &params.restart_s};
    unsigned i;

    for (i = 0; i < sizeof constants / sizeof *constants; i++) {
        params = usual;
        *constants[i] /= 2;
        ck_assert_msg(fabs(keel_two_level_time(&params, 100, 4) - simulated) > 6 * error, "constant %u", i);
    }
}
END_TEST

/* ---- limits ---- */

START_TEST(without_failures_beyond_parity_the_interval_is_dalys)
{
    static const double costs_s[] = {0.01, 1, 30};
    keel_two_level_t params = {.beyond_mtbf_s = INFINITY, .covered_mtbf_s = 86400, .set_cost_s = 5, .set_time_s = 10};
    unsigned i;

    for (i = 0; i < sizeof costs_s / sizeof *costs_s; i++) {
        double interval_s, daly_s = keel_interval_daly_s(costs_s[i], 86400);
        uint32_t checkpoints;

        params.cost_s = costs_s[i];
        keel_two_level_best(&params, &interval_s, &checkpoints);
        ck_assert_uint_eq(checkpoints, KEEL_TWO_LEVEL_CHECKPOINTS_MAX);
        ck_assert_double_eq_tol(interval_s, daly_s, 1e-3 * daly_s);
    }
}
END_TEST

START_TEST(rarer_failures_beyond_parity_make_sets_rarer)
{
    keel_two_level_t params = {.covered_mtbf_s = 86400, .cost_s = 1, .set_cost_s = 5, .set_time_s = 10};
    double interval_s, daly_s = keel_interval_daly_s(1, 86400);
    uint32_t checkpoints, before = 0;

    for (params.beyond_mtbf_s = 1e5; params.beyond_mtbf_s < 1e13; params.beyond_mtbf_s *= 100) {
        keel_two_level_best(&params, &interval_s, &checkpoints);
        ck_assert_uint_gt(checkpoints, before);
        before = checkpoints;
    }
    ck_assert_double_eq_tol(interval_s, daly_s, 1e-3 * daly_s);
    /* Young's interval of sets, sqrt(2 c2 / l2), where failures are rare */
    ck_assert_double_eq_tol(checkpoints * (interval_s + 1), sqrt(2 * 5 * params.beyond_mtbf_s / 100),
                            0.01 * checkpoints * interval_s);
}
END_TEST

START_TEST(sets_that_cost_nothing_are_all_written)
{
    keel_two_level_t params = usual;
    double interval_s;
    uint32_t checkpoints;

    params.set_cost_s = 1e-9;
    params.set_time_s = 1;
    keel_two_level_best(&params, &interval_s, &checkpoints);
    ck_assert_uint_eq(checkpoints, 1);
    ck_assert_uint_eq(keel_two_level_checkpoints(&params, 100), 1);
    params.set_cost_s = 30; /* and not because of another reason */
    keel_two_level_best(&params, &interval_s, &checkpoints);
    ck_assert_uint_gt(checkpoints, 1);
    ck_assert_uint_gt(keel_two_level_checkpoints(&params, 50), 1);
}
END_TEST

START_TEST(a_set_is_complete_before_the_next_one)
{
    keel_two_level_t params = usual;
    double interval_s;
    uint32_t checkpoints;

    params.set_cost_s = 0;
    params.set_time_s = 1000;
    ck_assert_uint_eq(keel_two_level_checkpoints(&params, 95), 10);
    ck_assert_uint_eq(keel_two_level_checkpoints(&params, 94), 11);
    keel_two_level_best(&params, &interval_s, &checkpoints);
    ck_assert_double_ge(checkpoints * (interval_s + params.cost_s), 1000 * (1 - 1e-9));
}
END_TEST

START_TEST(a_job_without_progress_takes_for_ever)
{
    keel_two_level_t params = usual;

    ck_assert(isinf(keel_two_level_time(&params, 1e9, 4)));
    ck_assert_uint_eq(keel_two_level_checkpoints(&params, 1e9), 1);
    params.beyond_mtbf_s = INFINITY;
    ck_assert(isinf(keel_two_level_time(&params, 1e9, 4)));
}
END_TEST

/* ---- the minimum ---- */

START_TEST(no_choice_is_better_than_the_best)
{
    uint64_t random = 1;
    unsigned i, k;

    for (i = 0; i < 20; i++) {
        const double unit = (double)(unit_random(&random) >> 11) * 0x1p-53;
        keel_two_level_t params = usual;
        double interval_s, other_s, best;
        uint32_t checkpoints;

        params.beyond_mtbf_s *= exp(5 * unit);
        params.set_cost_s *= (double)(unit_random(&random) >> 11) * 0x1p-53;
        params.least_s = (i % 5 == 0) ? 150 : 0;
        keel_two_level_best(&params, &interval_s, &checkpoints);
        best = keel_two_level_time(&params, interval_s, checkpoints);
        ck_assert_uint_lt(checkpoints, 200);
        ck_assert_double_ge(interval_s, params.least_s * (1 - 1e-9));
        for (k = 1; k <= 200; k++) {
            for (other_s = fmax(1, params.least_s); other_s < 10000; other_s *= 1.03) {
                if (k * (other_s + params.cost_s) >= params.set_time_s) {
                    ck_assert_double_ge(keel_two_level_time(&params, other_s, k), best * (1 - 1e-9));
                }
            }
        }
        for (k = 1; k <= 200; k++) { /* with the interval given */
            ck_assert_double_ge(keel_two_level_time(&params, 300, k),
                                keel_two_level_time(&params, 300, keel_two_level_checkpoints(&params, 300)));
        }
    }
}
END_TEST

START_TEST(the_restart_does_not_change_the_choice)
{
    keel_two_level_t params = usual;
    double interval_s, other_s;
    uint32_t checkpoints, other;

    keel_two_level_best(&params, &interval_s, &checkpoints);
    params.restart_s = 0;
    keel_two_level_best(&params, &other_s, &other);
    ck_assert_uint_eq(checkpoints, other);
    ck_assert_double_eq_tol(interval_s, other_s, 1e-3);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {the_time_is_that_of_the_simulated_process,
                                  each_constant_is_told_from_half_of_it,
                                  without_failures_beyond_parity_the_interval_is_dalys,
                                  rarer_failures_beyond_parity_make_sets_rarer,
                                  sets_that_cost_nothing_are_all_written,
                                  a_set_is_complete_before_the_next_one,
                                  a_job_without_progress_takes_for_ever,
                                  no_choice_is_better_than_the_best,
                                  the_restart_does_not_change_the_choice,
                                  NULL};

    return unit_run("two levels", tests);
}
