/* Cost of a choice of group size and parities in memory and time. */
#ifndef KEEL_TOOLS_PLAN_COST_H_
#define KEEL_TOOLS_PLAN_COST_H_

#include "plan_options.h"

/* Checkpoints in files as well (ckpt/two_level.h), with --file-rate. */
typedef struct keel_plan_files {
    double set_s;         /* from a checkpoint until its files are complete */
    double set_cost_s;    /* delay of the program by the writing */
    double beyond_mtbf_s; /* between failures beyond parity */
    double interval_s;    /* between checkpoints */
    uint32_t checkpoints; /* one of so many goes to files */
    int is_daly;          /* interval_s is that of KEEL_CKPT_INTERVAL=daly */
    double lost;          /* share of the run's time; 1: no progress */
} keel_plan_files_t;

typedef struct keel_plan_choice {
    uint32_t parities;
    uint32_t setting;    /* KEEL_GROUP_SIZE for these groups */
    uint32_t group_size; /* members of the largest group */
    uint32_t smallest;   /* members of the smallest group */
    uint64_t groups;
    uint32_t aware;
    /* bytes of a rank beyond its own memory: two images, two parity shares of the smallest group */
    double memory;
    double parity;    /* parity's part of memory */
    double stop_s;    /* the program stands still while images are copied */
    double work_s;    /* parity is computed step by step in the program's calls */
    double safe_s;    /* until the parity of all images is complete; in the background */
    double rebuild_s; /* rebuild of the images of a dead node */
    /* time without a dead member in its group: start, rebuild and safety of the replacement */
    double window_s;
    double interval_s; /* between checkpoints */
    /* share of the run's time lost to checkpoints and re-execution; 1: no progress */
    double lost;
    double risk;      /* probability of a catastrophic failure, per day */
    int is_too_large; /* for --node-memory */
    keel_plan_files_t files;
} keel_plan_choice_t;

typedef struct keel_plan_logs { /* of a rank, in bytes */
    double oplog;               /* most memory used with KEEL_OPLOG_SIZE=auto */
    double getlog;              /* KEEL_GETLOG_SIZE */
} keel_plan_logs_t;

/* @a k: members requested; choice has the parities. Returns 0 if no such groups exist. */
int keel_plan_cost(const keel_plan_options_t *options, uint32_t k, double mtbf_s, double window_least_s,
                   keel_plan_choice_t *choice);
/* Chooses the intervals of both levels for a choice with its risk. */
void keel_plan_cost_files(const keel_plan_options_t *options, double mtbf_s, keel_plan_choice_t *choice);
void keel_plan_cost_logs(const keel_plan_options_t *options, keel_plan_logs_t *logs);
/* Bytes of a node: the ranks' own memory, checkpoints, parity and logs. */
double keel_plan_cost_node(const keel_plan_options_t *options, const keel_plan_choice_t *choice);

#endif
