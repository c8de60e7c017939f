/* What a choice of group size, parities and level buys in safety, and which to take. */
#ifndef KEEL_TOOLS_PLAN_ADVICE_H_
#define KEEL_TOOLS_PLAN_ADVICE_H_

#include "plan_cost.h"
#include "plan_machine.h"

#define KEEL_PLAN_PARITIES_MOST  8u /* of KEEL_PARITIES */
#define KEEL_PLAN_PARITIES_USUAL 3u /* more are considered if these do not reach the target */
#define KEEL_PLAN_CHOICES_MAX    128

typedef struct keel_plan_advice {
    /* what the job meets of the given machine, its rates those of the MTBF, or made of the MTBF; window of the best choice */
    keel_plan_machine_t machine;
    uint64_t most[KEEL_PLAN_LEVELS_MAX]; /* ranks on one element of each level */
    double mtbf_s;
    double window_least_s; /* that the machine's file says */
    int is_mtbf_of_machine;
    double scaled_by; /* the given MTBF made of the machine's rates so many times as many; 0: left as they are */
    unsigned choice_count;
    keel_plan_choice_t choices[KEEL_PLAN_CHOICES_MAX];
    unsigned best;
    int is_met;                                     /* best has a risk within the target */
    double risk_by_level[KEEL_PLAN_LEVELS_MAX + 1]; /* of best, were the placement to heed less; 2: not possible */
} keel_plan_advice_t;

/* @a machine: NULL when only the MTBF is known. 0, or -1 and the reason. */
int keel_plan_advise(const keel_plan_options_t *options, const keel_plan_machine_t *machine, keel_plan_advice_t *advice,
                     keel_plan_error_t *error);
/* the probability of a catastrophe in the time that is asked for */
double keel_plan_risk_of_run(const keel_plan_choice_t *choice, double run_s);

#endif
