/* The service side of gets of several blocks. */
#ifndef KEEL_PEER_SERVED_BLOCKS_H_
#define KEEL_PEER_SERVED_BLOCKS_H_

#include "peer/peer.h"

/* under the lane's lock; NULL or what is wrong with it. @a asked: the message's data */
const char *keel_served_blocks(keel_lane_t *lane, const keel_wire_t *wire, const void *asked);

#endif
