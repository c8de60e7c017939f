/*
 * Arrivals and marks of ranks on the boards of others: by stores where the board is mapped, else by
 * messages.
 */
#ifndef KEEL_PEER_ARRIVAL_H_
#define KEEL_PEER_ARRIVAL_H_

#include "peer/peer.h"

/*
 * Open: marks at @a rank a fetch of this rank from its own memory in @a phase. Close: the record of
 * the fetch is at @a rank. A death of this rank in between leaves the fetch in doubt.
 */
keel_status_t keel_arrival_open_own(keel_lane_t *lane, uint32_t rank, uint32_t phase);
keel_status_t keel_arrival_close_own(keel_lane_t *lane, uint32_t rank);

/*
 * Announces arrival @a number to @a rank, with the other words of this rank's board slot, and wakes
 * the rank.
 */
keel_status_t keel_arrival_send(keel_lane_t *lane, uint32_t rank, uint32_t number);
/*
 * The same to one of many ranks, without the wake-up: a full fence and keel_lane_ring() of each
 * rank must follow.
 */
keel_status_t keel_arrival_post(keel_lane_t *lane, uint32_t rank, uint32_t number);
/* The words of a slot as an arrival has them. */
keel_wire_body_t keel_arrival_body(const keel_board_slot_t *slot);

#endif
