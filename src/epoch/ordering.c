/* Calls that complete or order accesses: flush and fence. */
#include "engine/context.h"
#include "order/determinant.h"
#include "order/flush.h"
#include "engine/threads.h"

#include "check/plant.h"
#include "trace/trace_area.h"
#include "engine/refuse.h"
#include "recovery/shrink.h"

/* out of line to keep the registers of the short way */
static __attribute__((noinline)) keel_status_t flush_generic(keel_context_h ctx, uint32_t rank)
{
    KEEL_INSIDE(ctx);
    keel_status_t status = keel_context_begin(ctx);

    if (status != KEEL_OK) {
        return keel_context_end(ctx, status);
    }
    if (rank >= ctx->lane.programs) {
        keel_error_ctx(ctx, "there is no rank %u in a job of %u", rank, ctx->lane.programs);
        return KEEL_ERR_RANK;
    }
    if (keel_shrink_has_left(&ctx->rec, rank)) {
        return keel_context_end(ctx, keel_refuse_gone(ctx, rank));
    }
    status = keel_flush_one(ctx, rank);
    keel_trace_instant(ctx->lane.trace, KEEL_TRACE_FLUSH, rank, 0, 0);
    return keel_context_end(ctx, (status == KEEL_OK) ? keel_wait_catch_up_at(ctx, rank) : status);
}

keel_status_t keel_flush(keel_context_h ctx, uint32_t rank)
{
    if (ctx != NULL && !keel_trace_is_on(ctx->lane.trace) && keel_flush_fast(ctx, rank)) {
        return KEEL_OK;
    }
    return flush_generic(ctx, rank);
}

keel_status_t keel_flush_all(keel_context_h ctx)
{
    KEEL_INSIDE(ctx);
    keel_status_t status = keel_context_begin(ctx);

    if (status != KEEL_OK) {
        return keel_context_end(ctx, status);
    }
    /* other threads may empty the list of ranks while this thread waits */
    if (ctx->threads != NULL) {
        return keel_context_end(ctx, keel_flush_everyone(ctx));
    }
    status = keel_flush_touched(ctx);
    status = (status == KEEL_OK) ? keel_wait_catch_up_at(ctx, KEEL_RANK_NONE) : status;
    if (status != KEEL_OK) {
        return keel_context_end(ctx, status);
    }
    keel_flush_close(ctx);
    keel_trace_instant(ctx->lane.trace, KEEL_TRACE_FLUSH, KEEL_RANK_NONE, 0, 0);
    return KEEL_OK;
}

keel_status_t keel_fence(keel_context_h ctx)
{
    KEEL_INSIDE(ctx);
    keel_status_t status = keel_context_begin(ctx);
    unsigned rounds = 0;

    if (status != KEEL_OK) {
        return keel_context_end(ctx, status);
    }
    /* Both lanes keep the order of a pair: by stores, or by one queue. But pending gets are
     * asked again of a replacement after the hand-over of puts. So no put is logged before
     * earlier gets are complete. */
    for (uint32_t i = 0; i < ctx->touched.count && status == KEEL_OK; i++) {
        while (status == KEEL_OK && ctx->fragments_open[ctx->touched.ranks[i]] > 0 &&
               !KEEL_PLANT(ordering_fence_open)) {
            status = keel_context_wait(ctx, &rounds);
        }
    }
    status = (status == KEEL_OK) ? keel_wait_catch_up_at(ctx, KEEL_RANK_NONE) : status;
    if (status != KEEL_OK) {
        return keel_context_end(ctx, status);
    }
    if (!KEEL_PLANT(ordering_fence_unfenced)) {
        keel_store_fence();
    }
    keel_put_log_close_epoch(&ctx->puts);
    return KEEL_OK;
}
