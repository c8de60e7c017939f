/* Waits inside a phase for puts of other ranks (protocol/waits.md). sync/waits describes
 * the replay into a wait. */
#ifndef KEEL_EPOCH_WAIT_H_
#define KEEL_EPOCH_WAIT_H_

#include "order/determinant.h"

/* Begins a wait: all ranks know of the program's waits, or learn of them before an access
 * reaches them. */
keel_status_t keel_wait_begin(keel_context_h ctx);
/* Direct lane: waits until puts of other ranks that have begun here are complete, by the rank or
 * its replacement. */
keel_status_t keel_wait_until_closed(keel_context_h ctx);

#endif
