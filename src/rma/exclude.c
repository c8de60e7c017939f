/* Exclusion of accumulates and single atomics. */
#include "rma/exclude.h"

#include "check/reached.h"
#include "peer/combine/combine_lock.h"
#include "peer/members.h"
#include "recovery/position.h"

int keel_exclude_begin(const keel_atomic_call_t *call)
{
    const keel_context_h ctx = call->win->ctx;
    keel_combine_area_t *area = keel_combine_area_of(&ctx->lane, call->rank);

    if (!ctx->is_logging) {
        return 1;
    }
    if (area == NULL) {
        return 0; /* the rank has just died */
    }
    return (call->many != NULL)
               ? keel_combine_try(&ctx->lane, area)
               : keel_combine_settle(&ctx->lane, area,
                                     keel_combine_block(call->win->region, keel_where_offset(call->where)));
}

void keel_exclude_end(const keel_atomic_call_t *call)
{
    if (call->many != NULL) {
        keel_exclude_end_unlogged(call->win->ctx, call->rank);
    }
}

static int is_single_node(keel_context_h ctx)
{
    if (ctx->exclude.changes != ctx->lane.changes) {
        ctx->exclude.changes = ctx->lane.changes;
        ctx->exclude.is_single_node = 1;
        KEEL_EACH_MEMBER(r, &ctx->lane) {
            ctx->exclude.is_single_node &= r == ctx->lane.rank || keel_access_is_stored(&ctx->lane, r);
        }
    }
    return ctx->exclude.is_single_node;
}

/* True if all ranks that change the elements know of the exclusion. */
static int is_plain(const keel_atomic_call_t *call)
{
    const keel_context_h ctx = call->win->ctx;
    const keel_recovery_t *rec = &ctx->rec;

    return is_single_node(ctx) && rec->incomplete_count == 0 && keel_sync_replays(&ctx->sync) == KEEL_STYLE_GSYNCS &&
           keel_recovery_state(rec) == KEEL_RANK_FRONT && !keel_position_is_incomplete(rec, ctx->lane.rank) &&
           (call->rank != ctx->lane.rank || ctx->lane.own[call->win->region].mem != NULL);
}

void keel_exclude_combine(const keel_atomic_call_t *call, char *target, char *found)
{
    const keel_context_h ctx = call->win->ctx;
    const keel_combine_place_t place = {.area = keel_combine_area_of(&ctx->lane, call->rank),
                                        .target = target,
                                        .region = call->win->region,
                                        .offset = keel_where_offset(call->where)};

    if (!ctx->is_logging || !is_plain(call)) {
        keel_combine(call->many, target, call->values, found);
        return;
    }
    KEEL_REACHED(combine_plain);
    keel_combine_held(&place, call->many, call->values, found);
    keel_store_fence(); /* as behind a locked instruction; pairs with keel_lane_ring() */
}

int keel_exclude_begin_unlogged(keel_context_h ctx, uint32_t rank)
{
    keel_combine_area_t *area = keel_combine_area_of(&ctx->lane, rank);

    return !ctx->is_logging || (area != NULL && keel_combine_try(&ctx->lane, area));
}

void keel_exclude_end_unlogged(keel_context_h ctx, uint32_t rank)
{
    keel_combine_area_t *area = keel_combine_area_of(&ctx->lane, rank);

    if (ctx->is_logging && area != NULL) {
        keel_combine_release(&ctx->lane, area);
    }
}
