/* The command line of keel_plan, checked as far as possible without a machine. */
#ifndef KEEL_TOOLS_PLAN_OPTIONS_H_
#define KEEL_TOOLS_PLAN_OPTIONS_H_

#include "plan_layout.h"

#include <stdio.h>

#define KEEL_PLAN_SHARES_MAX 32

typedef enum {
    KEEL_PLAN_SAFETY,
    KEEL_PLAN_REPLICAS,
    KEEL_PLAN_ADVICE,
    KEEL_PLAN_HELP,
    KEEL_PLAN_VERSION
} keel_plan_mode_t;
typedef enum { KEEL_PLAN_TEXT, KEEL_PLAN_CSV, KEEL_PLAN_JSON } keel_plan_form_t;

typedef struct keel_plan_options { /* options not given are 0 or NULL, unless a default is named */
    keel_plan_mode_t mode;
    keel_plan_form_t form;
    const char *machine, *level, *picture;
    uint32_t ranks, group_size;
    uint32_t parities; /* default 1; in advice 0: Keel's choice */
    double shares[KEEL_PLAN_SHARES_MAX];
    unsigned share_count; /* default: the shares of the paper's figure */
    int has_usual_shares; /* the default shares are in use */
    uint64_t samples, seed /* default 1 */;
    double limit_s; /* default 300 */
    keel_plan_place_t place;
    uint64_t replicas, failures;
    int is_advice;
    double memory, mtbf_s, network, memory_bandwidth, node_memory;
    double file_rate; /* bytes per second of all ranks together; 0: no checkpoints in files */
    double file_latency_s;
    uint32_t ranks_per_node; /* default 1 in advice */
    double target;           /* default 1e-5 */
    double run_s;
    const char *hosts, *topology;
} keel_plan_options_t;

/* Returns 0, or -1 after one line on @a errors. */
int keel_plan_options_read(int argc, char **argv, keel_plan_options_t *options, FILE *errors);
void keel_plan_usage(FILE *stream);

#endif
