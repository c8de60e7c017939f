/* The announcement of usage, apart from the usage itself (peer/usage.h). */
#ifndef KEEL_PEER_USAGE_ANNOUNCE_H_
#define KEEL_PEER_USAGE_ANNOUNCE_H_

#include "peer/peer.h"

/* Announces @a usage to @a rank, by stores to the board there or by a message. */
keel_status_t keel_usage_announce(keel_lane_t *lane, uint32_t rank, const keel_usage_t *usage);

#endif
