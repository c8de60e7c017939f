/*
 * Groups after a change: a rank that runs, or will run, on another element than before. Pure
 * functions, so that every rank computes the same result.
 */
#ifndef KEEL_TOPO_REGROUP_H_
#define KEEL_TOPO_REGROUP_H_

#include "topo/group.h"

/*
 * Does the group of @a rank still have its property? @a domains is the hierarchy with the current
 * place of the rank.
 * @param level_p finest level up to @a level with more than @a parities members of the group on the
 *         rank's element; level + 1: none, the property holds.
 * @param held_p number of members there.
 */
void keel_groups_check_move(const keel_domains_t *domains, const keel_groups_t *groups, uint32_t rank,
                            uint32_t parities, uint32_t level, uint32_t *level_p, uint32_t *held_p);

/* value of a spare's place for a group */
typedef struct keel_spare_place {
    uint32_t spare; /* number of the spare, from 0 */
    uint32_t kept;  /* number of levels, from the finest, on which the property would hold */
    /* members on the same element of the next level; 0: the property holds on all levels */
    uint32_t held;
    uint32_t turn;
} keel_spare_place_t;

/*
 * Sorts spares by their suitability to replace @a rank, the best first: places that keep the
 * property up to the coarsest level, then places with the fewest members of the group on the level
 * that breaks it. Equal places are ordered by their elements of @a level, beginning with a
 * different element for each member of the group, so that members lost one after another do not
 * share an element while others are free; then by number.
 * @param domains hierarchy of @a ranks ranks, and of the spares behind them.
 * @param place an entry for each spare.
 */
void keel_groups_order_spares(const keel_domains_t *domains, const keel_groups_t *groups, uint32_t ranks, uint32_t rank,
                              uint32_t parities, uint32_t level, keel_spare_place_t *place);

#define KEEL_GROUP_NONE UINT32_MAX

typedef struct keel_shrink_result {
    /* survivors that have to leave their group; all of them if staying close to the old groups does
     * not keep the property: then all groups are newly formed */
    uint32_t moved;
    /* maximum members of a group on one element of the level: the property holds if it is at
     * most the parities */
    uint32_t best;
} keel_shrink_result_t;

#endif
