/*
 * Groups with parity on dedicated ranks [F 6]: the last ranks of the job, an equal number for each
 * group. They count as members of their group: the loss of an element loses them together with
 * others.
 */
#ifndef KEEL_TOPO_DEDICATED_H_
#define KEEL_TOPO_DEDICATED_H_

#include "topo/group.h"

/*
 * Deterministic from the input alone. Places the first @a programs ranks and the checksum ranks
 * behind them, @a parities for each group, which become its first members. Group sizes differ by at
 * most one. No element of any level up to @a level holds more of a group than its number of ranks
 * divided by the number of groups, rounded up, which no placement can improve. Time grows with
 * ranks * levels * parities.
 * @return KEEL_ERR_GROUPS if the checksum ranks require groups with less than two program ranks
 *         each (except for a single one). KEEL_ERR_INVALID_PARAM if there are no checksum ranks,
 *         their number is no multiple of @a parities, the level does not exist, or @a domains is no
 *         hierarchy. KEEL_ERR_NO_MEMORY.
 */
keel_status_t keel_groups_place_dedicated(const keel_domains_t *domains, uint32_t programs, uint32_t parities,
                                          uint32_t level, keel_groups_t *groups_p);
/* smallest number of checksum ranks such that no element of @a level holds more than @a parities
 * of a group; 0: none */
uint32_t keel_groups_checksums_that_fit(const keel_domains_t *domains, uint32_t level, uint32_t parities);
/* Adds to each group of the first @a ranks ranks @a parities members from the ranks behind them,
 * in front of its members, regardless of hosts. @return KEEL_ERR_NO_MEMORY. */
keel_status_t keel_groups_add_checksums(keel_groups_t *groups, uint32_t ranks, uint32_t parities);

#endif
