/* Locks of windows in images. */
#ifndef KEEL_EPOCH_WIN_LOCK_IMAGE_H_
#define KEEL_EPOCH_WIN_LOCK_IMAGE_H_

#include "engine/context.h"

/* Bytes of the locks held by the process and on its memory; 0: none. Called inside a gsync,
 * where both sides agree over all ranks. */
size_t keel_win_locks_size(keel_context_h ctx);
size_t keel_win_locks_none(void); /* bytes of an entry without locks */
void keel_win_locks_save(keel_context_h ctx, void *to);
/* Drops all locks. */
void keel_win_locks_reset(keel_context_h ctx);
/* Loads saved locks; *taken_p: bytes used of @a length. KEEL_ERR_CORRUPT. */
keel_status_t keel_win_locks_load(keel_context_h ctx, const void *from, size_t length, size_t *taken_p);

#endif
