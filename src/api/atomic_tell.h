/* What others have to know of this process's atomics, before it does one: that it fetches, and which classes it uses. */
#ifndef KEEL_API_ATOMIC_TELL_H_
#define KEEL_API_ATOMIC_TELL_H_

#include "api/context.h"

/* it fetches in this phase, from others or from its own memory */
keel_status_t keel_atomic_tell_fetch(keel_context_h ctx, int is_own);
/* it uses @a op */
keel_status_t keel_atomic_tell_class(keel_context_h ctx, unsigned op, int is_own, int fetches);
/* that it reads, and goes on by what it finds */
keel_status_t keel_atomic_tell_fetches(keel_context_h ctx);

#endif
