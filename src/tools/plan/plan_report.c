#include "plan_report.h"

#include <math.h>
#include <string.h>

const char *keel_plan_level_name(const keel_plan_machine_t *machine, uint32_t aware)
{
    return (aware == 0) ? "none" : machine->level_name[aware - 1];
}

/* Accepts a plural: "switches" is the level "switch". */
static int keel_plan_is_name(const char *text, const char *name)
{
    const size_t length = strlen(name);

    return !strncmp(text, name, length) &&
           (!strcmp(text + length, "") || !strcmp(text + length, "s") || !strcmp(text + length, "es"));
}

/* Finds the first and last `aware` requested. */
static int keel_plan_levels(const keel_plan_machine_t *machine, const char *name, uint32_t *first_p, uint32_t *last_p,
                            keel_plan_error_t *error)
{
    size_t used = 0;
    uint32_t i;

    *first_p = 0;
    *last_p = machine->level_count;
    if ((name == NULL) || !strcmp(name, "all")) {
        return 0;
    }
    for (i = 0; i <= machine->level_count; i++) {
        if (keel_plan_is_name(name, keel_plan_level_name(machine, i))) {
            *first_p = *last_p = i;
            return 0;
        }
    }
    used = (size_t)snprintf(error->text, sizeof error->text, "%s has no level '%.32s', only", machine->name, name);
    for (i = 0; (i <= machine->level_count) && (used < sizeof error->text); i++) {
        used +=
            (size_t)snprintf(error->text + used, sizeof error->text - used, " %s", keel_plan_level_name(machine, i));
    }
    return -1;
}

static int keel_plan_simulate_cell(const keel_plan_report_t *report, const keel_plan_progress_t *progress,
                                   keel_plan_cell_t *cell, keel_plan_error_t *error)
{
    const keel_plan_options_t *options = report->options;
    const keel_plan_layout_params_t params = {options->ranks,    cell->aware,    cell->group_size,
                                              options->parities, options->place, options->ranks_per_node};
    keel_plan_layout_t layout;
    keel_plan_random_t random;
    int rc;

    if (keel_plan_layout_make(report->machine, &params, &layout, error)) {
        return -1;
    }
    cell->worst = layout.worst;
    keel_plan_random_seed(&random, options->seed);
    rc = keel_plan_simulate(report->machine, &layout, options->samples, &random, progress, cell->simulated_level,
                            &cell->simulated);
    keel_plan_layout_release(&layout);
    if (rc != 0) {
        snprintf(error->text, sizeof error->text, "not enough memory to simulate");
    }
    return rc;
}

/* Upper bound of the risk. 2: the ranks are too uneven to respect the level. */
static double keel_plan_upper_bound(const keel_plan_report_t *report, const keel_reliability_params_t *cell_params)
{
    const keel_plan_options_t *options = report->options;
    keel_reliability_params_t params = *cell_params;
    uint64_t most[KEEL_PLAN_LEVELS_MAX];
    double probability;

    params.method = KEEL_RELIABILITY_BOUND;
    params.window_s = report->machine->window_s;
    params.most_ranks = most;
    keel_plan_most_ranks(report->machine, options->ranks, options->ranks_per_node, most);
    keel_plan_groups(options->ranks, (uint32_t)params.group_size, options->parities, &params.groups,
                     &params.group_size);
    return (keel_reliability_catastrophe(&params, NULL, &probability) == KEEL_OK) ? probability : 2;
}

static int keel_plan_cell(const keel_plan_report_t *report, const keel_plan_progress_t *progress,
                          keel_plan_cell_t *cell, keel_plan_error_t *error)
{
    keel_reliability_params_t params = {.levels = report->machine->levels,
                                        .level_count = report->machine->level_count,
                                        .aware = cell->aware,
                                        .group_size = cell->group_size,
                                        .parities = report->options->parities,
                                        .method = KEEL_RELIABILITY_PAPER};
    keel_status_t status;

    status = keel_reliability_catastrophe(&params, cell->paper_level, &cell->paper);
    if (status == KEEL_OK) {
        params.method = KEEL_RELIABILITY_EXACT;
        status = keel_reliability_catastrophe(&params, cell->exact_level, &cell->exact);
    }
    if (status == KEEL_ERR_GROUPS) {
        return 0; /* the cell stays empty */
    }
    if (status != KEEL_OK) {
        snprintf(error->text, sizeof error->text, "group size %u with %u parities: %s", cell->group_size,
                 report->options->parities, keel_status_string(status));
        return -1;
    }
    cell->is_possible = 1;
    if (report->options->ranks > 0) {
        cell->bound = keel_plan_upper_bound(report, &params);
    }
    return (report->options->samples > 0) ? keel_plan_simulate_cell(report, progress, cell, error) : 0;
}

int keel_plan_report_make(const keel_plan_machine_t *machine, const keel_plan_options_t *options,
                          const keel_plan_progress_t *progress, keel_plan_report_t *report, keel_plan_error_t *error)
{
    const double m = options->parities;
    uint32_t first, last, group_size;
    unsigned row, column;
    double share;

    memset(report, 0, sizeof *report);
    memset(error, 0, sizeof *error);
    report->machine = machine;
    report->options = options;
    if (keel_plan_levels(machine, options->level, &first, &last, error)) {
        return -1;
    }
    report->row_count = (options->group_size > 0) ? 1 : options->share_count;
    report->column_count = last - first + 1;
    for (row = 0; row < report->row_count; row++) {
        group_size = options->group_size;
        share = (group_size > 0) ? m / (double)(group_size - options->parities) : options->shares[row];
        group_size = (group_size > 0) ? group_size : options->parities + (uint32_t)lrint(m / share);
        if ((options->ranks > 0) && (group_size > options->ranks) && !options->has_usual_shares) {
            snprintf(error->text, sizeof error->text, "a parity of %g %% makes groups of %u, more than the %u ranks",
                     share * 100, group_size, options->ranks);
            return -1;
        }
        for (column = 0; column < report->column_count; column++) {
            keel_plan_cell_t *cell = &report->cells[row][column];
            cell->aware = first + column;
            cell->group_size = group_size;
            cell->share = share;
            if (((options->ranks == 0) || (group_size <= options->ranks)) &&
                keel_plan_cell(report, progress, cell, error)) {
                return -1;
            }
        }
    }
    if ((report->row_count == 1) && (report->column_count == 1) && !report->cells[0][0].is_possible) {
        snprintf(
            error->text, sizeof error->text,
            "groups of %u with %u parities do not fit: level '%s' has %llu elements, so more than %u members share one",
            report->cells[0][0].group_size, options->parities, keel_plan_level_name(machine, first),
            (unsigned long long)keel_hazard_used(&machine->levels[first - 1]), options->parities);
        return -1;
    }
    return 0;
}
