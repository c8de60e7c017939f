/* Words of this process on the boards of others: by stores where they are mapped, else by messages. */
#ifndef KEEL_PEER_TELL_H_
#define KEEL_PEER_TELL_H_

#include "peer/peer.h"

/* what this process uses; before anything that it does there and that comes after this */
keel_status_t keel_lane_tell_kinds(keel_lane_t *lane, uint32_t peer, const keel_kinds_t *kinds);
/* to who fetches from it, and with its arrivals */
void keel_lane_say_kinds(keel_lane_t *lane, const keel_kinds_t *kinds);
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
