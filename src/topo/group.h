/*
 * Groups: sets of ranks that share parity. The placement ensures that no element of a chosen level
 * of the failure domains, nor of a finer level, holds more members of a group than its parity can
 * replace (the sentence before [F] equation 6; the formula as printed forbids less). With rotating
 * parity the members themselves hold parity; for groups with dedicated checksum ranks see
 * dedicated.h.
 */
#ifndef KEEL_TOPO_GROUP_H_
#define KEEL_TOPO_GROUP_H_

#include "topo/domain.h"

#include <keel/status.h>

#include <stdint.h>

typedef struct keel_groups {
    uint32_t count;     /* number of groups */
    uint32_t *of_rank;  /* group of each rank */
    uint32_t *index;    /* index of each rank in its group, 0 .. size - 1 */
    uint32_t *size;     /* number of members of each group */
    uint32_t **members; /* ranks of each group, by index */
    int crowded;        /* an element holds more members of a group than requested */
} keel_groups_t;

/* requirements of a placement */
typedef struct keel_place_params {
    uint32_t group_size; /* k, maximum size: sizes differ by at most one */
    uint32_t parities;   /* m: maximum members of a group on an element of the level; at least 1 */
    /* Level of the domains; coarser levels have no influence. No element of this or a finer
     * level holds more than m members of a group. */
    uint32_t level;
} keel_place_params_t;

/*
 * Deterministic from the input alone, so that every rank computes the same result; time grows with
 * ranks * levels. The number of groups is ranks / group_size rounded up, or less if a group would
 * not be larger than its parities. With this number every level up to params->level is spread as
 * evenly as possible, so crowded is set only if no placement can meet the requirement.
 * @param best_p maximum members of a group on one element of the level: m is met if *best_p is at
 *         most m; may be NULL.
 * @return KEEL_ERR_GROUPS if group_size exceeds the number of ranks or does not exceed parities
 *         (except for a single rank). KEEL_ERR_INVALID_PARAM if a number is 0, the level does not
 *         exist, or @a domains is no hierarchy. KEEL_ERR_NO_MEMORY.
 */
keel_status_t keel_groups_place(const keel_domains_t *domains, const keel_place_params_t *params,
                                keel_groups_t *groups_p, uint32_t *best_p);
/* the same with a single level of nodes and one parity; @a node has equal numbers for ranks of
 * one node */
keel_status_t keel_groups_make(uint32_t ranks, const uint32_t *node, uint32_t group_size, keel_groups_t *groups_p);
/* groups of consecutive ranks, regardless of hosts; sizes as above */
keel_status_t keel_groups_in_order(uint32_t ranks, uint32_t group_size, uint32_t parities, keel_groups_t *groups_p);
/* Forms @a count groups, 1 .. ranks, by dealing. keel_groups_place() also checks the
 * requirements. */
keel_status_t keel_groups_form(const keel_domains_t *domains, uint32_t level, uint32_t count, keel_groups_t *groups_p);
/* number of ranks on the fullest element of the level; KEEL_ERR_NO_MEMORY */
keel_status_t keel_groups_fullest(const keel_domains_t *domains, uint32_t level, uint32_t *fullest_p);
/* largest group_size that meets the requirement; 0: none (or no memory) */
uint32_t keel_groups_size_that_fits(const keel_domains_t *domains, const keel_place_params_t *params);
/* maximum members of a group on one element of the level; KEEL_ERR_NO_MEMORY */
keel_status_t keel_groups_worst(const keel_domains_t *domains, const keel_groups_t *groups, uint32_t level,
                                uint32_t *worst_p);
/* coarsest level up to which no element holds more than @a parities of a group;
 * domains->level_count: none */
keel_status_t keel_groups_reach(const keel_domains_t *domains, const keel_groups_t *groups, uint32_t parities,
                                uint32_t *level_p);
void keel_groups_release(keel_groups_t *groups);

#endif
