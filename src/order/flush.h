/* Flush, and wake-ups of ranks that wait for puts. */
#ifndef KEEL_ORDER_FLUSH_H_
#define KEEL_ORDER_FLUSH_H_

#include "engine/context.h"

/*
 * Flushes a live rank that is stored to, if there is nothing to wait for, and no thread, news,
 * replay or callback to look after. Else returns 0, and the caller takes keel_context_begin() and
 * keel_flush_one().
 */
int keel_flush_fast(keel_context_h ctx, uint32_t rank);
keel_status_t keel_flush_one(keel_context_h ctx, uint32_t rank);
/* Served lane: sends the records for @a rank. */
keel_status_t keel_flush_start(keel_context_h ctx, uint32_t rank);
/*
 * The same for all touched ranks. Call before this rank waits: other ranks may wait for the
 * records.
 */
keel_status_t keel_flush_start_all(keel_context_h ctx);
/*
 * Programs that wait: wakes ranks that may wait for stored puts of this rank before a flush. Call
 * before this rank waits, or looks for a value to wait for.
 */
void keel_flush_ring_now(keel_context_h ctx);
/* Notes a put to @a rank that was stored without a wake-up. */
void keel_flush_ring_later(keel_context_h ctx, uint32_t rank);
static inline void keel_flush_ring(const keel_context_h ctx)
{
    if (ctx->doorbells.count > 0) {
        keel_flush_ring_now(ctx);
    }
}
/*
 * Completes the accesses to every touched rank; the list of touched ranks stays. One thread at a
 * time.
 */
keel_status_t keel_flush_touched(keel_context_h ctx);
/*
 * Ends a flush of all ranks: fence, wake-ups, an empty list of touched ranks, and the end of the
 * epoch.
 */
void keel_flush_close(keel_context_h ctx);
/* One round of progress, and sends pending records; does not wait. */
keel_status_t keel_flush_progress(keel_context_h ctx);
/*
 * Flushes all ranks, and runs callbacks until none is pending: accesses issued by callbacks are
 * complete, too.
 */
keel_status_t keel_flush_everyone(keel_context_h ctx);

#endif
