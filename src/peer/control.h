/* Control messages: to the thread inside Keel of a peer, in the order sent. */
#ifndef KEEL_PEER_CONTROL_H_
#define KEEL_PEER_CONTROL_H_

#include "peer/peer.h"

/* of any length up to max_data, and as much more as KEEL_CONTROL_HEAD_MAX and KEEL_CONTROL_RANK_MAX for each rank; the payload is copied */
keel_status_t keel_lane_control_send(keel_lane_t *lane, uint32_t peer, keel_control_type_t type, const void *payload,
                                     size_t length);
keel_status_t keel_lane_control_send_all(keel_lane_t *lane, keel_control_type_t type, const void *payload,
                                         size_t length);
/* the next control message, or NULL; freed by the caller with keel_free() */
keel_control_in_t *keel_lane_control_next(keel_lane_t *lane);
/* for issue.c: they were taken up to that request */
void keel_lane_controls_acknowledged(keel_peer_t *peer, uint64_t sequence);
/* for served.c, under the lock: one that arrives; NULL or what is wrong with it */
const char *keel_lane_control_serve(keel_lane_t *lane, const keel_wire_t *wire, const void *data);

#endif
