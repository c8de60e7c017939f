/* After fork(). */
#ifndef KEEL_ENGINE_FORK_H_
#define KEEL_ENGINE_FORK_H_

#include "engine/context.h"

keel_status_t keel_fork_init(keel_context_h ctx);
void keel_fork_release(keel_context_h ctx);
/* Returns KEEL_ERR_STATE; reports it once. */
keel_status_t keel_fork_refuse(keel_context_h ctx);

#endif
