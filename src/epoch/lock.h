/* Locks (protocol.md, that section): critical sections at one rank, and reading epochs. */
#ifndef KEEL_EPOCH_LOCK_H_
#define KEEL_EPOCH_LOCK_H_

#include "engine/context.h"

/* whether everything is locked for reading */
int keel_lock_is_all(const keel_context_h ctx);
/* KEEL_ERR_STATE, said, when something is locked */
keel_status_t keel_lock_check_free(keel_context_h ctx, const char *call);

#endif
