/*
 * Dedicated parity [F 6]: assigns ranks that only hold parity to groups. An endpoint counts at its
 * own place: with the endpoint, too, no element of the level should hold more of a group than the
 * parity can replace.
 */
#ifndef KEEL_TOOLS_TOPO_ENDPOINT_H_
#define KEEL_TOOLS_TOPO_ENDPOINT_H_

#include "topo/group.h"

/*
 * @param domains   of all ranks: first the program's ranks, in groups, then groups->count *
 * parities endpoints.
 * @param group_p   group of each endpoint; every group gets as many endpoints as parities.
 * @param best_p    the most members of a group on one element of the level, program and endpoints
 * together. If more than the parities although no element holds more of a group's program, no
 * assignment would do.
 * @return KEEL_ERR_INVALID_PARAM if the numbers of ranks do not fit or the level does not exist;
 * KEEL_ERR_NO_MEMORY.
 */
keel_status_t keel_groups_assign_endpoints(const keel_domains_t *domains, const keel_groups_t *groups,
                                           uint32_t parities, uint32_t level, uint32_t *group_p, uint32_t *best_p);

#endif
