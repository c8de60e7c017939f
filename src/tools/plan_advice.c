/*
 * The model. S: bytes of a rank, R: ranks of a node, k and m: group size and parities, B: bandwidth of a node's network,
 * C: of its memory, M: MTBF.
 *   memory   2 S (1 + m / (k - m))        two images and two shares of parity, one of each in the making
 *   stop     2 R S / C                    every byte is read and written
 *   work     m (1 + 1 / (k - m)) R S / C  each of m shares reads k - m chunks of S / (k - m) and writes one
 *   safe     m R S / B                    each of a rank's m shares of S / (k - m) takes as much from k - m members
 *   rebuild  (k - m) R S / B              each chunk of a lost image takes one from k - m others
 *   interval Daly's for stop + work and M, as the library's own, but not shorter than stop and safe
 *   lost     (stop + work) / (interval + stop + work) + (interval / 2 + rebuild) / M
 * Where only M is known, nodes fail alone; at once is what happens before a group is whole again: rebuild, safe and
 * KEEL_PLAN_RESTART_S for the launcher.
 */
#include "plan_advice.h"

#include "plan_layout.h"

#include "ckpt/interval.h"

#include <math.h>
#include <string.h>

#define KEEL_PLAN_RESTART_S 10.0
#define KEEL_PLAN_LOST_MORE 0.001 /* of the run's time, that a choice may cost more than the fastest */

static const uint32_t keel_plan_sizes[] = {2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 48, 64};

/* ---- costs -------------------------------------------------------------------------------------------------- */

static void keel_plan_cost(const keel_plan_options_t *options, double mtbf_s, keel_plan_choice_t *choice)
{
    const double node_bytes = options->memory * fmin(options->ranks_per_node, options->ranks);
    const double k = choice->group_size, m = choice->parities;
    double daly_s, cost_s;

    choice->parity = 2 * options->memory * m / (k - m);
    choice->memory = 2 * options->memory + choice->parity;
    choice->stop_s = 2 * node_bytes / options->memory_bandwidth;
    choice->safe_s = m * node_bytes / options->network;
    choice->rebuild_s = (k - m) * node_bytes / options->network;
    choice->work_s = m * (1 + 1 / (k - m)) * node_bytes / options->memory_bandwidth;
    cost_s = choice->stop_s + choice->work_s;
    daly_s = keel_interval_daly_s(cost_s, mtbf_s);
    choice->interval_s = fmax(daly_s, choice->stop_s + choice->safe_s);
    choice->lost = cost_s / (choice->interval_s + cost_s) + (choice->interval_s / 2 + choice->rebuild_s) / mtbf_s;
    choice->lost = fmin(choice->lost, 1);
}

/* ---- safety ------------------------------------------------------------------------------------------------- */

static uint64_t keel_plan_nodes(const keel_plan_options_t *options)
{
    return (options->ranks + options->ranks_per_node - 1) / options->ranks_per_node;
}

/* whatever the placement: the formula's own layout is safer than what the library makes of several ranks a node */
static keel_status_t keel_plan_risk(const keel_plan_options_t *options, const keel_plan_machine_t *machine,
                                    const keel_plan_choice_t *choice, uint32_t aware, double *risk_p)
{
    uint64_t most[KEEL_PLAN_LEVELS_MAX];
    keel_reliability_params_t params = {.levels = machine->levels,
                                        .level_count = machine->level_count,
                                        .aware = aware,
                                        .parities = choice->parities,
                                        .window_s = machine->levels[0].failures.window_s,
                                        .method = KEEL_RELIABILITY_BOUND,
                                        .most_ranks = most};

    keel_plan_most_ranks(machine, options->ranks, options->ranks_per_node, most);
    keel_plan_groups(options->ranks, choice->group_size, choice->parities, &params.groups, &params.group_size);
    return keel_reliability_catastrophe(&params, NULL, risk_p);
}

/* the most levels that groups like these can heed on the elements that the job uses, and the risk then */
static keel_status_t keel_plan_heed(const keel_plan_options_t *options, const keel_plan_machine_t *machine,
                                    keel_plan_choice_t *choice)
{
    keel_status_t status;
    double risk;
    uint32_t aware;

    for (aware = 0; aware <= machine->level_count; aware++) {
        status = keel_plan_risk(options, machine, choice, aware, &risk);
        if (status != KEEL_OK) {
            return (status == KEEL_ERR_GROUPS) ? KEEL_OK : status;
        }
        choice->aware = aware;
        choice->risk = risk;
    }
    return KEEL_OK;
}

/* nodes that fail alone, so that the job's MTBF is what was given */
static void keel_plan_nodes_only(const keel_plan_options_t *options, double mtbf_s, const keel_plan_choice_t *choice,
                                 keel_plan_machine_t *machine)
{
    const double window_s = choice->rebuild_s + choice->safe_s + KEEL_PLAN_RESTART_S;

    memset(machine, 0, sizeof *machine);
    snprintf(machine->level_name[0], KEEL_PLAN_NAME_MAX, "node");
    machine->level_count = 1;
    machine->levels[0].count = keel_plan_nodes(options);
    machine->levels[0].failures = (keel_failures_t){.kind = KEEL_FAILURES_ELEMENT,
                                                    .mtbf_s = mtbf_s * (double)machine->levels[0].count,
                                                    .window_s = fmin(window_s, KEEL_PLAN_WINDOW_MAX)};
}

/* ---- the choice --------------------------------------------------------------------------------------------- */

static int keel_plan_is_better(const keel_plan_choice_t *one, const keel_plan_choice_t *other, double target)
{
    const int is_met = (one->risk <= target), is_other_met = (other->risk <= target);

    if (is_met != is_other_met) {
        return is_met;
    }
    if (!is_met) {
        return one->risk < other->risk;
    }
    if (one->memory != other->memory) {
        return one->memory < other->memory;
    }
    return one->lost < other->lost;
}

static void keel_plan_choose(double target, keel_plan_advice_t *advice)
{
    const keel_plan_choice_t *best = NULL;
    double fastest = 1;
    unsigned i;

    for (i = 0; i < advice->choice_count; i++) {
        fastest = fmin(fastest, advice->choices[i].lost);
    }
    for (i = 0; i < advice->choice_count; i++) {
        if ((advice->choices[i].lost <= fastest + KEEL_PLAN_LOST_MORE) &&
            ((best == NULL) || keel_plan_is_better(&advice->choices[i], best, target))) {
            best = &advice->choices[i];
        }
    }
    advice->best = (unsigned)(best - advice->choices);
    advice->is_met = (best->risk <= target);
}

static int keel_plan_choices(const keel_plan_options_t *options, const keel_plan_machine_t *given,
                             keel_plan_advice_t *advice, keel_plan_machine_t *nodes_only)
{
    const uint32_t first = (options->parities > 0) ? options->parities : 1;
    const uint32_t last = (options->parities > 0) ? options->parities : KEEL_PLAN_PARITIES_MOST;
    const unsigned sizes = (options->group_size > 0) ? 1 : sizeof keel_plan_sizes / sizeof *keel_plan_sizes;
    keel_plan_choice_t choice;
    uint32_t m;
    unsigned i;

    for (m = first; m <= last; m++) {
        for (i = 0; i < sizes; i++) {
            const keel_plan_machine_t *machine = given;
            choice = (keel_plan_choice_t){
                .group_size = (options->group_size > 0) ? options->group_size : keel_plan_sizes[i], .parities = m};
            if ((choice.group_size <= m) || (choice.group_size > options->ranks)) {
                continue;
            }
            keel_plan_cost(options, advice->mtbf_s, &choice);
            if (given == NULL) {
                keel_plan_nodes_only(options, advice->mtbf_s, &choice, nodes_only);
                machine = nodes_only;
            }
            if (keel_plan_heed(options, machine, &choice) != KEEL_OK) {
                return -1;
            }
            if (choice.aware > 0) {
                advice->choices[advice->choice_count++] = choice;
            }
        }
    }
    return 0;
}

/*
 * What the library does is what counts: the groups are formed, and should they not fit, a level less is heeded until they
 * do. 1: as assumed; 0: the choice has changed; -1: no memory.
 */
static int keel_plan_verify(const keel_plan_options_t *options, const keel_plan_machine_t *machine,
                            keel_plan_choice_t *choice)
{
    const uint32_t assumed = choice->aware;
    keel_plan_layout_params_t params = {options->ranks,   choice->aware,        choice->group_size,
                                        choice->parities, KEEL_PLAN_PLACE_KEEL, options->ranks_per_node};
    keel_plan_layout_t layout;
    keel_plan_error_t error;
    uint32_t worst;

    for (; choice->aware > 0; choice->aware--) {
        params.aware = choice->aware;
        if (keel_plan_layout_make(machine, &params, &layout, &error)) {
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
    return (keel_plan_risk(options, machine, choice, choice->aware, &choice->risk) == KEEL_OK) ? 0 : -1;
}

/* chooses until the choice stands; each round takes a level from one of them */
static int keel_plan_choose_verified(const keel_plan_options_t *options, keel_plan_advice_t *advice,
                                     keel_plan_machine_t *nodes_only)
{
    keel_plan_choice_t *best;
    int rc;

    do {
        keel_plan_choose(options->target, advice);
        best = &advice->choices[advice->best];
        if (advice->machine == NULL || advice->machine == nodes_only) {
            keel_plan_nodes_only(options, advice->mtbf_s, best, nodes_only);
            advice->machine = nodes_only;
        }
        rc = (best->aware > 0) ? keel_plan_verify(options, advice->machine, best) : 1;
    } while (rc == 0);
    return rc;
}

static int keel_plan_check_machine(const keel_plan_options_t *options, const keel_plan_machine_t *machine,
                                   keel_plan_error_t *error)
{
    if ((machine != NULL) && (keel_plan_nodes(options) > machine->levels[0].count)) {
        snprintf(error->text, sizeof error->text, "%u ranks at %u a node need %llu nodes; %s has %llu", options->ranks,
                 options->ranks_per_node, (unsigned long long)keel_plan_nodes(options), machine->name,
                 (unsigned long long)machine->levels[0].count);
        return -1;
    }
    if (options->parities > KEEL_PLAN_PARITIES_MOST) {
        snprintf(error->text, sizeof error->text, "KEEL_PARITIES is at most %d", KEEL_PLAN_PARITIES_MOST);
        return -1;
    }
    if (options->level != NULL) {
        snprintf(error->text, sizeof error->text, "--advise heeds the coarsest level that a group fits in: no --level");
        return -1;
    }
    return 0;
}

int keel_plan_advise(const keel_plan_options_t *options, const keel_plan_machine_t *machine, keel_plan_advice_t *advice,
                     keel_plan_error_t *error)
{
    static const double impossible = 2;
    static keel_plan_machine_t nodes_only;
    uint32_t j;

    memset(advice, 0, sizeof *advice);
    memset(error, 0, sizeof *error);
    if (keel_plan_check_machine(options, machine, error)) {
        return -1;
    }
    advice->is_mtbf_of_machine = (options->mtbf_s == 0);
    advice->mtbf_s = (options->mtbf_s > 0) ? options->mtbf_s : 86400 / keel_plan_machine_rate(machine);
    if (!(advice->mtbf_s >= 1e-3) || !(advice->mtbf_s <= 1e10)) {
        snprintf(error->text, sizeof error->text, "an MTBF of %g s is out of range, allowed are 0.001 s to 1e10 s",
                 advice->mtbf_s);
        return -1;
    }
    if (keel_plan_choices(options, machine, advice, &nodes_only)) {
        snprintf(error->text, sizeof error->text, "not enough memory");
        return -1;
    }
    if (advice->choice_count == 0) {
        snprintf(error->text, sizeof error->text,
                 "%u ranks on %llu nodes: no group can keep its members on nodes of their own", options->ranks,
                 (unsigned long long)keel_plan_nodes(options));
        return -1;
    }
    advice->machine = machine;
    if (keel_plan_choose_verified(options, advice, &nodes_only) < 0) {
        snprintf(error->text, sizeof error->text, "not enough memory");
        return -1;
    }
    machine = advice->machine;
    for (j = 0; j <= machine->level_count; j++) {
        if ((j > advice->choices[advice->best].aware) ||
            (keel_plan_risk(options, machine, &advice->choices[advice->best], j, &advice->risk_by_level[j]) !=
             KEEL_OK)) {
            advice->risk_by_level[j] = impossible;
        }
    }
    return 0;
}
