/* Groups after a loss without replacement. */
#ifndef KEEL_TOOLS_TOPO_REMAINING_H_
#define KEEL_TOOLS_TOPO_REMAINING_H_

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

#endif
