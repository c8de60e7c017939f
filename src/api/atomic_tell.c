/* What others have to know of this process's atomics, before it does one: that it fetches, and which classes it uses. */
#include "api/atomic_tell.h"

#include "api/flush.h"
#include "check/plant.h"
#include "peer/tell.h"

/*
 * The value fetched depends on others' order: should this process die together with its target, or, when it was its own, in
 * this phase, whoever is left must know that it cannot be re-executed alone [F 4.2]. Once a phase, before the first.
 */
keel_status_t keel_atomic_tell_fetch(keel_context_h ctx, int is_own)
{
    const uint32_t phase = ctx->rec.phase;
    keel_status_t status = KEEL_OK;

    if (keel_atomics_mark(&ctx->sync, is_own)) {
        return KEEL_OK;
    }
    for (uint32_t r = 0; r < ctx->lane.size && status == KEEL_OK; r++) {
        if (r == ctx->lane.rank || ctx->lane.peers[r].mode != KEEL_PEER_LIVE) {
            continue;
        }
        status = keel_lane_mark_atomics(&ctx->lane, r, phase, is_own);
    }
    for (uint32_t r = 0; r < ctx->lane.size && status == KEEL_OK; r++) {
        status = keel_flush_one(ctx, r);
    }
    if (status == KEEL_OK) { /* now: a callback may do atomics while this waits */
        keel_atomics_say_marked(&ctx->sync, is_own, phase);
    }
    return status;
}

/*
 * Two classes on one word do not commute. When those who used them are lost together, or their target did so itself, somebody else
 * has to know. Once a class and process, and once when it fetches.
 */
static keel_status_t tell_bits(keel_context_h ctx, uint32_t bit)
{
    keel_status_t status = KEEL_OK;

    if (keel_atomics_use(&ctx->sync, bit)) {
        return KEEL_OK;
    }
    for (uint32_t r = 0; r < ctx->lane.size && status == KEEL_OK; r++) {
        if (r != ctx->lane.rank && ctx->lane.peers[r].is_up && !KEEL_PLANT(class_untold)) {
            status = keel_lane_tell_classes(&ctx->lane, r, ctx->sync.atomics.classes);
        }
    }
    for (uint32_t r = 0; r < ctx->lane.size && status == KEEL_OK; r++) {
        status = keel_flush_one(ctx, r);
    }
    if (status == KEEL_OK) { /* as above */
        keel_atomics_say_used(&ctx->sync, bit);
    }
    return status;
}

keel_status_t keel_atomic_tell_class(keel_context_h ctx, unsigned op, int is_own, int fetches)
{
    return tell_bits(ctx, keel_classes_bit(op, is_own) | (fetches ? KEEL_CLASS_FETCHES : 0));
}

keel_status_t keel_atomic_tell_fetches(keel_context_h ctx)
{
    return tell_bits(ctx, KEEL_CLASS_FETCHES);
}
