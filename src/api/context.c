/* What all calls begin and end with; the memory of logs; what a program may ask. */
#include "api/context.h"
#include "api/inside.h"
#include "api/logs_plan.h"

#include "base/memory.h"
#include "base/memory_limit.h"
#include "check/plant.h"
#include "api/fork.h"
#include "api/get.h"
#include "api/parts.h"
#include "api/refuse.h"
#include "api/request.h"
#include "api/flush.h"
#include "api/kinds.h"
#include "api/win_share.h"
#include "api/window.h"
#include "peer/issue.h"
#include "peer/tell.h"
#include "oplog/getlog_replay.h"
#include "recovery/recover.h"

#include <string.h>

#define LOGS_READY  ((size_t)16 << 20) /* of the logs of a replacement, faulted in */
#define LOGS_IMAGES 8u                 /* that logs may take the memory of: at the half of that an image is asked for */

/* ---- progress ---- */

keel_status_t keel_context_check(keel_context_h ctx)
{
    keel_status_t status;

    if (ctx == NULL) {
        return keel_refuse_null("the context");
    }
    if (keel_fork_is_child(ctx)) {
        return keel_fork_refuse(ctx);
    }
    status = keel_recovery_status(&ctx->rec);
    keel_context_shut(ctx, KEEL_GATE_CLOSED);
    if (status != KEEL_OK) {
        keel_access_mute(ctx);
        return status;
    }
    if (keel_recovery_state(&ctx->rec) == KEEL_RANK_FRESH) {
        keel_error_ctx(ctx, "this process replaces another: call keel_restore() first");
        return KEEL_ERR_STATE;
    }
    return KEEL_OK;
}

/* Should this process die, what it has put may not be put again. So whom it accesses has to know that it had begun. */
static void context_begin(keel_context_h ctx)
{
    if (!ctx->has_begun && !keel_sync_is_promised(&ctx->sync) && ctx->config.protect != KEEL_PROTECT_NONE) {
        keel_kinds_begin(ctx);
        ctx->has_begun = 1;
    }
}

static void context_progress(keel_context_h ctx)
{
    keel_access_progress(ctx);
    keel_win_shares_progress(ctx);
}

void keel_context_look(keel_context_h ctx)
{
    if (!__atomic_load_n(&ctx->gate.part.news, __ATOMIC_RELAXED) || KEEL_PLANT(news_unheard) ||
        keel_fork_is_child(ctx)) {
        return;
    }
    /* a full barrier: what is told from here on sets it again, what was told before is seen */
    (void)__atomic_exchange_n(&ctx->gate.part.news, 0, __ATOMIC_SEQ_CST);
    keel_recovery_progress(&ctx->rec);
    context_progress(ctx);
    if (!keel_recovery_is_settled(&ctx->rec)) { /* what it has to do further is not told by anybody */
        __atomic_store_n(&ctx->gate.part.news, 1, __ATOMIC_RELAXED);
    }
}

keel_status_t keel_context_begin(keel_context_h ctx)
{
    keel_status_t status;

    if (ctx != NULL) {
        keel_context_look(ctx);
    }
    status = keel_context_check(ctx);

    if (status != KEEL_OK) {
        return status;
    }
    context_begin(ctx);
    ctx->is_started = 1;
    keel_recovery_close_prefix(&ctx->rec, ctx->window_calls);
    keel_context_open(ctx, KEEL_GATE_CLOSED);
    return KEEL_OK;
}

keel_status_t keel_context_check_outside(keel_context_h ctx, const char *call)
{
    if (keel_fork_is_child(ctx)) {
        return keel_fork_refuse(ctx);
    }
    if (!keel_threads_is_calling(ctx)) {
        return KEEL_OK;
    }
    keel_error_ctx(ctx, "%s is not to be called from callbacks", call);
    return KEEL_ERR_STATE;
}

keel_status_t keel_context_begin_outside(keel_context_h ctx, const char *call)
{
    keel_status_t status = keel_context_begin(ctx);

    return (status == KEEL_OK) ? keel_context_check_outside(ctx, call) : status;
}

keel_status_t keel_context_wait(keel_context_h ctx, unsigned *rounds)
{
    keel_status_t status;
    unsigned first = 0; /* others want the lock: the round that does not sleep */

    if (keel_fork_is_child(ctx)) {
        return keel_fork_refuse(ctx);
    }
    keel_flush_ring(ctx);
    keel_threads_yield(ctx);
    keel_recovery_wait(&ctx->rec, keel_threads_are_busy(ctx) ? &first : rounds);
    context_progress(ctx);
    keel_requests_call_back(ctx);
    status = keel_recovery_status(&ctx->rec);
    if (status == KEEL_ERR_ROLLED_BACK && ctx->threads != NULL && KEEL_PLANT(rollback_unended)) {
        return KEEL_OK;
    }
    if (status != KEEL_OK) {
        keel_context_shut(ctx, KEEL_GATE_CLOSED);
        keel_access_mute(ctx);
    }
    return status;
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
    keel_flush_ring(ctx);
    keel_recovery_progress(&ctx->rec);
    context_progress(ctx);
    keel_requests_call_back(ctx);
    if (keel_recovery_status(&ctx->rec) != KEEL_OK) {
        keel_context_shut(ctx, KEEL_GATE_CLOSED);
        keel_access_mute(ctx);
        return keel_context_end(ctx, keel_recovery_status(&ctx->rec));
    }
    return keel_context_end(ctx, keel_flush_start_all(ctx));
}

/* ---- memory of logs ---- */

keel_lane_params_t keel_context_lane_params(keel_context_h ctx, const keel_drivers_t *drivers)
{
    return (keel_lane_params_t){.message = &ctx->message,
                                .config = &ctx->config,
                                .ops = drivers->transport,
                                .driver_arg = drivers->arg,
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

/* of a quarter of the node's memory, spares' too */
static size_t context_memory_share(const keel_runtime_t *runtime)
{
    size_t neighbours = 0;

    for (uint32_t r = 0; r < runtime->size + runtime->spares; r++) {
        neighbours += (runtime->is_emulated || runtime->node[r] == runtime->node[runtime->rank]);
    }
    return keel_memory_limit("") / 4 / neighbours;
}

/* KEEL_OPLOG_SIZE=auto; says where the device may not use as much memory as it would take */
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

/* first lives have all of it ready; for a replacement others wait */
keel_status_t keel_context_logs_init(keel_context_h ctx, const keel_transport_ops_t *ops, keel_transport_t *transport,
                                     int is_first)
{
    const int is_auto = ctx->config.is_oplog_auto;
    const size_t size = is_auto ? context_logs_plan(ctx, ops, transport) : ctx->config.oplog_size;
    keel_status_t status;

    status =
        keel_segment_pool_init(&ctx->pool, size, is_auto ? KEEL_LOGS_SEGMENT : 0, is_first ? SIZE_MAX : LOGS_READY);
    ctx->pool.news = &ctx->gate.part.news;
    if (status != KEEL_OK) {
        keel_error_ctx(ctx, "KEEL_OPLOG_SIZE of %zu bytes is too %s", size,
                       (status == KEEL_ERR_BUDGET) ? "small" : "large: out of memory");
    }
    return status;
}

void keel_context_logs_grow(keel_context_h ctx)
{
    const size_t before = ctx->pool.bytes;
    keel_part_t *parts;
    unsigned count;
    size_t budget;

    if (!ctx->config.is_oplog_auto || (!ctx->puts.is_enabled && !ctx->gets.is_enabled)) {
        return;
    }
    count = keel_context_parts(ctx, &parts);
    budget = LOGS_IMAGES * keel_image_size(parts, count);
    budget = (budget < ctx->logs_most) ? budget : ctx->logs_most;
    if (keel_segment_pool_grow(&ctx->pool, budget) != KEEL_OK) {
        keel_info(&ctx->message, "no memory for logs of %zu MiB: they stay at %zu", budget >> 20, before >> 20);
    } else if (ctx->pool.bytes > before) {
        keel_info(&ctx->message, "logs may take %.0f MiB", (double)ctx->pool.bytes / (1 << 20));
    }
}

/* ---- what a program may ask ---- */

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

static void context_stats(const keel_context_h ctx, keel_stats_t *stats_p)
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
    context_stats(ctx, &stats);
    memset(stats_p, 0, size); /* a program made for a later Keel asks for more than there is */
    memcpy(stats_p, &stats, size < sizeof(stats) ? size : sizeof(stats));
    return KEEL_OK;
}
