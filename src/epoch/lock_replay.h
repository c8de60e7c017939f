/* Locks of a replacement: critical sections of the first life. */
#ifndef KEEL_EPOCH_LOCK_REPLAY_H_
#define KEEL_EPOCH_LOCK_REPLAY_H_

#include "engine/context.h"

/* A replacement that replays critical sections: call before a gsync, after it, and after the
 * restore. */
keel_status_t keel_lock_complete_phase(keel_context_h ctx);
keel_status_t keel_lock_resume(keel_context_h ctx);
/* Ends the replay once the first life has nothing left to replay, so that no rank waits longer
 * than necessary. */
keel_status_t keel_lock_try_catch_up(keel_context_h ctx);
/* Call before the lock @a request is taken at @a rank. KEEL_OK: the section is one of the first
 * life, with number *value_p. KEEL_INPROGRESS: there is nothing to replay, or the process has
 * caught up; the lock is taken as usual. */
keel_status_t keel_lock_replay(keel_context_h ctx, uint32_t rank, keel_lock_request_t *request, uint64_t *value_p);
/* The same before the own lock is taken. */
keel_status_t keel_lock_replay_own(keel_context_h ctx, uint64_t *counter_p);
/* Records a lock that was taken in this life. */
void keel_lock_record(keel_context_h ctx, uint32_t rank, int is_read, uint64_t value);

#endif
