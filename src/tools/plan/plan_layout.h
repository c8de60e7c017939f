/*
 * Places of ranks and groups on a machine, the object of the simulation: ranks in order over the
 * nodes, as evenly as possible; nodes in order over coarser elements; groups by one of the
 * placements.
 */
#ifndef KEEL_TOOLS_PLAN_LAYOUT_H_
#define KEEL_TOOLS_PLAN_LAYOUT_H_

#include "plan_machine.h"

#include "topo/domain.h"

typedef enum {
    /* as formed by the library: keel_groups_place(); without a level, neighbours */
    KEEL_PLAN_PLACE_KEEL,
    /* the layout of equation 8: classes of |G| elements that share all their groups */
    KEEL_PLAN_PLACE_ALIGNED,
    KEEL_PLAN_PLACE_NEIGHBOURS /* consecutive ranks: no topology */
} keel_plan_place_t;

typedef struct keel_plan_layout_params {
    uint32_t ranks;
    uint32_t aware; /* as in tools/topo/reliability.h */
    uint32_t group_size, parities;
    keel_plan_place_t place;
    uint32_t ranks_per_node; /* nodes are filled one after the other; 0: ranks are spread evenly */
} keel_plan_layout_params_t;

typedef struct keel_plan_layout {
    uint32_t ranks, group_count, parities;
    uint32_t *group_of; /* by rank */
    uint32_t level_count;
    uint32_t count[KEEL_PLAN_LEVELS_MAX];  /* elements, including those without ranks */
    uint32_t *start[KEEL_PLAN_LEVELS_MAX]; /* ranks of element e: start[e] .. start[e + 1] - 1 */
    /* most members of a group on one element of the respected level; 0: none */
    uint32_t worst;
} keel_plan_layout_t;

/*
 * Sets keel_hazard_t.used of each level, the elements with ranks. Returns 0, or -1 with the reason:
 * the ranks need more nodes.
 */
int keel_plan_use_elements(keel_plan_machine_t *machine, uint32_t ranks, uint32_t ranks_per_node,
                           keel_plan_error_t *error);
/*
 * The count of groups formed by the library, and the members of the largest: more than the group
 * size if ranks remain.
 */
void keel_plan_groups(uint64_t ranks, uint32_t group_size, uint32_t parities, uint64_t *groups_p, uint64_t *largest_p);
/* The most ranks on one element of each level. */
void keel_plan_most_ranks(const keel_plan_machine_t *machine, uint32_t ranks, uint32_t ranks_per_node, uint64_t *most);
/* Returns 0, or -1 with the reason. */
int keel_plan_layout_make(const keel_plan_machine_t *machine, const keel_plan_layout_params_t *params,
                          keel_plan_layout_t *layout, keel_plan_error_t *error);
void keel_plan_layout_release(keel_plan_layout_t *layout);

#endif
