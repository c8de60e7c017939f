/* Safety gained by a choice of group size, parities and level, and the best choice. */
#ifndef KEEL_TOOLS_PLAN_ADVICE_H_
#define KEEL_TOOLS_PLAN_ADVICE_H_

#include "plan_cost.h"
#include "plan_machine.h"

#define KEEL_PLAN_ADVICE_PARITIES_MAX   8u /* limit of KEEL_PARITIES */
#define KEEL_PLAN_ADVICE_PARITIES_USUAL 3u /* more are considered if these miss the target */
#define KEEL_PLAN_CHOICES_MAX           128

typedef struct keel_plan_advice {
    /*
     * the elements of the machine that the job uses; rates from the file, scaled to the MTBF, or
     * made of the MTBF; window of the best choice
     */
    keel_plan_machine_t machine;
    uint64_t most[KEEL_PLAN_LEVELS_MAX]; /* ranks on one element of each level */
    double mtbf_s;
    double window_least_s; /* from the machine's file */
    int is_mtbf_of_machine;
    double scaled_by; /* factor by which the given MTBF scaled the machine's rates; 0: not scaled */
    unsigned choice_count;
    keel_plan_choice_t choices[KEEL_PLAN_CHOICES_MAX];
    unsigned best;
    int is_met; /* best is within the target */
    /* risk of best if the placement respected fewer levels; 2: impossible */
    double risk_by_level[KEEL_PLAN_LEVELS_MAX + 1];
} keel_plan_advice_t;

/* @a machine: NULL if only the MTBF is known. Returns 0, or -1 with the reason. */
int keel_plan_advise(const keel_plan_options_t *options, const keel_plan_machine_t *machine, keel_plan_advice_t *advice,
                     keel_plan_error_t *error);
/* Probability of a catastrophe during the run. */
double keel_plan_risk_of_run(const keel_plan_choice_t *choice, double run_s);

#endif
