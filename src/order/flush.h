/* Flush. */
#ifndef KEEL_ORDER_FLUSH_H_
#define KEEL_ORDER_FLUSH_H_

#include "engine/context.h"

keel_status_t keel_flush_one(keel_context_h ctx, uint32_t rank);
/* served lane: sends what was not sent yet */
keel_status_t keel_flush_start(keel_context_h ctx, uint32_t rank);
/* everywhere: this process may go on looking until others, who may wait for that, have done something */
keel_status_t keel_flush_start_all(keel_context_h ctx);
/* programs that wait: whoever waits for what was put and not flushed is woken, before this process waits, or looks for what it may wait for */
void keel_flush_ring_now(keel_context_h ctx);
/* something was put there */
void keel_flush_ring_later(keel_context_h ctx, uint32_t rank);
static inline void keel_flush_ring(const keel_context_h ctx)
{
    if (ctx->unrung.count > 0) {
        keel_flush_ring_now(ctx);
    }
}
/* Completes the accesses to every touched rank; the list of touched ranks stays. One thread at a time. */
keel_status_t keel_flush_touched(keel_context_h ctx);
/* Ends a flush of all ranks: fence, wake-ups, an empty list of touched ranks, and the end of the epoch. */
void keel_flush_close(keel_context_h ctx);
/* One round of progress, and sends what was not sent yet; does not wait. */
keel_status_t keel_flush_progress(keel_context_h ctx);
/* callbacks run until nothing is left that they might be called for: what they issue is complete, too */
keel_status_t keel_flush_everyone(keel_context_h ctx);

#endif
