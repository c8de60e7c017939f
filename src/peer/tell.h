/* Words of this process on the boards of others: by stores where they are mapped, else by messages. */
#ifndef KEEL_PEER_TELL_H_
#define KEEL_PEER_TELL_H_

#include "peer/peer.h"

/* tells the peer's board that this process waits, from the phase after this one on with everybody's knowledge */
keel_status_t keel_lane_tell_waits(keel_lane_t *lane, uint32_t peer, uint32_t phase);
/* that it fetches in this phase */
keel_status_t keel_lane_mark_atomics(keel_lane_t *lane, uint32_t peer, uint32_t phase, int is_in_doubt);
/* and which classes of atomics it uses */
keel_status_t keel_lane_tell_classes(keel_lane_t *lane, uint32_t peer, uint32_t classes);
/* this process is about to fetch from its own memory, in that phase; and what it has found has a record there */
keel_status_t keel_lane_open_own(keel_lane_t *lane, uint32_t rank, uint32_t phase);
keel_status_t keel_lane_close_own(keel_lane_t *lane, uint32_t rank, uint32_t phase);
/* tells the peer this process's board slot, with the given arrival number */
keel_status_t keel_lane_board_send(keel_lane_t *lane, uint32_t peer, uint32_t arrive);
/* the same to many: wakes nobody, until a full fence and keel_lane_ring() of each follow */
keel_status_t keel_lane_board_post(keel_lane_t *lane, uint32_t peer, uint32_t arrive);
/* what an arrival says of a slot */
keel_wire_body_t keel_lane_arrive_body(const keel_board_slot_t *slot);

#endif
