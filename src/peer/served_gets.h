/* The service side of gets of several blocks. */
#ifndef KEEL_PEER_SERVED_GETS_H_
#define KEEL_PEER_SERVED_GETS_H_

#include "peer/peer.h"

/* under the lane's lock: NULL when all is as the message says, in own memory and no longer than an answer, or what is wrong with it. @a asked: its data;
 * *bytes_p: of all blocks */
const char *keel_served_got_check(keel_lane_t *lane, const keel_wire_t *wire, const void *asked, uint64_t *bytes_p);
/* what was so checked goes to @a room, and with its description to the log, which has a place for it or is NULL */
void keel_served_got_load(keel_lane_t *lane, const void *asked, size_t described, void *room, void *log);

#endif
