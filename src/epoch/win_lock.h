/* Locks of windows, in images too. */
#ifndef KEEL_EPOCH_WIN_LOCK_H_
#define KEEL_EPOCH_WIN_LOCK_H_

#include "engine/context.h"

/* bytes of what this process holds, and what is held of it, 0: nothing; inside a gsync, where the two agree over all ranks */
size_t keel_win_locks_size(keel_context_h ctx);
size_t keel_win_locks_none(void); /* bytes that say so */
void keel_win_locks_save(keel_context_h ctx, void *to);
/* nothing is held */
void keel_win_locks_reset(keel_context_h ctx);
/* as it was saved; *taken_p: how many of @a length bytes that were. KEEL_ERR_CORRUPT */
keel_status_t keel_win_locks_load(keel_context_h ctx, const void *from, size_t length, size_t *taken_p);

#endif
