/* Locks (protocol.md, that section): critical sections at one rank, and reading epochs. */
#ifndef KEEL_EPOCH_LOCK_H_
#define KEEL_EPOCH_LOCK_H_

#include "engine/context.h"

/* whether everything is locked for reading */
int keel_lock_is_all(const keel_context_h ctx);
/* KEEL_OK when an access of the program to @a rank is allowed */
keel_status_t keel_lock_admit(keel_context_h ctx, uint32_t rank, int is_write);
/* KEEL_ERR_STATE, said, when something is locked */
keel_status_t keel_lock_check_free(keel_context_h ctx, const char *call);

#endif
