/* Locks of a replacement: critical sections of the first life. */
#ifndef KEEL_EPOCH_LOCK_REPLAY_H_
#define KEEL_EPOCH_LOCK_REPLAY_H_

#include "engine/context.h"

/* A replacement that replays critical sections: call before a gsync, after it, and after the
 * restore. */
keel_status_t keel_lock_settle(keel_context_h ctx);
keel_status_t keel_lock_resume(keel_context_h ctx);
/* Ends the replay once the first life has nothing left to replay, so that no rank waits longer
 * than necessary. */
keel_status_t keel_lock_try_catch_up(keel_context_h ctx);
/* The record of the lock was found. Sets the effect of accesses in the section. @a number: value
 * of the lock word if the section was still open. */
keel_status_t keel_lock_replay(keel_context_h ctx, uint32_t rank, int is_read, uint64_t number);
/* There is no record of the lock. KEEL_OK: the section is open and held; KEEL_INPROGRESS: the
 * process has caught up and takes the lock as usual. */
keel_status_t keel_lock_replay_open(keel_context_h ctx, uint32_t rank, keel_lock_request_t *request, uint64_t *value_p);
/* Own memory. If the process still replays afterwards, the next number belongs to a section of
 * the first life; otherwise the section is new. */
keel_status_t keel_lock_replay_own(keel_context_h ctx);

#endif
