/* Locks of a replacement: sections of the first life. */
#ifndef KEEL_EPOCH_LOCK_REPLAY_H_
#define KEEL_EPOCH_LOCK_REPLAY_H_

#include "engine/context.h"

/* a replacement that replays critical sections: before a gsync; after it, and when it was restored */
keel_status_t keel_lock_settle(keel_context_h ctx);
keel_status_t keel_lock_resume(keel_context_h ctx);
/* caught up as soon as nothing of the first life is left to do, so that nobody waits longer than needed */
keel_status_t keel_lock_try_catch_up(keel_context_h ctx);
/* the lock's record of the first life was found: what the accesses in its section do; @a number: what the word holds if it
 * is not over */
keel_status_t keel_lock_replay(keel_context_h ctx, uint32_t rank, int is_read, uint64_t number);
/* there is none. KEEL_OK: it is open and held; KEEL_INPROGRESS: the process has caught up and takes the lock like any other */
keel_status_t keel_lock_replay_open(keel_context_h ctx, uint32_t rank, keel_lock_request_t *request, uint64_t *value_p);
/* own memory: replaying afterwards, the next number is of a section of the first life; otherwise this one is new */
keel_status_t keel_lock_replay_own(keel_context_h ctx);

#endif
