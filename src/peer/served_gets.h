/* The service side of gets of several blocks. */
#ifndef KEEL_PEER_SERVED_GETS_H_
#define KEEL_PEER_SERVED_GETS_H_

#include "peer/peer.h"

/* Under the lane's lock: checks that the blocks lie in own memory, match the message and fit a
 * reply. Returns NULL, or the reason of a refusal. @a asked: data of the request; *bytes_p:
 * bytes of all blocks. */
const char *keel_served_got_check(keel_lane_t *lane, const keel_wire_t *wire, const void *asked, uint64_t *bytes_p);
/* Loads the checked blocks to @a room, and with their description to the log; @a log NULL: not
 * logged. */
void keel_served_got_load(keel_lane_t *lane, const void *asked, size_t described, void *room, void *log);

#endif
