/* The service side of accumulates; under the lane's lock. Functions return NULL, or the reason
 * of a refusal. */
#ifndef KEEL_PEER_SERVED_COMBINE_H_
#define KEEL_PEER_SERVED_COMBINE_H_

#include "peer/peer.h"

/* An accumulate without a reply, among other records. */
const char *keel_served_combine(keel_lane_t *lane, const keel_record_t *record, const void *payload);
/* An accumulate with its old elements in the reply. */
const char *keel_served_exchange(keel_lane_t *lane, const keel_wire_t *wire, const void *data);

/* A record without a number, with or without a reply. */
const char *keel_served_unnumbered(keel_lane_t *lane, const keel_wire_t *wire, const void *data);

#endif
