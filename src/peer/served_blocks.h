/* The service side of puts with several parts; under the lane's lock. */
#ifndef KEEL_PEER_SERVED_BLOCKS_H_
#define KEEL_PEER_SERVED_BLOCKS_H_

#include "peer/peer.h"

/* Address of an access in own memory; NULL if it leaves its window (keel_served_target()). */
typedef void *(*keel_served_target_t)(keel_lane_t *lane, uint64_t where, uint64_t length, int is_read);

/* Checks all parts of a record, then applies them. Returns NULL, or the reason of a refusal. */
const char *keel_served_blocks(keel_lane_t *lane, const keel_record_t *record, const void *payload,
                               keel_served_target_t target_of);

#endif
