/*
 * The leader and the members of a job. A loop over ranks names the set of ranks that it needs, so
 * that loops over few ranks are told from loops over the whole job (contrib/doc/source.md lists the
 * latter). All iterators run in ascending order of ranks.
 */
#ifndef KEEL_PEER_MEMBERS_H_
#define KEEL_PEER_MEMBERS_H_

#include "peer/peer.h"

/* True if this rank is the leader (keel_lane_t.leader). */
static inline int keel_lane_is_leader(const keel_lane_t *lane)
{
    return lane->rank == lane->leader;
}

#endif
