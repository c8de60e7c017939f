/*
 * Choices are compared by a guarantee: the risk is the bound of tools/topo/reliability.h for the
 * library's groups. With a machine file, the failure rates are those of the elements that the job
 * uses; a given MTBF scales all rates to add up to the MTBF. Without a machine file, nodes fail one
 * by one, and switches and racks never fail.
 */
#include "plan_advice.h"

#include "plan_layout.h"

#include <math.h>
#include <string.h>

/* extra share of the run's time that a choice may cost over the fastest */
#define KEEL_PLAN_LOST_MORE 0.001

static const uint32_t keel_plan_sizes[] = {2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 48, 64};

/* ---- safety ---- */

double keel_plan_risk_of_run(const keel_plan_choice_t *choice, double run_s)
{
    return (choice->risk < 1) ? -expm1(-choice->risk * (run_s / KEEL_DAY_S)) : 1;
}

/*
 * Risk for any placement: the formula's own layout is safer than the library's layout of several
 * ranks per node.
 */
static keel_status_t keel_plan_risk(keel_plan_advice_t *advice, const keel_plan_choice_t *choice, uint32_t aware,
                                    double *risk_p)
{
    const keel_reliability_params_t params = {.levels = advice->machine.levels,
                                              .level_count = advice->machine.level_count,
                                              .aware = aware,
                                              .group_size = choice->group_size,
                                              .groups = choice->groups,
                                              .parities = choice->parities,
                                              .method = KEEL_RELIABILITY_BOUND,
                                              .window_s = choice->window_s,
                                              .most_ranks = advice->most};

    keel_plan_machine_set_window(&advice->machine, choice->window_s);
    return keel_reliability_catastrophe(&params, NULL, risk_p);
}

/* Finds the most levels that such groups can respect on the job's elements, and the risk. */
static keel_status_t keel_plan_find_levels(keel_plan_advice_t *advice, keel_plan_choice_t *choice)
{
    keel_status_t status;
    double risk;
    uint32_t aware;

    for (aware = 0; aware <= advice->machine.level_count; aware++) {
        status = keel_plan_risk(advice, choice, aware, &risk);
        if (status != KEEL_OK) {
            return (status == KEEL_ERR_GROUPS) ? KEEL_OK : status;
        }
        choice->aware = aware;
        choice->risk = risk;
    }
    return KEEL_OK;
}

/* ---- failures of the job ---- */

static uint64_t keel_plan_nodes(const keel_plan_options_t *options)
{
    return (options->ranks + options->ranks_per_node - 1) / options->ranks_per_node;
}

/* A machine of nodes that fail one by one, at the rate of the given MTBF. */
static void keel_plan_nodes_only(const keel_plan_options_t *options, keel_plan_machine_t *machine)
{
    snprintf(machine->level_name[0], KEEL_PLAN_NAME_MAX, "node");
    machine->level_count = 1;
    machine->levels[0].count = keel_plan_nodes(options);
    machine->levels[0].failures = (keel_failures_t){
        .kind = KEEL_FAILURES_ELEMENT, .mtbf_s = options->mtbf_s * (double)machine->levels[0].count, .window_s = 1};
}

static int keel_plan_meet(const keel_plan_options_t *options, const keel_plan_machine_t *given,
                          keel_plan_advice_t *advice, keel_plan_error_t *error)
{
    keel_plan_machine_t *machine = &advice->machine;
    double mtbf_s;

    if (given == NULL) {
        keel_plan_nodes_only(options, machine);
    } else {
        keel_plan_machine_copy(given, machine);
        advice->window_least_s = given->has_window ? given->window_s : 0;
    }
    if (keel_plan_use_elements(machine, options->ranks, options->ranks_per_node, error)) {
        return -1;
    }
    keel_plan_most_ranks(machine, options->ranks, options->ranks_per_node, advice->most);
    mtbf_s = KEEL_DAY_S / keel_plan_machine_rate(machine);
    advice->is_mtbf_of_machine = (options->mtbf_s == 0);
    advice->mtbf_s = advice->is_mtbf_of_machine ? mtbf_s : options->mtbf_s;
    if (!(advice->mtbf_s >= 1e-3) || !(advice->mtbf_s <= 1e10)) {
        snprintf(error->text, sizeof error->text, "an MTBF of %g s is out of range, allowed are 0.001 s to 1e10 s",
                 advice->mtbf_s);
        return -1;
    }
    if ((options->machine != NULL) && !advice->is_mtbf_of_machine) {
        advice->scaled_by = mtbf_s / options->mtbf_s;
        keel_plan_machine_scale(machine, advice->scaled_by);
    }
    return 0;
}

/* ---- the choice ---- */

static int keel_plan_is_feasible(const keel_plan_choice_t *choice)
{
    return !choice->is_too_large && (choice->lost < 1);
}

/*
 * Picks the choice with the least memory among those within the target and close to the fastest;
 * otherwise the safest.
 */
static void keel_plan_choose(double target, keel_plan_advice_t *advice)
{
    const keel_plan_choice_t *best = NULL, *safest = NULL, *choice;
    double fastest = 1;
    unsigned i;

    for (i = 0; i < advice->choice_count; i++) {
        choice = &advice->choices[i];
        if (keel_plan_is_feasible(choice) && (choice->risk <= target)) {
            fastest = fmin(fastest, choice->lost);
        }
        if ((safest == NULL) || (keel_plan_is_feasible(choice) > keel_plan_is_feasible(safest)) ||
            ((keel_plan_is_feasible(choice) == keel_plan_is_feasible(safest)) && (choice->risk < safest->risk))) {
            safest = choice;
        }
    }
    for (i = 0; i < advice->choice_count; i++) {
        choice = &advice->choices[i];
        if (!keel_plan_is_feasible(choice) || (choice->risk > target) ||
            (choice->lost > fastest + KEEL_PLAN_LOST_MORE)) {
            continue;
        }
        if ((best == NULL) || (choice->memory < best->memory) ||
            ((choice->memory == best->memory) && (choice->lost < best->lost))) {
            best = choice;
        }
    }
    advice->is_met = (best != NULL);
    advice->best = (unsigned)((advice->is_met ? best : safest) - advice->choices);
}

static int keel_plan_has_choice(const keel_plan_advice_t *advice, const keel_plan_choice_t *choice)
{
    unsigned i;

    for (i = 0; i < advice->choice_count; i++) {
        if ((advice->choices[i].parities == choice->parities) && (advice->choices[i].groups == choice->groups)) {
            return 1;
        }
    }
    return 0;
}

/* Adds choices with m parities and groups of each size. */
static int keel_plan_choices_of(const keel_plan_options_t *options, uint32_t m, keel_plan_advice_t *advice)
{
    const unsigned sizes = (options->group_size > 0) ? 1 : sizeof keel_plan_sizes / sizeof *keel_plan_sizes;
    keel_plan_choice_t choice;
    unsigned i;

    for (i = 0; i < sizes; i++) {
        choice = (keel_plan_choice_t){.parities = m};
        if (!keel_plan_cost(options, (options->group_size > 0) ? options->group_size : keel_plan_sizes[i],
                            advice->mtbf_s, advice->window_least_s, &choice) ||
            keel_plan_has_choice(advice, &choice)) {
            continue;
        }
        if (keel_plan_find_levels(advice, &choice) != KEEL_OK) {
            return -1;
        }
        if (choice.aware > 0) {
            advice->choices[advice->choice_count++] = choice;
        }
    }
    return 0;
}

static int keel_plan_choices(const keel_plan_options_t *options, keel_plan_advice_t *advice)
{
    const uint32_t first = (options->parities > 0) ? options->parities : 1;
    const uint32_t last = (options->parities > 0) ? options->parities : KEEL_PLAN_ADVICE_PARITIES_USUAL;
    uint32_t m;
    int rc = 0;

    for (m = first; (m <= last) && (rc == 0); m++) {
        rc = keel_plan_choices_of(options, m, advice);
    }
    return rc;
}

/*
 * Verifies a choice by forming the library's groups. If the groups do not fit, respects one level
 * less until they do. 1: as assumed; 0: the choice has changed; -1: no memory.
 */
static int keel_plan_verify(const keel_plan_options_t *options, keel_plan_advice_t *advice, keel_plan_choice_t *choice)
{
    const uint32_t assumed = choice->aware;
    keel_plan_layout_params_t params = {options->ranks,   choice->aware,        choice->group_size,
                                        choice->parities, KEEL_PLAN_PLACE_KEEL, options->ranks_per_node};
    keel_plan_layout_t layout;
    keel_plan_error_t error;
    uint32_t worst;

    for (; choice->aware > 0; choice->aware--) {
        params.aware = choice->aware;
        if (keel_plan_layout_make(&advice->machine, &params, &layout, &error)) {
            return -1;
        }
        worst = layout.worst;
        keel_plan_layout_release(&layout);
        if (worst <= choice->parities) {
            break;
        }
    }
    if (choice->aware == assumed) {
        return 1;
    }
    return (keel_plan_risk(advice, choice, choice->aware, &choice->risk) == KEEL_OK) ? 0 : -1;
}

/* Chooses until a choice passes; each round takes a level from a choice. */
static int keel_plan_choose_verified(const keel_plan_options_t *options, keel_plan_advice_t *advice)
{
    keel_plan_choice_t *best;
    int rc;

    do {
        keel_plan_choose(options->target, advice);
        best = &advice->choices[advice->best];
        rc = (best->aware > 0) ? keel_plan_verify(options, advice, best) : 1;
    } while (rc == 0);
    return rc;
}

/*
 * Adds parities beyond the usual number, one at a time, while the risk alone keeps the best choice
 * from the target.
 */
static int keel_plan_choose_more(const keel_plan_options_t *options, keel_plan_advice_t *advice)
{
    uint32_t m;
    int rc = 1;

    for (m = KEEL_PLAN_ADVICE_PARITIES_USUAL + 1;
         (options->parities == 0) && (m <= KEEL_PLAN_ADVICE_PARITIES_MAX) && (rc > 0) && !advice->is_met &&
         keel_plan_is_feasible(&advice->choices[advice->best]);
         m++) {
        rc = keel_plan_choices_of(options, m, advice) ? -1 : keel_plan_choose_verified(options, advice);
    }
    return rc;
}

/* ---- interface ---- */

static int keel_plan_check_options(const keel_plan_options_t *options, keel_plan_error_t *error)
{
    if (options->parities > KEEL_PLAN_ADVICE_PARITIES_MAX) {
        snprintf(error->text, sizeof error->text, "KEEL_PARITIES is at most %u", KEEL_PLAN_ADVICE_PARITIES_MAX);
        return -1;
    }
    if (options->group_size > options->ranks) {
        snprintf(error->text, sizeof error->text, "groups of %u cannot be formed of %u ranks", options->group_size,
                 options->ranks);
        return -1;
    }
    return 0;
}

static void keel_plan_levels_less(keel_plan_advice_t *advice)
{
    static const double impossible = 2;
    const keel_plan_choice_t *best = &advice->choices[advice->best];
    uint32_t j;

    for (j = 0; j <= advice->machine.level_count; j++) {
        if ((j > best->aware) || (keel_plan_risk(advice, best, j, &advice->risk_by_level[j]) != KEEL_OK)) {
            advice->risk_by_level[j] = impossible;
        }
    }
}

int keel_plan_advise(const keel_plan_options_t *options, const keel_plan_machine_t *machine, keel_plan_advice_t *advice,
                     keel_plan_error_t *error)
{
    unsigned i;

    memset(advice, 0, sizeof *advice);
    memset(error, 0, sizeof *error);
    if (keel_plan_check_options(options, error) || keel_plan_meet(options, machine, advice, error)) {
        return -1;
    }
    if (keel_plan_choices(options, advice)) {
        snprintf(error->text, sizeof error->text, "not enough memory");
        return -1;
    }
    if (advice->choice_count == 0) {
        snprintf(error->text, sizeof error->text,
                 "%u ranks on %llu nodes: no group can keep its members on nodes of their own", options->ranks,
                 (unsigned long long)advice->machine.levels[0].used);
        return -1;
    }
    if ((keel_plan_choose_verified(options, advice) < 0) || (keel_plan_choose_more(options, advice) < 0)) {
        snprintf(error->text, sizeof error->text, "not enough memory");
        return -1;
    }
    keel_plan_levels_less(advice);
    for (i = 0; (i < advice->choice_count) && (options->file_rate > 0); i++) {
        keel_plan_cost_files(options, advice->mtbf_s, &advice->choices[i]);
    }
    keel_plan_machine_set_window(&advice->machine, advice->choices[advice->best].window_s);
    return 0;
}
