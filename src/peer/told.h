/* What others say of themselves by messages, on their slots of the board here; those that are mapped store it there themselves (peer/tell). */
#ifndef KEEL_PEER_TOLD_H_
#define KEEL_PEER_TOLD_H_

#include "peer/peer.h"

/* service side, under the lock: KEEL_WIRE_MARK, KEEL_WIRE_USAGE and KEEL_WIRE_ARRIVE */
void keel_told_mark(keel_lane_t *lane, const keel_wire_t *wire);
void keel_told_kinds(keel_lane_t *lane, const keel_wire_t *wire);
void keel_told_arrive(keel_lane_t *lane, const keel_wire_t *wire);

#endif
