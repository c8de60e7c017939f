/*
 * Usage of this rank (peer/usage.h), announced before peers can act on effects: to a rank before
 * the first access after a change, to all ranks by arrivals at gsyncs. The fast path of an access
 * reaches only ranks to which the current usage is announced.
 */
#ifndef KEEL_ORDER_ANNOUNCE_H_
#define KEEL_ORDER_ANNOUNCE_H_

#include "engine/context.h"

/* The own usage has changed: fast paths reach a rank again after an announcement. */
void keel_announce_change(keel_context_h ctx);
/* Adds @a usage to the own usage. Call before the first effect under the new usage. */
static inline void keel_announce_add(keel_context_h ctx, keel_usage_t usage)
{
    if (keel_usage_merge(&ctx->sync.announced.own, &usage)) {
        keel_announce_change(ctx);
    }
}
/* A fetch in this phase. @a is_in_doubt: from own memory, without a record to come. */
static inline void keel_announce_fetch(keel_context_h ctx, int is_in_doubt)
{
    const uint32_t phase = ctx->sync.phase + 1;
    keel_usage_t usage = keel_usage_none();

    if (is_in_doubt) {
        usage.in_doubt = phase;
    } else {
        usage.fetched = phase;
    }
    keel_announce_add(ctx, usage);
}
static inline void keel_announce_classes(keel_context_h ctx, uint32_t classes)
{
    keel_usage_t usage = keel_usage_none();

    usage.classes = classes;
    keel_announce_add(ctx, usage);
}
/* KEEL_HOOK_BEGIN: a nondeterministic program begins to communicate. */
void keel_announce_begin(keel_context_h ctx);

/* Flags of this rank's arrival at a gsync. */
uint64_t keel_announce_arrive(keel_context_h ctx);
/* After gsync @a number: takes up the usage announced by the arrivals of all others. */
void keel_announce_leave(keel_context_h ctx, uint32_t number);
/* Rollback: fast paths reach every live rank, as all ranks know the usage. */
void keel_announce_reset(keel_context_h ctx);

/*
 * Call before an access to @a rank, after keel_announce_add(). A replacement learns the usage
 * before the hand-over, so nothing is sent to a rank that is down.
 */
keel_status_t keel_announce_to_now(keel_context_h ctx, uint32_t rank);
static inline keel_status_t keel_announce_to(keel_context_h ctx, uint32_t rank)
{
    return keel_announced_is_known(&ctx->sync.announced, rank) ? KEEL_OK : keel_announce_to_now(ctx, rank);
}

#endif
