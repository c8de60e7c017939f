/* What a choice of group size and parities costs a job in memory and time. */
#ifndef KEEL_TOOLS_PLAN_COST_H_
#define KEEL_TOOLS_PLAN_COST_H_

#include "plan_options.h"

typedef struct keel_plan_choice {
    uint32_t parities;
    uint32_t setting;    /* KEEL_GROUP_SIZE that makes these groups */
    uint32_t group_size; /* members of the largest of them */
    uint32_t smallest;   /* of the smallest */
    uint64_t groups;
    uint32_t aware;
    double memory;    /* of a rank beyond its own: two images and two parity shares of the smallest group, bytes */
    double parity;    /* of that, parity */
    double stop_s;    /* the program stands still: images are copied */
    double work_s;    /* parity is computed, bit by bit in the program's calls */
    double safe_s;    /* until the parity of all images is there; in the background */
    double rebuild_s; /* the images of a node that died */
    double
        window_s; /* that a group is without a member that died: its replacement starts, is rebuilt, and is safe again */
    double interval_s; /* between checkpoints */
    double lost;       /* share of the run's time: checkpoints, and what deaths undo; 1: nothing is left */
    double risk;       /* probability of a catastrophic failure, per day */
    int is_too_large;  /* for --node-memory */
} keel_plan_choice_t;

typedef struct keel_plan_logs { /* of a rank, bytes */
    double oplog;               /* KEEL_OPLOG_SIZE=auto takes so much at most */
    double getlog;              /* KEEL_GETLOG_SIZE */
} keel_plan_logs_t;

/* choice: k members asked for and the parities are given; 0 when there can be no such groups */
int keel_plan_cost(const keel_plan_options_t *options, uint32_t k, double mtbf_s, double window_least_s,
                   keel_plan_choice_t *choice);
void keel_plan_cost_logs(const keel_plan_options_t *options, keel_plan_logs_t *logs);
/* bytes of a node: its ranks' own memory, checkpoints, parity and logs */
double keel_plan_cost_node(const keel_plan_options_t *options, const keel_plan_choice_t *choice);

#endif
