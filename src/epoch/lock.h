/* Locks (protocol/locks.md): critical sections at one rank, and reading epochs. */
#ifndef KEEL_EPOCH_LOCK_H_
#define KEEL_EPOCH_LOCK_H_

#include "engine/context.h"

/* True if all ranks are locked for reading. */
int keel_lock_is_all(const keel_context_h ctx);
/* Returns KEEL_ERR_STATE and reports it if some lock is held. */
keel_status_t keel_lock_check_free(keel_context_h ctx, const char *call);

#endif
