/*
 * Groups: which ranks share parity. Placed so that no element of a chosen level of the failure domains, nor of a finer
 * level, holds more members of a group than its parity can replace (the sentence before [F] equation 6; the formula as
 * printed forbids less). With rotating parity the members themselves are where parity lives; groups with dedicated checksum
 * ranks are in dedicated.h.
 */
#ifndef KEEL_TOPO_GROUP_H_
#define KEEL_TOPO_GROUP_H_

#include "topo/domain.h"

#include <keel/status.h>

#include <stdint.h>

typedef struct keel_groups {
    uint32_t count;     /* of groups */
    uint32_t *of_rank;  /* group of each rank */
    uint32_t *index;    /* place of each rank in its group, 0 .. size - 1 */
    uint32_t *size;     /* members of each group */
    uint32_t **members; /* ranks of each group, by index */
    int crowded;        /* an element holds more members of a group than was asked for */
} keel_groups_t;

/* what is asked of a placement */
typedef struct keel_place_params {
    uint32_t group_size; /* k, at most: sizes differ by at most one */
    uint32_t parities;   /* m: so many members of a group may share an element of the level; at least 1 */
    uint32_t level;      /* of the domains; coarser levels have no influence. No element of it or of a finer one holds
                            more than m of a group */
} keel_place_params_t;

/*
 * Deterministic from the input alone, so that every rank finds the same; time grows with ranks * levels. The number of
 * groups is ranks / group_size rounded up, or less where a group would not be larger than its parities. Within that
 * number every level up to params->level is spread as evenly as can be, so crowded is set only where the demand cannot
 * be met by any placement.
 * @param best_p  the most members of a group on one element of the level: m is met when it is at most m; may be NULL.
 * @return KEEL_ERR_GROUPS when group_size is larger than ranks or not larger than parities (but for a single rank);
 *         KEEL_ERR_INVALID_PARAM when a number is 0, the level does not exist, or @a domains is no hierarchy;
 *         KEEL_ERR_NO_MEMORY.
 */
keel_status_t keel_groups_place(const keel_domains_t *domains, const keel_place_params_t *params,
                                keel_groups_t *groups_p, uint32_t *best_p);
/* the same with one level of nodes and one parity; @a node: any numbers that are equal for ranks of one node */
keel_status_t keel_groups_make(uint32_t ranks, const uint32_t *node, uint32_t group_size, keel_groups_t *groups_p);
/* groups of consecutive ranks, wherever they run; sizes as above */
keel_status_t keel_groups_in_order(uint32_t ranks, uint32_t group_size, uint32_t parities, keel_groups_t *groups_p);
/* so many groups, dealt as keel_groups_place() does, which checks what is asked; @a count: 1 .. ranks */
keel_status_t keel_groups_form(const keel_domains_t *domains, uint32_t level, uint32_t count, keel_groups_t *groups_p);
/* ranks on the fullest element of the level; KEEL_ERR_NO_MEMORY */
keel_status_t keel_groups_fullest(const keel_domains_t *domains, uint32_t level, uint32_t *fullest_p);
/* the largest group_size with which the demand can be met; 0: none (or no memory) */
uint32_t keel_groups_size_that_fits(const keel_domains_t *domains, const keel_place_params_t *params);
/* the most members that a group has on one element of the level; KEEL_ERR_NO_MEMORY */
keel_status_t keel_groups_worst(const keel_domains_t *domains, const keel_groups_t *groups, uint32_t level,
                                uint32_t *worst_p);
/* the coarsest level up to which no element holds more than @a parities of a group; domains->level_count: none */
keel_status_t keel_groups_reach(const keel_domains_t *domains, const keel_groups_t *groups, uint32_t parities,
                                uint32_t *level_p);
void keel_groups_release(keel_groups_t *groups);

#endif
