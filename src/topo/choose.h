/* Implements KEEL_TOPO_LEVEL: places groups and describes the result or the reason of a refusal. */
#ifndef KEEL_TOPO_CHOOSE_H_
#define KEEL_TOPO_CHOOSE_H_

#include "topo/topology.h"

/*
 * Places groups by KEEL_TOPO_LEVEL: "auto" spreads groups at all levels, "none" makes groups of
 * consecutive ranks regardless of hosts, and the name of a level spreads groups up to the level or
 * refuses.
 * @param note the result, or the reason of a refusal and the possible settings; at most @a
 *         note_size bytes.
 * @return like keel_groups_place(); also KEEL_ERR_GROUPS if a named level cannot be satisfied, and
 *         KEEL_ERR_INVALID_PARAM if the level does not exist.
 */
keel_status_t keel_topology_place(const keel_domains_t *domains, const char *level, uint32_t group_size,
                                  uint32_t parities, keel_groups_t *groups_p, char *note, size_t note_size);
/*
 * The same with parity on dedicated ranks behind the first @a programs, @a parities for each group.
 * They count as members: the note's promise holds for all members of a group.
 * @return also KEEL_ERR_GROUPS if the number of groups does not match the dedicated ranks; the note
 *         says so.
 */
keel_status_t keel_topology_place_dedicated(const keel_domains_t *domains, const char *level, uint32_t programs,
                                            uint32_t parities, keel_groups_t *groups_p, char *note, size_t note_size);

#endif
