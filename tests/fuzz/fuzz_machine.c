/* Arbitrary bytes as a machine file: refused with a reason, or rates that can be computed with. */
#include "plan_machine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int is_right)
{
    if (!is_right) {
        abort();
    }
}

static void check_levels(const keel_plan_machine_t *machine)
{
    uint64_t before = KEEL_PLAN_COUNT_MAX;
    uint32_t j;

    check((machine->level_count > 0) && (machine->level_count <= KEEL_PLAN_LEVELS_MAX));
    for (j = 0; j < machine->level_count; j++) {
        const keel_hazard_t *level = &machine->levels[j];
        const double any = keel_failures_tail(level, 1), two = keel_failures_tail(level, 2);
        check((level->count > 0) && (level->count <= before));
        check(isfinite(any) && (two >= 0) && (two <= any * (1 + 1e-9)));
        check((any <= 1) || (level->failures.kind == KEEL_FAILURES_ELEMENT));
        check(machine->level_name[j][0] != '\0');
        before = level->count;
    }
}

/* few elements, so that a run stays fast */
static void check_formula(const keel_plan_machine_t *machine)
{
    keel_reliability_params_t params = {
        .levels = machine->levels, .level_count = machine->level_count, .group_size = 4, .parities = 1};
    uint64_t most[KEEL_PLAN_LEVELS_MAX];
    double paper, exact, bound;
    uint32_t j;

    for (j = 0; j < machine->level_count; j++) {
        most[j] = 1;
    }
    for (params.aware = 0; params.aware <= machine->level_count; params.aware++) {
        if (machine->levels[0].count > 256) {
            return;
        }
        params.method = KEEL_RELIABILITY_PAPER;
        if (keel_reliability_catastrophe(&params, NULL, &paper) != KEEL_OK) {
            return;
        }
        params.method = KEEL_RELIABILITY_EXACT;
        check(keel_reliability_catastrophe(&params, NULL, &exact) == KEEL_OK);
        check((paper >= 0) && (paper <= 1) && (exact >= 0) && (exact <= 1));
        params.method = KEEL_RELIABILITY_BOUND;
        params.groups = machine->levels[0].count;
        params.most_ranks = most;
        params.window_s = machine->window_s;
        check(keel_reliability_catastrophe(&params, NULL, &bound) == KEEL_OK);
        check((bound >= exact * (1 - 1e-9)) && (bound <= 1));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static keel_plan_machine_t machine;
    keel_plan_error_t error;

    if (keel_plan_machine_parse((const char *)data, size, &machine, &error)) {
        check((error.text[0] != '\0') && (memchr(error.text, '\0', sizeof error.text) != NULL));
        check(strchr(error.text, '\n') == NULL);
        return 0;
    }
    check_levels(&machine);
    check_formula(&machine);
    return 0;
}
