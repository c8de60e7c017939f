/* The service side of what is put at several places as one; under the lane's lock. */
#ifndef KEEL_PEER_SERVED_BLOCKS_H_
#define KEEL_PEER_SERVED_BLOCKS_H_

#include "peer/peer.h"

/* where an access goes in own memory, NULL: it leaves its window (keel_served_target()) */
typedef void *(*keel_served_target_t)(keel_lane_t *lane, uint64_t where, uint64_t length, int is_read);

/* one of several parts, all of them checked before the first is done. NULL, or why it is refused. */
const char *keel_served_blocks(keel_lane_t *lane, const keel_record_t *record, const void *payload,
                               keel_served_target_t target_of);

#endif
