/* The service side of accumulates; under the lane's lock. NULL, or why it is refused. */
#ifndef KEEL_PEER_SERVED_COMBINE_H_
#define KEEL_PEER_SERVED_COMBINE_H_

#include "peer/peer.h"

/* a posted one, among other records */
const char *keel_served_combine(keel_lane_t *lane, const keel_record_t *record, const void *payload);
/* one whose elements are answered */
const char *keel_served_exchange(keel_lane_t *lane, const keel_wire_t *wire, const void *data);

/* a record that has no number, with an answer or without */
const char *keel_served_unnumbered(keel_lane_t *lane, const keel_wire_t *wire, const void *data);

#endif
