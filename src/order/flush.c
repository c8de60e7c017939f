/* Flush: the accesses of this rank are complete, at the target and locally. */
#include "order/flush.h"
#include "engine/threads.h"

#include "check/plant.h"
#include "check/reached.h"
#include "engine/fork.h"
#include "oplog/put_send.h"
#include "peer/access.h"
#include "peer/members.h"
#include "recovery/position.h"

/*
 * Runs pending callbacks, and they may put to the rank. Other threads flush their own puts: a call
 * that waited for puts of all threads might never return.
 */
static int flush_is_incomplete(keel_context_h ctx, uint64_t called)
{
    if (ctx->requests.due != NULL) {
        keel_hooks_run(ctx, KEEL_HOOK_CALL_BACK);
    }
    return called != keel_threads_callbacks_run(ctx);
}

/* Recycles log records that are in place at the rank; not if another thread has put meanwhile. */
static keel_status_t flush_recycle(keel_context_h ctx, uint32_t rank)
{
    const keel_status_t status = (ctx->threads != NULL) ? keel_put_log_send(&ctx->puts, rank) : KEEL_OK;

    if (status == KEEL_OK && keel_lane_is_flushed(&ctx->lane, rank)) {
        keel_put_log_recycle(&ctx->puts, rank);
    }
    return status;
}

static void flush_push_gets(keel_context_h ctx, uint32_t rank)
{
    if (!keel_get_log_is_pushed(&ctx->gets, rank) && !KEEL_PLANT(flush_without_get_records)) {
        keel_get_log_push(&ctx->gets, rank);
    }
}

/* flush of one rank without the fence */
static keel_status_t flush_rank(keel_context_h ctx, uint32_t rank)
{
    keel_status_t status;
    unsigned rounds = 0;
    uint64_t called;

    if (rank == ctx->lane.rank) {
        keel_put_log_close_epoch(&ctx->puts);
        return KEEL_OK;
    }
    do {
        called = keel_threads_callbacks_run(ctx);
        status = keel_flush_start(ctx, rank);
        while (status == KEEL_OK && (ctx->fragments_open[rank] > 0 || !keel_lane_is_flushed(&ctx->lane, rank) ||
                                     keel_position_is_undecided(&ctx->rec, rank))) {
            status = keel_context_wait(ctx, &rounds);
        }
    } while (status == KEEL_OK && flush_is_incomplete(ctx, called));
    if (status != KEEL_OK) {
        return status;
    }
    flush_push_gets(ctx, rank);
    if (ctx->lane.peers[rank].mode == KEEL_PEER_LIVE && keel_access_is_served(&ctx->lane, rank)) {
        status = flush_recycle(ctx, rank);
    }
    keel_put_log_close_epoch(&ctx->puts);
    return status;
}

/* Direct lane: orders the stores before any announcement of completion. */
static void flush_fence(void)
{
    if (!KEEL_PLANT(flush_unfenced)) {
        keel_store_fence();
    }
}

/*
 * Programs that wait: wakes a rank that sleeps until a put arrives. Requires a fence before: else
 * the rank may fall asleep without having seen the put.
 */
static void flush_ring(const keel_context_h ctx, uint32_t rank)
{
    if (keel_gate_has(ctx, KEEL_GATE_WAITS) && ctx->lane.peers[rank].mode == KEEL_PEER_LIVE) {
        keel_lane_ring(&ctx->lane, rank);
    }
}

void keel_flush_ring_later(keel_context_h ctx, uint32_t rank)
{
    for (uint32_t i = ctx->doorbells.count; i > 0; i--) {
        if (ctx->doorbells.ranks[i - 1] == rank) {
            return;
        }
    }
    if (ctx->doorbells.count == KEEL_DOORBELLS_MAX) {
        keel_flush_ring_now(ctx);
    }
    ctx->doorbells.ranks[ctx->doorbells.count++] = rank;
}

static void flush_ring_all(keel_context_h ctx)
{
    while (ctx->doorbells.count > 0) {
        flush_ring(ctx, ctx->doorbells.ranks[--ctx->doorbells.count]);
    }
}

void keel_flush_ring_now(keel_context_h ctx)
{
    keel_store_fence();
    flush_ring_all(ctx);
    keel_context_uncache(ctx);
}

int keel_flush_fast(keel_context_h ctx, uint32_t rank)
{
    const uint32_t harmless = KEEL_GATE_GETS | KEEL_GATE_WAITS | KEEL_GATE_READ | KEEL_GATE_DETERMINANTS;

    if (rank >= ctx->fast_ranks || rank == ctx->lane.rank || (keel_context_gate(ctx) & ~harmless) != 0 ||
        keel_fork_is_child(ctx) || keel_sync_replays(&ctx->sync) == KEEL_STYLE_WAITS ||
        ctx->lane.peers[rank].mode != KEEL_PEER_LIVE || !keel_access_is_stored(&ctx->lane, rank) ||
        ctx->fragments_open[rank] > 0 || !keel_lane_is_flushed(&ctx->lane, rank) || ctx->requests.due != NULL) {
        return 0;
    }
    KEEL_REACHED(flush_fast);
    flush_push_gets(ctx, rank);
    keel_put_log_close_epoch(&ctx->puts);
    flush_fence();
    flush_ring(ctx, rank);
    return 1;
}

keel_status_t keel_flush_one(keel_context_h ctx, uint32_t rank)
{
    const keel_status_t status = flush_rank(ctx, rank);

    flush_fence();
    flush_ring(ctx, rank);
    return status;
}

/* Records of the served lane are sent before any reply is awaited. */
keel_status_t keel_flush_start(keel_context_h ctx, uint32_t rank)
{
    if (ctx->lane.peers[rank].mode != KEEL_PEER_LIVE || !keel_access_is_served(&ctx->lane, rank)) {
        return KEEL_OK;
    }
    return keel_put_log_send(&ctx->puts, rank);
}

keel_status_t keel_flush_start_all(keel_context_h ctx)
{
    const uint64_t issued = ctx->stats.puts + ctx->stats.atomics;
    keel_status_t status = KEEL_OK;

    if (issued == ctx->issued_started) {
        return KEEL_OK;
    }
    for (uint32_t i = 0; i < ctx->touched.count && status == KEEL_OK; i++) {
        status = keel_flush_start(ctx, ctx->touched.ranks[i]);
    }
    ctx->issued_started = (status == KEEL_OK) ? issued : ctx->issued_started;
    return status;
}

keel_status_t keel_flush_everyone(keel_context_h ctx)
{
    keel_status_t status = KEEL_OK;
    uint64_t called;

    do {
        called = keel_threads_callbacks_run(ctx);
        KEEL_EACH_TOUCHED_WHILE(r, &ctx->lane, status == KEEL_OK) {
            status = keel_flush_start(ctx, r);
        }
        KEEL_EACH_TOUCHED_WHILE(r, &ctx->lane, status == KEEL_OK) {
            status = flush_rank(ctx, r);
        }
    } while (status == KEEL_OK && flush_is_incomplete(ctx, called));
    flush_fence();
    flush_ring_all(ctx);
    keel_context_uncache(ctx);
    if (status == KEEL_OK) {
        keel_gate_clear(ctx, KEEL_GATE_GETS | KEEL_GATE_READ);
    }
    return status;
}

keel_status_t keel_flush_touched(keel_context_h ctx)
{
    keel_status_t status = KEEL_OK;
    uint64_t called;

    do {
        called = keel_threads_callbacks_run(ctx);
        for (uint32_t i = 0; i < ctx->touched.count && status == KEEL_OK; i++) {
            status = keel_flush_start(ctx, ctx->touched.ranks[i]);
        }
        for (uint32_t i = 0; i < ctx->touched.count && status == KEEL_OK; i++) {
            status = flush_rank(ctx, ctx->touched.ranks[i]);
        }
    } while (status == KEEL_OK && flush_is_incomplete(ctx, called));
    return status;
}

void keel_flush_close(keel_context_h ctx)
{
    flush_fence(); /* needed even if all accesses were stores */
    flush_ring_all(ctx);
    while (ctx->touched.count > 0) {
        ctx->touched.has[ctx->touched.ranks[--ctx->touched.count]] = 0;
    }
    if (ctx->home->cached_target != 0) {
        keel_context_touch(ctx, keel_context_cached_rank(ctx));
        keel_flush_ring_later(ctx, keel_context_cached_rank(ctx));
    }
    keel_gate_clear(ctx, KEEL_GATE_GETS | KEEL_GATE_READ);
    keel_put_log_close_epoch(&ctx->puts);
}

keel_status_t keel_flush_progress(keel_context_h ctx)
{
    const keel_status_t status = keel_context_progress(ctx);

    return (status == KEEL_OK) ? keel_flush_start_all(ctx) : status;
}
