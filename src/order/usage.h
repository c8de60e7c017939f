/*
 * What others have to know of what this process uses, should it die (sync/atomics): whom it accesses is told first, once a change, and
 * gsyncs tell the rest. No target is reached by the fast path of an access before it knows.
 */
#ifndef KEEL_ORDER_USAGE_H_
#define KEEL_ORDER_USAGE_H_

#include "engine/context.h"

/* before the first of the kind: it fetches in this phase, from others or from its own memory */
void keel_kinds_fetch(keel_context_h ctx, int is_own);
/* it uses @a classes (peer/board.h) */
void keel_kinds_use(keel_context_h ctx, uint32_t classes);
/* a program that is not deterministic has begun */
void keel_kinds_begin(keel_context_h ctx);
/* it waits for what others put, for the first time */
void keel_kinds_wait(keel_context_h ctx);
/* what this process's arrival at a gsync says, and what all others' have said when it has left that */
uint64_t keel_kinds_arrive(keel_context_h ctx);
void keel_kinds_leave(keel_context_h ctx, uint32_t number);
/* all that are live and know are reached; after a rollback those are all */
void keel_kinds_reset(keel_context_h ctx);

/* before what goes to @a rank, and after those above; who is down is told when it is back */
keel_status_t keel_kinds_tell_now(keel_context_h ctx, uint32_t rank);
static inline keel_status_t keel_kinds_tell(keel_context_h ctx, uint32_t rank)
{
    return keel_atomics_are_told(&ctx->sync.atomics, rank) ? KEEL_OK : keel_kinds_tell_now(ctx, rank);
}

#endif
