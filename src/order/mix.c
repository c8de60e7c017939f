/*
 * The first call that mixes ways to synchronise, or by which the program says that it does what no log has.
 *
 * Safety. Whom a process accesses after it has begun to do what no log gives an order to is told so first, and arrivals tell the rest
 * (order/usage): so when it dies, whoever has anything of that says so in its report, and while it lives it does; the decision is a rollback.
 * Who is dead or on its way back is waited for. A replacement that does again what its predecessor did, before anybody mixed, relies on
 * what the logs say; an act of this process that they know nothing of could come between. So where there may be one the job rolls back
 * first, once: everybody learns by that decision, and goes on mixing from the image. Who neither mixes nor knows of it, for it has never
 * locked while others have, is found by the decision (keel_sync_refuses()).
 *
 * From the next phase on accesses of who mixes take the fast path again (keel_wait_resume()); in this one atomics that have numbers would be
 * taken for others that are counted.
 */
#include "order/mix.h"
#include "engine/threads.h"
#include "engine/refuse.h"

#include "check/plant.h"
#include "check/reached.h"
#include "recovery/ask.h"

static keel_status_t mix_begin(keel_context_h ctx)
{
    keel_recovery_t *rec = &ctx->rec;
    keel_status_t status = KEEL_OK;
    unsigned rounds = 0;

    while (status == KEEL_OK && !keel_recovery_is_redoing(rec) && !keel_recovery_all_are_live(rec)) {
        KEEL_REACHED(mix_waits);
        status = keel_context_wait(ctx, &rounds);
    }
    if (status == KEEL_OK && keel_recovery_is_redoing(rec) && !KEEL_PLANT(mix_amid_replay)) {
        return keel_recovery_ask(rec, KEEL_ERR_MIXED_SYNC);
    }
    if (status == KEEL_OK) {
        keel_kinds_use(ctx, KEEL_PLANT(mix_untold) ? 0 : KEEL_CLASS_MIXES);
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
    const char *why = keel_may_mix(ctx) ? NULL : keel_sync_mixes_by(&ctx->sync, way, has_accessed);

    if (why == NULL) {
        return KEEL_OK;
    }
    keel_info(&ctx->message, "%s %s: from here on every death is a rollback", call, why);
    return mix_begin(ctx);
}

/*
 * Should this process die, and others lock, nobody may take what it did for something done in a section (refuses_sections in
 * recovery/decide.c). So whom it accesses first is told, before the access; no target is reached by the fast path before. With two
 * of them dead a program that locks rolls back anyway. @a rank is its own where it has locked, and then this tells nobody.
 */
keel_status_t keel_mix_access_first(keel_context_h ctx, uint32_t rank)
{
    const int is_bare = !keel_sync_is_sectioned(&ctx->sync);
    keel_status_t status = KEEL_OK;

    if (rank == ctx->lane.rank && is_bare) {
        return KEEL_OK; /* own memory, which its replacement makes anew */
    }
    if (is_bare && !keel_may_mix(ctx) && !KEEL_PLANT(bare_untold)) {
        keel_atomics_access_bare(&ctx->sync);
        if (ctx->lane.peers[rank].mode == KEEL_PEER_LIVE) { /* else by decisions, and when it is handed over to */
            status = keel_atomics_tell(&ctx->sync, rank);
        }
    }
    ctx->is_open = 1;
    keel_lane_change(&ctx->lane);
    return status;
}
