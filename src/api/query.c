/* Queries of a program about its context, and keel_progress(). */
#include "api/query.h"
#include "engine/context.h"
#include "order/flush.h"
#include "engine/fork.h"
#include "engine/threads.h"
#include "engine/refuse.h"
#include "window/window.h"
#include "recovery/shrink.h"

#include <string.h>

uint32_t keel_rank(keel_context_h ctx)
{
    return (ctx == NULL) ? UINT32_MAX : ctx->lane.rank;
}

uint32_t keel_size(keel_context_h ctx)
{
    return (ctx == NULL) ? 0 : ctx->lane.programs;
}

uint32_t keel_incarnation(keel_context_h ctx)
{
    return (ctx == NULL) ? 0 : ctx->lane.incarnation;
}

uint32_t keel_rank_incarnation(keel_context_h ctx, uint32_t rank)
{
    KEEL_INSIDE(ctx);

    if (ctx == NULL || rank >= ctx->lane.programs) {
        return 0;
    }
    return (rank == ctx->lane.rank) ? ctx->lane.incarnation : ctx->lane.peers[rank].incarnation;
}

void keel_context_stats(const keel_context_h ctx, keel_stats_t *stats_p)
{
    *stats_p = ctx->stats;
    stats_p->put_log_bytes = keel_put_log_bytes(&ctx->puts);
    stats_p->get_log_bytes = keel_get_log_bytes(&ctx->gets);
    stats_p->put_log_peak = (uint64_t)ctx->pool.peak * ctx->pool.segment_size;
    stats_p->get_log_peak = stats_p->put_log_peak; /* one budget for both */
    stats_p->log_overflows = ctx->puts.overflows + ctx->gets.overflows;
    stats_p->checkpoints = ctx->ckpt.committed;
    stats_p->checkpoint_aborts = ctx->ckpt.set.aborted;
    stats_p->checkpoint_bytes = ctx->ckpt.image_bytes;
    stats_p->checkpoint_copy_ns = ctx->ckpt.copy_ns;
    stats_p->checkpoint_safe_ns = ctx->ckpt.set.safe_ns;
    stats_p->checkpoint_work_ns = ctx->ckpt.work_ns;
    stats_p->checkpoint_parity_ns = ctx->ckpt.set.parity_ns;
    stats_p->checkpoint_parity_bytes = ctx->ckpt.set.parity_moved;
    stats_p->parity_bytes = ctx->ckpt.set.parity_read + ctx->demand.set.parity_read;
    stats_p->parity_spared_bytes = ctx->ckpt.set.parity_spared + ctx->demand.set.parity_spared;
    stats_p->generation = ctx->is_restore_due ? ctx->rec.restored.number : ctx->ckpt.set.used.number;
    stats_p->deaths = ctx->rec.deaths;
    stats_p->recoveries = ctx->rec.recoveries;
    stats_p->rollbacks = ctx->rec.rollbacks;
    stats_p->differences = ctx->rec.differences;
    stats_p->rollbacks_in_doubt = ctx->rec.rollbacks_in_doubt;
    stats_p->replayed_sections = ctx->sync.sections.replay.replayed;
    stats_p->replayed_puts = ctx->rec.replayed_puts;
    stats_p->replayed_gets = ctx->rec.replayed_gets;
    stats_p->rebuilt_bytes = ctx->rec.rebuilt_bytes;
    stats_p->demand_checkpoints = ctx->demand.taken;
    stats_p->demand_committed = ctx->demand.committed;
    stats_p->demands = ctx->rec.trim.asked;
    stats_p->demand_recoveries = ctx->rec.demand_recoveries;
    stats_p->transfer_ns =
        (ctx->demand.set.encoded_ns > ctx->ckpt.set.encoded_ns) ? ctx->demand.set.encode_ns : ctx->ckpt.set.encode_ns;
    stats_p->transfer_peak_bytes = (ctx->ckpt.set.parity == NULL) ? 0
                                                                  : keel_parity_buffer_peak(ctx->ckpt.set.parity) +
                                                                        keel_parity_buffer_peak(ctx->demand.set.parity);
    for (unsigned r = KEEL_REGION_IMAGE0; r < KEEL_REGION_PARITY0 + KEEL_SLOTS; r++) {
        stats_p->checkpoint_memory += ctx->lane.own[r].size;
    }
    stats_p->suspicions = ctx->rec.detect.suspicions;
    stats_p->false_suspicions = ctx->rec.detect.false_suspicions;
    _Static_assert(sizeof(stats_p->recovery_ns) == sizeof(ctx->rec.times), "one number a part");
    stats_p->device_hints = ctx->runtime->hints;
    stats_p->window_calls_due = keel_windows_due(ctx);
    memcpy(stats_p->recovery_ns, ctx->rec.times, sizeof(stats_p->recovery_ns));
}

keel_status_t keel_stats(keel_context_h ctx, keel_stats_t *stats_p, size_t size)
{
    KEEL_INSIDE(ctx);
    keel_stats_t stats;

    if (ctx == NULL || stats_p == NULL) {
        return keel_refuse_null(ctx == NULL ? "the context" : "keel_stats: where they are to go");
    }
    if (size == 0 || size % sizeof(uint64_t) != 0) {
        keel_error_ctx(ctx, "keel_stats: a size of %zu bytes is none of keel_stats_t", size);
        return KEEL_ERR_INVALID_PARAM;
    }
    keel_context_stats(ctx, &stats);
    memset(stats_p, 0, size); /* a program built for a later Keel asks for more fields than exist */
    memcpy(stats_p, &stats, size < sizeof(stats) ? size : sizeof(stats));
    return KEEL_OK;
}

keel_status_t keel_world(keel_context_h ctx, keel_world_t *world, size_t size)
{
    KEEL_INSIDE(ctx);
    keel_world_t found = {0};
    keel_status_t status;

    if (ctx == NULL || world == NULL) {
        return keel_refuse_null(ctx == NULL ? "the context" : "keel_world: where the ranks are to go");
    }
    if (size == 0 || size % sizeof(uint64_t) != 0) {
        keel_error_ctx(ctx, "keel_world: a size of %zu bytes is none of keel_world_t", size);
        return KEEL_ERR_INVALID_PARAM;
    }
    status = keel_context_check(ctx);
    if (status != KEEL_OK) {
        return keel_context_end(ctx, status);
    }
    found.ranks = keel_shrink_members(&ctx->rec);
    if (found.ranks == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    found.epoch = ctx->rec.shrink.epoch;
    found.gone_size = ctx->rec.shrink.completed;
    found.size = ctx->lane.programs - found.gone_size;
    found.gone = found.ranks + found.size;
    memset(world, 0, size);
    memcpy(world, &found, size < sizeof(found) ? size : sizeof(found));
    return KEEL_OK;
}

keel_status_t keel_progress(keel_context_h ctx)
{
    KEEL_INSIDE(ctx);

    if (ctx == NULL) {
        return keel_refuse_null("the context");
    }
    if (keel_fork_is_child(ctx)) {
        return keel_fork_refuse(ctx);
    }
    return keel_context_end(ctx, keel_flush_progress(ctx));
}
