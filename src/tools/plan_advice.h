/* What a choice of group size, parities and level costs in memory and time, what it buys in safety, and which to take. */
#ifndef KEEL_TOOLS_PLAN_ADVICE_H_
#define KEEL_TOOLS_PLAN_ADVICE_H_

#include "plan_machine.h"
#include "plan_options.h"

#define KEEL_PLAN_PARITIES_MOST 3 /* of KEEL_PARITIES */
#define KEEL_PLAN_CHOICES_MAX   64

typedef struct keel_plan_choice {
    uint32_t group_size, parities, aware;
    double memory;     /* of a rank beyond its own: two images and two parity shares, bytes */
    double parity;     /* of that, parity */
    double stop_s;     /* the program stands still: images are copied */
    double work_s;     /* parity is computed, bit by bit in the program's calls */
    double safe_s;     /* until the parity of all images is there; behind the computation */
    double rebuild_s;  /* the images of a node that died */
    double interval_s; /* between checkpoints */
    double lost;       /* share of the run's time: checkpoints, and what deaths undo */
    double risk;       /* probability of a catastrophic failure, per day */
} keel_plan_choice_t;

typedef struct keel_plan_advice {
    const keel_plan_machine_t *machine; /* given, or made of the MTBF for the best choice; until the next advice */
    double mtbf_s;
    int is_mtbf_of_machine;
    unsigned choice_count;
    keel_plan_choice_t choices[KEEL_PLAN_CHOICES_MAX];
    unsigned best;
    int is_met;                                     /* best has a risk within the target */
    double risk_by_level[KEEL_PLAN_LEVELS_MAX + 1]; /* of best, were the placement to heed less; 2: not possible */
} keel_plan_advice_t;

/* @a machine: NULL when only the MTBF is known. 0, or -1 and the reason. */
int keel_plan_advise(const keel_plan_options_t *options, const keel_plan_machine_t *machine, keel_plan_advice_t *advice,
                     keel_plan_error_t *error);

#endif
