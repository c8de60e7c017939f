/* The service side of what is put at several places as one; under the lane's lock. */
#ifndef KEEL_PEER_SERVED_BLOCKS_H_
#define KEEL_PEER_SERVED_BLOCKS_H_

#include "peer/peer.h"

/* one of several parts, all of them checked before the first is done. NULL, or why it is refused. */
const char *keel_served_blocks(keel_lane_t *lane, const keel_record_t *record, const void *payload);

#endif
