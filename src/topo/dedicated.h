/*
 * Groups whose parity is on ranks of its own [F 6]: the last ranks of the job, so many for each group. They count as members
 * of their group: losing an element loses them with the others.
 */
#ifndef KEEL_TOPO_DEDICATED_H_
#define KEEL_TOPO_DEDICATED_H_

#include "topo/group.h"

/*
 * Deterministic from the input alone. The first @a programs ranks and the checksum ranks after them, @a parities for each
 * group, which are its first members. Groups differ by one member at most, and no element of any level up to @a level holds
 * more of a group than the ranks on it divided by the groups, rounded up: no placement can do with less. Time grows with
 * ranks * levels * parities.
 * @return KEEL_ERR_GROUPS when the groups that the checksum ranks are for would have less than two of the program's ranks
 *         each (but for a single one); KEEL_ERR_INVALID_PARAM when there are no such ranks, they are no multiple of @a
 *         parities, the level does not exist, or @a domains is no hierarchy; KEEL_ERR_NO_MEMORY.
 */
keel_status_t keel_groups_place_dedicated(const keel_domains_t *domains, uint32_t programs, uint32_t parities,
                                          uint32_t level, keel_groups_t *groups_p);
/* the fewest checksum ranks with which no element of @a level holds more than @a parities of a group; 0: none */
uint32_t keel_groups_checksums_that_fit(const keel_domains_t *domains, uint32_t level, uint32_t parities);
/* Adds to each group of the first @a ranks ranks @a parities members that come from the ranks after them, before its
 * members, wherever all of them run. @return KEEL_ERR_NO_MEMORY. */
keel_status_t keel_groups_add_checksums(keel_groups_t *groups, uint32_t ranks, uint32_t parities);

#endif
