/* Carries out KEEL_TOPO_LEVEL: places groups, and says in words what was reached or why it was refused. */
#ifndef KEEL_TOPO_CHOOSE_H_
#define KEEL_TOPO_CHOOSE_H_

#include "topo/topology.h"

/*
 * KEEL_TOPO_LEVEL carried out: "auto" spreads groups at all levels, "none" makes groups of consecutive ranks wherever
 * they run, and a level's name spreads them up to it or refuses.
 * @param note  what was reached, or why it was refused and what is possible; at most @a note_size bytes.
 * @return as keel_groups_place(); KEEL_ERR_GROUPS too when a named level cannot be kept; KEEL_ERR_INVALID_PARAM when
 *         there is no such level.
 */
keel_status_t keel_topology_place(const keel_domains_t *domains, const char *level, uint32_t group_size,
                                  uint32_t parities, keel_groups_t *groups_p, char *note, size_t note_size);
/*
 * The same with parity on ranks of its own, those behind the first @a programs, @a parities for each group. They count as
 * members: what the note promises, it promises of all of a group.
 * @return KEEL_ERR_GROUPS too when there are not as many groups as these ranks are for; the note says so.
 */
keel_status_t keel_topology_place_dedicated(const keel_domains_t *domains, const char *level, uint32_t programs,
                                            uint32_t parities, keel_groups_t *groups_p, char *note, size_t note_size);

#endif
