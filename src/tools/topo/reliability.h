/*
 * How likely a job is lost: the probability of a catastrophic failure, more than m members of one group dead at once
 * [F 5.2, equations 7 to 9], generalised from m = 1 to any m. Pure computation.
 *
 * A machine has levels of elements that fail as a whole, the finest first, as in topo/domain.h; failures of different
 * levels are independent and never counted together (the sum of equation 7). Groups are placed so that no element of the
 * first `aware` levels holds more than m members of a group; of the coarser levels any single failure is taken to be
 * catastrophic, the paper's worst case.
 */
#ifndef KEEL_TOOLS_TOPO_RELIABILITY_H_
#define KEEL_TOOLS_TOPO_RELIABILITY_H_

#include "tools/topo/failures.h"

#include <keel/status.h>

typedef enum {
    KEEL_RELIABILITY_PAPER, /* equation 8 as printed: a union bound, here never above 1 */
    KEEL_RELIABILITY_EXACT, /* the layout that equation 8 describes, counted without its overlaps */
    KEEL_RELIABILITY_BOUND  /* no placement that heeds the levels is worse: a union bound over all groups, which counts
                               failures of all levels within window_s of each other too */
} keel_reliability_method_t;

typedef struct keel_reliability_params {
    const keel_hazard_t *levels; /* the finest first */
    uint32_t level_count;
    uint32_t aware;      /* n: the first n levels are heeded by the placement; 0: no topology */
    uint64_t group_size; /* |G|, parity included */
    uint64_t parities;   /* m */
    /* for KEEL_RELIABILITY_BOUND: how many groups there are, the most ranks on one element of each heeded level, and how
       long a group that lost a member can be without it */
    uint64_t groups;
    const uint64_t *most_ranks;
    double window_s;
    keel_reliability_method_t method;
} keel_reliability_params_t;

/*
 * How a group's members are on a level: as many elements as have ranks of the job or as it has members, `each` on every one
 * of them and one more on `elements` of them (none: the shares are even). So x failures are a catastrophe for each * x > m,
 * and else when more than m - each * x of the `elements` are among them.
 */
typedef struct keel_spread {
    uint64_t each, elements;
} keel_spread_t;

/* @return KEEL_ERR_GROUPS when some element has to hold more than m members, KEEL_ERR_INVALID_PARAM unless 0 < m < k. */
keel_status_t keel_reliability_spread(uint64_t used, uint64_t group_size, uint64_t parities, keel_spread_t *spread_p);
/* how many of spread->elements have to be among x failures of elements with ranks; 0: none has to */
uint64_t keel_reliability_deaths(const keel_spread_t *spread, uint64_t parities, uint64_t x);

/*
 * Equation 8: at most how likely x failures among count elements are `deaths` or more in one of `classes` classes of
 * `elements` elements each, which may overlap. The paper has ceil(count / elements) classes.
 */
double keel_reliability_bound(uint64_t count, uint64_t classes, uint64_t elements, uint64_t deaths, uint64_t x);
uint64_t keel_reliability_classes(uint64_t count, uint64_t elements);
/*
 * The same without the union bound: count elements in floor(count / elements) classes of sizes as even as possible, any
 * `deaths` of one class catastrophic. @a conditional: for x = 0 .. x_max.
 */
void keel_reliability_exact(uint64_t count, uint64_t elements, uint64_t deaths, uint64_t x_max, double *conditional);

/*
 * Equation 9, per day and at most 1. @a by_level (may be NULL) gets what each level adds; for KEEL_RELIABILITY_BOUND what
 * comes of several failures within window_s is not in it.
 * @return KEEL_ERR_GROUPS when a heeded level has too few elements for the group, KEEL_ERR_INVALID_PARAM,
 *         KEEL_ERR_NO_MEMORY.
 */
keel_status_t keel_reliability_catastrophe(const keel_reliability_params_t *params, double *by_level,
                                           double *probability_p);

#endif
