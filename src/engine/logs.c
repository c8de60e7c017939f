/* Memory of put and get logs: initial size and growth. */
#include "engine/logs.h"

#include "engine/logs_plan.h"
#include "base/memory_limit.h"
#include "oplog/get_log_replay.h"

#define LOGS_READY ((size_t)16 << 20) /* part of a replacement's logs that is faulted in */
/* limit of the logs in images; at half of it an image is requested */
#define LOGS_IMAGES 8u

keel_lane_params_t keel_context_lane_params(keel_context_h ctx, const keel_drivers_t *drivers)
{
    return (keel_lane_params_t){.message = &ctx->message,
                                .config = &ctx->config,
                                .ops = drivers->transport,
                                .driver_arg = drivers->transport_arg,
                                .runtime = ctx->runtime,
                                .on_served_get = keel_get_log_serve,
                                .on_served_got = keel_get_log_served,
                                .on_served_room = keel_get_log_serve_room,
                                .on_served_refill = keel_get_log_serve_refill,
                                .arg = &ctx->gets,
                                .news = &ctx->gate.part.news,
                                .counters = drivers->counters,
                                .prepared = ctx->prepared};
}

/* Share of a process in a quarter of the node's memory, spares included. */
static size_t context_memory_share(const keel_runtime_t *runtime)
{
    size_t neighbours = 0;

    for (uint32_t r = 0; r < runtime->size + runtime->spares; r++) {
        neighbours += (runtime->is_emulated || runtime->node[r] == runtime->node[runtime->rank]);
    }
    return keel_memory_limit("") / 4 / neighbours;
}

/* KEEL_OPLOG_SIZE=auto; reports if the device cannot use as much memory as the logs would take. */
static size_t context_logs_plan(keel_context_h ctx, const keel_transport_ops_t *ops, keel_transport_t *transport)
{
    keel_logs_room_t room = {.usual = ctx->config.oplog_size,
                             .share = context_memory_share(ctx->runtime),
                             .is_lazy = keel_memory_is_lazy(""),
                             .lendable = SIZE_MAX,
                             .ranks = ctx->runtime->size};
    size_t limit = SIZE_MAX;
    keel_logs_plan_t plan;

    if (transport != NULL && ops->lendable != NULL) {
        room.lendable = ops->lendable(transport, &limit);
    }
    plan = keel_logs_plan(&room);
    if (plan.limit == KEEL_LOGS_SHRUNK) {
        keel_warn(
            &ctx->message,
            "of the memory that this process may lock, %zu KiB (ulimit -l), connections leave %zu: logs take half "
            "of that, and images are taken more often (KEEL_OPLOG_SIZE)",
            limit >> 10, room.lendable >> 10);
    } else if (plan.limit == KEEL_LOGS_BEYOND) {
        keel_warn(
            &ctx->message,
            "of the memory that this process may lock, %zu KiB (ulimit -l), connections leave %zu, too little for "
            "logs (KEEL_OPLOG_SIZE): longer puts to other nodes go by messages",
            limit >> 10, room.lendable >> 10);
    }
    keel_info(&ctx->message, "logs take %zu MiB, and up to %zu where images are large", plan.bytes >> 20,
              plan.most >> 20);
    ctx->logs_most = plan.most;
    return plan.bytes;
}

keel_status_t keel_context_logs_init(keel_context_h ctx, const keel_transport_ops_t *ops, keel_transport_t *transport,
                                     int is_first)
{
    const int is_auto = ctx->config.is_oplog_auto;
    const size_t size = is_auto ? context_logs_plan(ctx, ops, transport) : ctx->config.oplog_size;
    keel_status_t status;

    status =
        keel_segment_pool_init(&ctx->pool, size, is_auto ? KEEL_LOGS_SEGMENT : 0, is_first ? SIZE_MAX : LOGS_READY);
    ctx->pool.news = &ctx->gate.part.news;
    if (status == KEEL_ERR_BUDGET) {
        keel_error_ctx(ctx, "KEEL_OPLOG_SIZE of %zu bytes is too small: %zu are needed", size,
                       keel_segment_pool_least());
    } else if (status != KEEL_OK) {
        keel_error_ctx(ctx, "KEEL_OPLOG_SIZE of %zu bytes is too large: out of memory", size);
    }
    return status;
}

size_t keel_context_logs_most(const keel_context_h ctx)
{
    if (!ctx->puts.is_enabled && !ctx->gets.is_enabled) {
        return 0;
    }
    return ctx->config.is_oplog_auto ? ctx->logs_most : ctx->config.oplog_size;
}

int keel_context_logs_may_grow(const keel_context_h ctx)
{
    return ctx->config.is_oplog_auto && (ctx->puts.is_enabled || ctx->gets.is_enabled);
}

void keel_context_logs_grow(keel_context_h ctx, size_t image_bytes)
{
    const size_t before = ctx->pool.bytes;
    size_t budget = LOGS_IMAGES * image_bytes;

    budget = (budget < ctx->logs_most) ? budget : ctx->logs_most;
    if (keel_segment_pool_grow(&ctx->pool, budget) != KEEL_OK) {
        keel_info(&ctx->message, "no memory for logs of %zu MiB: they stay at %zu", budget >> 20, before >> 20);
    } else if (ctx->pool.bytes > before) {
        keel_info(&ctx->message, "logs may take %.0f MiB", (double)ctx->pool.bytes / (1 << 20));
    }
}
