/*
 * Monte Carlo simulations beside the formulas. Catastrophes: draws failures level by level and
 * number by number (strata weighted with P_j(x)), picks the failed elements at random, and counts
 * dead members in the groups of an actual placement. Replicas: processes fail one after the other
 * until data is lost [R VI-B1].
 */
#ifndef KEEL_TOOLS_PLAN_SIMULATE_H_
#define KEEL_TOOLS_PLAN_SIMULATE_H_

#include "plan_layout.h"
#include "plan_random.h"

#include "tools/topo/replica_loss.h"

#define KEEL_PLAN_Z 1.959963984540054 /* quantile of 95 % */

typedef struct keel_plan_progress {
    int (*report)(void *arg, double done); /* done: 0 .. 1; nonzero return: stop. May be NULL. */
    void *arg;
} keel_plan_progress_t;

typedef struct keel_plan_estimate {
    double value, low, high; /* with the interval of 95 % */
    uint64_t samples;        /* drawn; 0 where all cases were enumerated */
} keel_plan_estimate_t;

/* Returns 0, or -1 if memory is short. @a by_level may be NULL. */
int keel_plan_simulate(const keel_plan_machine_t *machine, const keel_plan_layout_t *layout, uint64_t samples,
                       keel_plan_random_t *random, const keel_plan_progress_t *progress, keel_plan_estimate_t *by_level,
                       keel_plan_estimate_t *estimate);

#define KEEL_PLAN_ASKED_MAX 8

typedef struct keel_plan_replicas {
    keel_plan_estimate_t failures; /* failures until data is lost: mean and interval */
    double tenth, median, ninetieth;
    unsigned asked_count;
    uint64_t asked[KEEL_PLAN_ASKED_MAX]; /* input: numbers of failures */
    /* output: probability of lost data after these */
    keel_plan_estimate_t lost[KEEL_PLAN_ASKED_MAX];
} keel_plan_replicas_t;

/*
 * Returns 0, or -1 if memory is short or with more than 255 replicas. Stops early, with fewer
 * samples, if told to.
 */
int keel_plan_simulate_replicas(const keel_replicas_t *replicas, uint64_t samples, keel_plan_random_t *random,
                                const keel_plan_progress_t *progress, keel_plan_replicas_t *result);

/* Data with copies as a store places them (store/store_place), and @a width ranks on each node,
 * which fail together. */
typedef struct keel_plan_placed {
    uint32_t ranks, width;
    uint64_t replicas; /* at most 32 */
} keel_plan_placed_t;

/* Number of nodes, of which the last one may have fewer ranks. */
uint32_t keel_plan_placed_nodes(const keel_plan_placed_t *placed);
/* As keel_plan_simulate_replicas(), with failures of nodes. */
int keel_plan_simulate_placed(const keel_plan_placed_t *placed, uint64_t samples, keel_plan_random_t *random,
                              const keel_plan_progress_t *progress, keel_plan_replicas_t *result);
/* Draws one sample: the number of failures until data is lost. */
typedef uint64_t (*keel_plan_draw_cb_t)(const void *arg, keel_plan_random_t *random);
/* Draws samples, fewer if @a progress ends the run, and sets mean, shares and intervals. Returns 0,
 * or -1 without memory. */
int keel_plan_sample_losses(keel_plan_draw_cb_t draw, const void *arg, uint64_t samples, keel_plan_random_t *random,
                            const keel_plan_progress_t *progress, keel_plan_replicas_t *result);

/* Wilson's interval for @a hits of @a n. */
void keel_plan_wilson(double hits, double n, double *low_p, double *high_p);

#endif
