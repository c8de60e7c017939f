/* Groups after a loss without replacement. */
#ifndef KEEL_TOOLS_TOPO_SHRINK_H_
#define KEEL_TOOLS_TOPO_SHRINK_H_

#include "topo/regroup.h"

/*
 * Groups of those who are left when ranks are lost and nobody replaces them. Groups that still have more members than
 * parities stay as they are: losing members breaks nothing. Of the others as few members move as possible (with one
 * parity no way moves fewer; with more the cheapest next step is taken each time); sizes stay at most params->group_size
 * but are not evened out. If that cannot keep the property, all are placed anew with the largest size that can.
 * @param is_lost   of each rank.
 * @param groups_p  numbered anew; lost ranks are in group KEEL_GROUP_NONE; crowded: no groups keep the property.
 * @return KEEL_ERR_GROUPS when no more ranks are left than parities; KEEL_ERR_NO_MEMORY.
 */
keel_status_t keel_groups_shrink(const keel_domains_t *domains, const keel_groups_t *groups, const uint8_t *is_lost,
                                 const keel_place_params_t *params, keel_groups_t *groups_p,
                                 keel_shrink_result_t *result_p);

#endif
