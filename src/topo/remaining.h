/* Groups after a loss without replacement. */
#ifndef KEEL_TOPO_REMAINING_H_
#define KEEL_TOPO_REMAINING_H_

#include "topo/regroup.h"

/*
 * Groups of the remaining ranks when ranks are lost without replacement. Groups that still have
 * more members than parities stay as they are, since losing members breaks no property. Of other
 * groups as few members move as possible (with one parity this is minimal; with more, the cheapest
 * next step is taken); sizes stay at most params->group_size but are not evened out. If the
 * property cannot be kept so, all ranks are placed again with the largest possible size.
 * @param is_lost   of each rank.
 * @param groups_p  renumbered; lost ranks are in group KEEL_GROUP_NONE; crowded: no groups keep the
 * property.
 * @return KEEL_ERR_GROUPS if no more ranks remain than parities; KEEL_ERR_NO_MEMORY.
 */
keel_status_t keel_groups_shrink(const keel_domains_t *domains, const keel_groups_t *groups, const uint8_t *is_lost,
                                 const keel_place_params_t *params, keel_groups_t *groups_p,
                                 keel_shrink_result_t *result_p);
/*
 * Groups after ranks went one after another: a keel_groups_shrink() for each, so equal orders give
 * equal groups.
 * @param groups   groups without the first @a known ranks of the order.
 * @param order    all lost ranks, in the order in which they went; @a count of them.
 *                 At least one rank is new.
 * @param groups_p as above; no groups at all (count 0) as soon as no more ranks remain than
 *                 parities.
 */
keel_status_t keel_groups_lose(const keel_domains_t *domains, const keel_groups_t *groups, const uint32_t *order,
                               uint32_t known, uint32_t count, const keel_place_params_t *params,
                               keel_groups_t *groups_p);

#endif
