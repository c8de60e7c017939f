/*
 * Groups after a change: a rank that runs on another element than it did or will, and ranks that are gone for good. Pure
 * functions of what they are given, so that every rank finds the same.
 */
#ifndef KEEL_TOPO_REGROUP_H_
#define KEEL_TOPO_REGROUP_H_

#include "topo/group.h"

/*
 * Does the group of @a rank still keep its promise? @a domains is the hierarchy with the rank where it runs now.
 * @param level_p  the finest level up to @a level of which the rank's element holds more than @a parities of its group;
 *                 level + 1: none, the property holds.
 * @param held_p   how many it holds there.
 */
void keel_groups_check_move(const keel_domains_t *domains, const keel_groups_t *groups, uint32_t rank,
                            uint32_t parities, uint32_t level, uint32_t *level_p, uint32_t *held_p);

/* what the place of a spare would be for a group */
typedef struct keel_spare_place {
    uint32_t spare; /* its number, from 0 */
    uint32_t kept;  /* so many levels, counted from the finest, on which the property holds with it */
    uint32_t held;  /* members that would share its element of the next level; 0: it holds on all */
    uint32_t turn;
} keel_spare_place_t;

/*
 * In which order spares should take the place of @a rank, the best first: whose place keeps the property up to the coarsest
 * level; of these, where the fewest members of the group are at the level on which it breaks. Equal ones by the elements of
 * @a level that they are on, beginning at another one for each member of the group, so that members lost one after another
 * do not end up on one element while others are free; then by number.
 * @param domains  the hierarchy of @a ranks ranks, and of the spares after them.
 * @param place    an entry for each spare.
 */
void keel_groups_order_spares(const keel_domains_t *domains, const keel_groups_t *groups, uint32_t ranks, uint32_t rank,
                              uint32_t parities, uint32_t level, keel_spare_place_t *place);

#define KEEL_GROUP_NONE UINT32_MAX

typedef struct keel_shrink_result {
    uint32_t moved; /* survivors that have to leave their group */
    int is_anew;    /* all groups were formed anew: staying close to the old ones would not have kept the property */
    uint32_t best;  /* the most members of a group on one element of the level: kept when it is at most the parities */
} keel_shrink_result_t;

#endif
