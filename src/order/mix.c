/*
 * The first call that mixes ways to synchronise, or by which the program declares unlogged effects.
 *
 * Safety. A rank that has begun to mix announces the fact to each rank before an access, and to all
 * by arrivals (order/announce). So if the rank dies, every rank that holds an effect of the dead
 * rank reports the fact, and a live rank reports the same of itself; the decision is a rollback.
 * The rank first waits for dead ranks to be replaced and for replacements to catch up. A
 * replacement that re-executes a time before the first mixing relies on the order of the logs, and
 * an unlogged effect of this rank could come between. So where such a replacement may exist the job
 * rolls back once: every rank learns by the decision that the program mixes, and mixes from the
 * image on. A rank that does not mix and does not know of others, because it has never locked while
 * others have, is found by the decision (keel_sync_refuses()).
 *
 * From the next phase on accesses of a mixing rank take the fast path again
 * (keel_wait_set_gates()). In this phase numbered atomics would be taken for others that are
 * counted.
 */
#include "order/mix.h"
#include "engine/threads.h"
#include "engine/refuse.h"

#include "check/plant.h"
#include "check/reached.h"
#include "recovery/rollback_request.h"

static keel_status_t mix_begin(keel_context_h ctx)
{
    keel_recovery_t *rec = &ctx->rec;
    keel_status_t status = KEEL_OK;
    unsigned rounds = 0;

    while (status == KEEL_OK && !keel_recovery_is_reexecuting(rec) && !keel_recovery_all_are_live(rec)) {
        KEEL_REACHED(mix_waits);
        status = keel_context_wait(ctx, &rounds);
    }
    if (status == KEEL_OK && keel_recovery_is_reexecuting(rec) && !KEEL_PLANT(mix_amid_replay)) {
        return keel_rollback_request(rec, KEEL_ROLLBACK_MIXES);
    }
    if (status == KEEL_OK) {
        keel_announce_classes(ctx, KEEL_PLANT(mix_unannounced) ? 0 : KEEL_CLASS_MIXES);
        keel_sync_mix(&ctx->sync);
    }
    return status;
}

keel_status_t keel_set_nondeterministic(keel_context_h ctx)
{
    KEEL_INSIDE(ctx);
    keel_status_t status;

    if (ctx == NULL) {
        return keel_refuse_null("the context");
    }
    status = keel_context_begin(ctx);
    if (status == KEEL_OK) {
        status = keel_mix(ctx, KEEL_WAY_ANSWER, "keel_set_nondeterministic");
    }
    return keel_context_end(ctx, status);
}

keel_status_t keel_mix(keel_context_h ctx, keel_way_t way, const char *call)
{
    const int has_accessed = ctx->stats.puts + ctx->stats.gets + ctx->stats.atomics > 0;
    const char *why = keel_sync_mixes_by(&ctx->sync, way, has_accessed);

    if (why == NULL) {
        return KEEL_OK;
    }
    keel_info(&ctx->message, "%s %s: from here on every death is a rollback", call, why);
    return mix_begin(ctx);
}

/*
 * If this rank dies in a program that locks, no rank may take effects of bare accesses for those of
 * a critical section (keel_sync_refuses()). So the ranks accessed first learn
 * KEEL_CLASS_BARE before the access; the fast path reaches no rank before. If two of these ranks
 * are dead, a program that locks rolls back anyway. After a lock @a rank may be the own rank, and
 * nothing is announced.
 */
keel_status_t keel_mix_access_first(keel_context_h ctx, uint32_t rank)
{
    const int is_bare = keel_sync_style(&ctx->sync) != KEEL_STYLE_LOCKS;
    keel_status_t status = KEEL_OK;

    if (rank == ctx->lane.rank && is_bare) {
        return KEEL_OK; /* a replacement re-creates its own memory */
    }
    if (is_bare && keel_sync_may_be_local(&ctx->sync) && !KEEL_PLANT(mix_bare_unannounced)) {
        keel_announced_add_bare(&ctx->sync);
        if (ctx->lane.peers[rank].mode == KEEL_PEER_LIVE) {
            /* else the rank learns by a decision, and before a hand-over */
            status = keel_announced_send(&ctx->sync, rank);
        }
    }
    ctx->is_open = 1;
    keel_lane_change(&ctx->lane);
    return status;
}
