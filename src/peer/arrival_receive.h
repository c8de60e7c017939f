/* The service side of arrivals and marks. */
#ifndef KEEL_PEER_ARRIVAL_RECEIVE_H_
#define KEEL_PEER_ARRIVAL_RECEIVE_H_

#include "peer/peer.h"

/* With the lane's lock: take KEEL_WIRE_ARRIVE and KEEL_WIRE_MARK messages. */
void keel_arrival_receive(keel_lane_t *lane, const keel_wire_t *wire);
void keel_arrival_receive_mark(keel_lane_t *lane, const keel_wire_t *wire);

#endif
