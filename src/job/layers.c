/* The layers of a context: made in order, and released in the reverse order. */
#include "job/layers.h"
#include "job/files.h"

#include "rma/atomic_served.h"
#include "groups/collective.h"
#include "order/completion.h"
#include "order/flush.h"
#include "engine/fork.h"
#include "rma/get.h"
#include "engine/threads.h"
#include "order/announce.h"
#include "engine/logs.h"
#include "rma/get_own.h"
#include "access/fragment.h"
#include "window/protect.h"
#include "rehearsal/rehearse.h"
#include "store/store_create.h"
#include "engine/request.h"
#include "job/spare.h"
#include "job/tracing.h"
#include "order/win_share.h"
#include "window/window.h"
#include "base/crc.h"
#include "base/memory.h"
#include "oplog/put_send.h"
#include "recovery/recover.h"

/*
 * Checksum over all groups. Each rank forms the groups on its own, and all ranks must form the
 * same.
 */
static uint32_t context_agreement(const keel_groups_t *groups, uint32_t ranks, int has_files)
{
    /* at the start of a job with files ranks wait for each other */
    uint32_t crc = has_files ? keel_crc(0, "files", 5) : 0;

    if (groups->count > 0) {
        crc = keel_crc(crc, groups->of_rank, ranks * sizeof(*groups->of_rank));
        crc = keel_crc(crc, groups->index, ranks * sizeof(*groups->index));
    }
    return crc;
}

/* Hooks of the upper rooms that the engine's loop calls (hooks.h) */
void keel_context_hooks_init(keel_context_h ctx)
{
    keel_hooks_add(ctx, KEEL_HOOK_BEGIN, keel_announce_begin);
    keel_hooks_add(ctx, KEEL_HOOK_PROGRESS, keel_access_progress);
    keel_hooks_add(ctx, KEEL_HOOK_PROGRESS, keel_win_shares_progress);
    keel_hooks_add(ctx, KEEL_HOOK_PROGRESS, keel_files_progress);
    keel_hooks_add(ctx, KEEL_HOOK_PROGRESS, keel_stores_progress);
    keel_hooks_add(ctx, KEEL_HOOK_MUTE, keel_stores_mute);
    keel_hooks_add(ctx, KEEL_HOOK_IMAGE, keel_files_image);
    keel_hooks_add(ctx, KEEL_HOOK_FATAL, keel_files_lost);
    keel_hooks_add(ctx, KEEL_HOOK_CALL_BACK, keel_requests_call_back);
    keel_hooks_add(ctx, KEEL_HOOK_WAIT, keel_flush_ring);
    keel_hooks_add(ctx, KEEL_HOOK_WAIT, keel_tracing_wait);
    keel_hooks_add(ctx, KEEL_HOOK_MUTE, keel_access_mute);
    keel_hooks_add(ctx, KEEL_HOOK_PHASE, keel_spare_announce);
    keel_hooks_add(ctx, KEEL_HOOK_PHASE, keel_tracing_phase);
}

keel_status_t keel_context_layers_init(keel_context_h ctx, const keel_drivers_t *drivers, int is_deterministic)
{
    const keel_lane_params_t lane = keel_context_lane_params(ctx, drivers);
    keel_recovery_params_t recovery = {.lane = &ctx->lane,
                                       .puts = &ctx->puts,
                                       .gets = &ctx->gets,
                                       .ckpt = &ctx->ckpt,
                                       .demand = &ctx->demand,
                                       .sync = &ctx->sync,
                                       .message = &ctx->message,
                                       .loop = keel_progress_loop(&ctx->progress),
                                       .on_fetch = keel_atomic_again,
                                       .arg = ctx};
    keel_status_t status;

    ctx->prepared = NULL;
    ucs_list_head_init(&ctx->groups);
    ucs_list_head_init(&ctx->stores);
    keel_progress_init(&ctx->progress, &ctx->lane, &ctx->ckpt, &ctx->demand, &ctx->rec);
    status = keel_lane_init(&ctx->lane, &lane);
    if (status != KEEL_OK) {
        goto err_pool;
    }
    if (ctx->pool.arenas == NULL) {
        status = keel_context_logs_init(ctx, ctx->lane.ops, ctx->lane.transport, ctx->lane.incarnation == 0);
        if (status != KEEL_OK) {
            goto err_lane;
        }
    }
    status = keel_put_log_init(&ctx->puts, &ctx->lane, &ctx->pool);
    if (status != KEEL_OK) {
        goto err_lane;
    }
    status = keel_get_log_init(&ctx->gets, &ctx->lane, &ctx->pool);
    keel_put_log_follow(&ctx->puts, &ctx->gets);
    if (status != KEEL_OK) {
        keel_error_ctx(ctx, "the get log cannot be made with KEEL_GETLOG_SIZE of %zu bytes: %s",
                       ctx->config.getlog_size, keel_status_string(status));
        goto err_puts;
    }
    status = keel_ckpt_init(&ctx->ckpt, &ctx->lane, &ctx->site.domains);
    if (status != KEEL_OK) {
        goto err_gets;
    }
    status = keel_site_use_groups(&ctx->site, &ctx->ckpt.groups, ctx->config.parities);
    if (status != KEEL_OK) {
        goto err_ckpt;
    }
    if (ctx->runtime->spares > 0) {
        ctx->runtime->ops->use_spare_order(ctx->runtime, keel_site_order_spares, &ctx->site);
    }
    keel_lane_agree(&ctx->lane, context_agreement(&ctx->ckpt.groups, ctx->lane.size, ctx->config.file_dir != NULL));
    status = keel_demand_init(&ctx->demand, &ctx->ckpt);
    if (status != KEEL_OK) {
        goto err_ckpt;
    }
    status = keel_sync_init(&ctx->sync, &ctx->lane, &ctx->puts,
                            is_deterministic && ctx->config.protect >= KEEL_PROTECT_PUTS);
    if (status != KEEL_OK) {
        goto err_demand;
    }
    status = keel_recovery_init(&ctx->rec, &recovery);
    if (status != KEEL_OK) {
        goto err_sync;
    }
    return KEEL_OK;

err_sync:
    keel_sync_release(&ctx->sync);
err_demand:
    keel_demand_release(&ctx->demand);
err_ckpt:
    keel_ckpt_release(&ctx->ckpt);
err_gets:
    keel_get_log_release(&ctx->gets);
err_puts:
    keel_put_log_release(&ctx->puts);
err_lane:
    keel_lane_release(&ctx->lane);
err_pool:
    keel_segment_pool_release(&ctx->pool);
    return status;
}

void keel_context_layers_release(keel_context_h ctx)
{
    keel_files_release(ctx); /* the writer reads images */
    keel_rehearse_close(ctx);
    keel_collectives_release(ctx);
    keel_windows_release(ctx);
    keel_recovery_release(&ctx->rec);
    keel_sync_release(&ctx->sync);
    keel_demand_release(&ctx->demand);
    keel_ckpt_release(&ctx->ckpt);
    keel_lane_release(&ctx->lane); /* the service thread of the lane writes the get log */
    keel_stores_release(ctx);      /* the network reads their pushes, and writes what they read */
    keel_get_log_release(&ctx->gets);
    keel_put_log_release(&ctx->puts);
    keel_segment_pool_release(&ctx->pool);
}

static void context_accesses_release(keel_context_h ctx)
{
    keel_fork_release(ctx);
    keel_free(ctx->bounce.record);
    keel_free(ctx->changes);
    keel_free(ctx->fragments_open);
    keel_free(ctx->touched.ranks);
    keel_free(ctx->touched.has);
    keel_free(ctx->reached.ranks);
}

keel_status_t keel_context_accesses_init(keel_context_h ctx)
{
    const uint32_t size = ctx->lane.size;

    ctx->get_own = keel_get_own;
    ctx->bounce.record = keel_alloc(ctx->lane.ops->max_data, "bounce buffer");
    ctx->fragments_open = keel_alloc(size * sizeof(*ctx->fragments_open), "gets under way");
    ctx->touched.ranks = keel_alloc(size * sizeof(*ctx->touched.ranks), "ranks to flush");
    ctx->touched.has = keel_alloc(size, "ranks to flush");
    ctx->reached.ranks = keel_alloc(size * sizeof(*ctx->reached.ranks), "ranks that are reached");
    if (ctx->bounce.record == NULL || ctx->fragments_open == NULL || ctx->touched.ranks == NULL ||
        ctx->touched.has == NULL || ctx->reached.ranks == NULL || keel_fork_init(ctx) != KEEL_OK) {
        context_accesses_release(ctx);
        return KEEL_ERR_NO_MEMORY;
    }
    return KEEL_OK;
}

void keel_context_release(keel_context_h ctx)
{
    keel_runtime_t *runtime = ctx->runtime;

    keel_tracing_close(ctx);
    keel_protected_release(ctx);
    keel_context_layers_release(ctx); /* ends operations in progress */
    context_accesses_release(ctx);
    keel_site_release(&ctx->site);
    keel_requests_release(ctx);
    runtime->ops->close(runtime);
    keel_config_release(&ctx->config);
    keel_threads_release(ctx);
    keel_free(ctx);
}
