/* Lock requests to another rank, and questions about locks there. */
#include "order/lock_ask.h"
#include "engine/threads.h"

#include "peer/issue.h"

static void ask_done(void *arg, keel_status_t status)
{
    keel_context_h ctx = arg;

    ctx->ask.is_pending = 0;
    ctx->ask.status = status;
}

static keel_status_t lock_ask_alone(keel_context_h ctx, uint32_t rank, const keel_lock_request_t *request,
                                    uint64_t *value_p)
{
    unsigned rounds = 0;
    keel_status_t status;

    if (ctx->ask.is_pending) {
        keel_error_ctx(ctx, "locks are not to be taken from callbacks");
        return KEEL_ERR_STATE;
    }
    ctx->ask.value = 0;
    ctx->ask.status = KEEL_OK;
    status = keel_lane_lock(&ctx->lane, rank, request, &ctx->ask.value, ask_done, ctx);
    ctx->ask.is_pending = (status == KEEL_INPROGRESS);
    while (ctx->ask.is_pending) {
        status = keel_context_wait(ctx, &rounds);
        if (status != KEEL_OK) {
            return status; /* a late reply still goes to ctx->ask */
        }
    }
    if (status == KEEL_INPROGRESS) {
        status = KEEL_OK;
    }
    *value_p = ctx->ask.value;
    return (status == KEEL_OK) ? ctx->ask.status : status;
}

keel_status_t keel_lock_ask(keel_context_h ctx, uint32_t rank, const keel_lock_request_t *request, uint64_t *value_p)
{
    keel_status_t status = keel_context_take_turn(ctx, KEEL_TURN_ASK);

    if (status == KEEL_OK) {
        status = lock_ask_alone(ctx, rank, request, value_p);
        keel_threads_give_turn(ctx, KEEL_TURN_ASK);
    }
    return status;
}

keel_status_t keel_lock_refuse_spent(keel_context_h ctx, uint32_t rank)
{
    keel_error_ctx(ctx, "the lock of rank %u was taken %llu times, which is as often as it can be", rank,
                   (unsigned long long)KEEL_LOCK_COUNTER_MAX);
    return KEEL_ERR_LIMIT;
}

keel_status_t keel_lock_until_granted(keel_context_h ctx, uint32_t rank, keel_lock_request_t *request,
                                      uint64_t *value_p)
{
    keel_status_t status;
    unsigned rounds = 0, looks = 0;

    for (;;) {
        status = KEEL_OK;
        while (status == KEEL_OK && ctx->lane.peers[rank].mode != KEEL_PEER_LIVE) {
            status = keel_context_wait(ctx, &rounds);
        }
        if (status != KEEL_OK) {
            return status;
        }
        request->phase = ctx->gets.phase;
        request->index = ctx->gets.targets[rank].index;
        request->is_logged = !ctx->gets.is_off;
        status = keel_lock_ask(ctx, rank, request, value_p);
        if (status == KEEL_OK && *value_p != 0) {
            return (*value_p == KEEL_LOCK_SPENT) ? keel_lock_refuse_spent(ctx, rank) : KEEL_OK;
        }
        if (status == KEEL_OK || status == KEEL_ERR_UNREACHABLE) {
            status = keel_context_wait(ctx, &rounds);
        }
        if (status != KEEL_OK) {
            return status;
        }
        if (request->ask == KEEL_LOCK_TRY && looks < KEEL_CLAIM_LOST) {
            request->number++;
            looks++;
        }
    }
}

keel_status_t keel_lock_ask_once(keel_context_h ctx, uint32_t rank, keel_lock_request_t *request, uint64_t *value_p)
{
    const uint32_t incarnation = ctx->lane.peers[rank].incarnation;
    keel_status_t status;
    unsigned rounds = 0;

    request->phase = ctx->gets.phase;
    request->index = ctx->gets.targets[rank].index;
    request->is_logged = !ctx->gets.is_off;
    status = keel_lock_ask(ctx, rank, request, value_p);
    if (status == KEEL_OK && ctx->lane.peers[rank].incarnation != incarnation) {
        status = KEEL_ERR_UNREACHABLE; /* the reply and the death were noticed in one step */
    }
    while (status == KEEL_ERR_UNREACHABLE) { /* two ranks are lost: wait for the decision */
        status = keel_context_wait(ctx, &rounds);
        status = (status == KEEL_OK) ? KEEL_ERR_UNREACHABLE : status;
    }
    return status;
}
