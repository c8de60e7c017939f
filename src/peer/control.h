/* Control messages to the thread inside Keel of a peer, in the order of sending. */
#ifndef KEEL_PEER_CONTROL_H_
#define KEEL_PEER_CONTROL_H_

#include "peer/peer.h"

/* Sends a message of up to max_data bytes plus KEEL_CONTROL_HEAD_MAX and KEEL_CONTROL_RANK_MAX
 * for each rank. The payload is copied. */
keel_status_t keel_lane_control_send(keel_lane_t *lane, uint32_t peer, keel_control_type_t type, const void *payload,
                                     size_t length);
keel_status_t keel_lane_control_send_all(keel_lane_t *lane, keel_control_type_t type, const void *payload,
                                         size_t length);
/* Registers the handler of a type of message; the room that owns the type calls it at init. */
void keel_lane_control_handle(keel_lane_t *lane, keel_control_type_t type, keel_control_handler_t handle, void *arg);
/* Registers the filter of all messages. */
void keel_lane_control_filter(keel_lane_t *lane, keel_control_filter_t filter, void *arg);
/* Passes a message to its handler, without the filter. Returns 0 if the type has none. */
int keel_lane_control(keel_lane_t *lane, const keel_control_in_t *in);
/* Passes all messages of the inbox to the filter and their handlers, in order. */
void keel_lane_control_dispatch(keel_lane_t *lane);
/* Returns the next control message, or NULL; the caller frees it with keel_free(). */
keel_control_in_t *keel_lane_control_next(keel_lane_t *lane);
/* For issue.c: drops the copies of messages up to an acknowledged request. */
void keel_lane_controls_acknowledged(keel_peer_t *peer, uint64_t sequence);
/* For served.c, under the lock: takes an incoming message; returns NULL, or the reason of its
 * refusal. */
const char *keel_lane_control_serve(keel_lane_t *lane, const keel_wire_t *wire, const void *data);

#endif
