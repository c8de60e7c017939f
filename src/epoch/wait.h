/* Waiting inside a phase for what others put (protocol.md, Waits inside a phase); sync/waits has what is replayed into a wait, and why. */
#ifndef KEEL_EPOCH_WAIT_H_
#define KEEL_EPOCH_WAIT_H_

#include "order/determinant.h"

/* the program waits: all know, or are told when they are accessed */
keel_status_t keel_wait_begin(keel_context_h ctx);
/* direct lane: what was begun here of others' puts until now is done, by them or their replacements */
keel_status_t keel_wait_until_closed(keel_context_h ctx);

#endif
