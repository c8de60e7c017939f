/* Safety: the results for each level and share of parity, and three formats. */
#ifndef KEEL_TOOLS_PLAN_REPORT_H_
#define KEEL_TOOLS_PLAN_REPORT_H_

#include "plan_machine.h"
#include "plan_options.h"
#include "plan_simulate.h"

typedef struct keel_plan_cell {
    uint32_t aware; /* 0: no topology */
    uint32_t group_size;
    double share;
    int is_possible; /* the respected levels have enough elements */
    double paper, exact;
    double bound; /* for the given ranks; above 1: no such placement exists */
    double paper_level[KEEL_PLAN_LEVELS_MAX], exact_level[KEEL_PLAN_LEVELS_MAX];
    /* of the simulated placement: most members of a group on one element of the level */
    uint32_t worst;
    keel_plan_estimate_t simulated, simulated_level[KEEL_PLAN_LEVELS_MAX];
} keel_plan_cell_t;

typedef struct keel_plan_report {
    const keel_plan_machine_t *machine;
    const keel_plan_options_t *options;
    unsigned row_count, column_count; /* rows: shares; columns: levels */
    keel_plan_cell_t cells[KEEL_PLAN_SHARES_MAX][KEEL_PLAN_LEVELS_MAX + 1];
} keel_plan_report_t;

/* Returns 0, or -1 with the reason. */
int keel_plan_report_make(const keel_plan_machine_t *machine, const keel_plan_options_t *options,
                          const keel_plan_progress_t *progress, keel_plan_report_t *report, keel_plan_error_t *error);
void keel_plan_report_print(const keel_plan_report_t *report, FILE *stream);
/* The name of a level by `aware`. */
const char *keel_plan_level_name(const keel_plan_machine_t *machine, uint32_t aware);
/* Draws the table as an SVG. Returns 0, or -1 with the reason. */
int keel_plan_picture(const keel_plan_report_t *report, const char *path, keel_plan_error_t *error);

#endif
