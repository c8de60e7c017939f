/*
 * Probability of losing a job: a catastrophic failure kills more than m members of a group at once
 * [F 5.2, equations 7 to 9], generalised from m = 1 to any m. Pure computation.
 *
 * A machine has levels of elements that fail as a whole, the finest first, as in topo/domain.h;
 * failures of different levels are independent and never counted together (the sum of equation 7).
 * In a placement, no element of the first `aware` levels holds more than m members of a group; on
 * coarser levels any single failure counts as catastrophic, the paper's worst case.
 */
#ifndef KEEL_TOOLS_TOPO_RELIABILITY_H_
#define KEEL_TOOLS_TOPO_RELIABILITY_H_

#include "tools/topo/failures.h"

#include <keel/status.h>

typedef enum {
    KEEL_RELIABILITY_PAPER, /* equation 8 as printed: a union bound, here capped at 1 */
    KEEL_RELIABILITY_EXACT, /* the layout described by equation 8, counted without overlaps */
    /*
     * no placement that respects the levels is worse: a union bound over all groups, which also
     * counts failures of all levels within window_s of each other
     */
    KEEL_RELIABILITY_BOUND
} keel_reliability_method_t;

typedef struct keel_reliability_params {
    const keel_hazard_t *levels; /* the finest first */
    uint32_t level_count;
    uint32_t aware;      /* n: the placement respects the first n levels; 0: no topology */
    uint64_t group_size; /* |G|, parity included */
    uint64_t parities;   /* m */
    /*
     * for KEEL_RELIABILITY_BOUND: the count of groups, the most ranks on one element of each
     * respected level, and the time in which a group may lack a lost member
     */
    uint64_t groups;
    const uint64_t *most_ranks;
    double window_s;
    keel_reliability_method_t method;
} keel_reliability_params_t;

/*
 * Distribution of a group's members on a level: over as many elements as have ranks of the job or
 * as the group has members, `each` on every element and one more on `elements` of them (0: the
 * shares are even). So x failures are a catastrophe if each * x > m, or if more than m - each * x
 * of the `elements` are among them.
 */
typedef struct keel_spread {
    uint64_t each, elements;
} keel_spread_t;

/*
 * @return KEEL_ERR_GROUPS if an element has to hold more than m members, KEEL_ERR_INVALID_PARAM
 * unless 0 < m < k.
 */
keel_status_t keel_reliability_spread(uint64_t used, uint64_t group_size, uint64_t parities, keel_spread_t *spread_p);
/*
 * The number of spread->elements among x failures of elements with ranks that makes a catastrophe;
 * 0: none needed.
 */
uint64_t keel_reliability_deaths(const keel_spread_t *spread, uint64_t parities, uint64_t x);

/*
 * Equation 8: upper bound on the probability that x failures among count elements include `deaths`
 * or more of one of `classes` classes of `elements` elements each. Classes may overlap. The paper
 * has ceil(count / elements) classes.
 */
double keel_reliability_bound(uint64_t count, uint64_t classes, uint64_t elements, uint64_t deaths, uint64_t x);
uint64_t keel_reliability_classes(uint64_t count, uint64_t elements);
/*
 * Exact counterpart of equation 8: count elements in floor(count / elements) classes of sizes as
 * even as possible; any `deaths` of one class are catastrophic. @a conditional: for x = 0 .. x_max.
 */
void keel_reliability_exact(uint64_t count, uint64_t elements, uint64_t deaths, uint64_t x_max, double *conditional);

/*
 * Equation 9, per day and at most 1. @a by_level (may be NULL) gets the contribution of each level;
 * for KEEL_RELIABILITY_BOUND without several failures within window_s.
 * @return KEEL_ERR_GROUPS if a respected level has too few elements for the group,
 * KEEL_ERR_INVALID_PARAM, KEEL_ERR_NO_MEMORY.
 */
keel_status_t keel_reliability_catastrophe(const keel_reliability_params_t *params, double *by_level,
                                           double *probability_p);

#endif
