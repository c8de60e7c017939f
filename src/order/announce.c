/* Usage of this rank, announced to the ranks accessed. */
#include "order/announce.h"

#include "peer/members.h"
#include "window/targets.h"
#include "check/plant.h"
#include "check/reached.h"

/* Fast paths reach every live rank until the first change, and then the ranks in the list. */
static void reach_none(keel_context_h ctx)
{
    if (ctx->reached.is_list) {
        keel_windows_refresh(ctx, ctx->reached.ranks, ctx->reached.count);
    } else {
        keel_lane_change(&ctx->lane);
    }
    ctx->reached.is_list = 1;
    ctx->reached.count = 0;
}

void keel_announce_change(keel_context_h ctx)
{
    keel_announced_change(&ctx->sync);
    reach_none(ctx);
}

void keel_announce_begin(keel_context_h ctx)
{
    keel_announce_add(ctx, (keel_usage_t){.begun = ctx->sync.phase + 1});
}

uint64_t keel_announce_arrive(keel_context_h ctx)
{
    return keel_announced_take_news(&ctx->sync) ? KEEL_ARRIVE_NEWS : 0;
}

void keel_announce_leave(keel_context_h ctx, uint32_t number)
{
    uint64_t flags = 0;

    KEEL_EACH_MEMBER(r, &ctx->lane) {
        flags |= (r != ctx->lane.rank) ? keel_board_get(&ctx->lane.board[r].flags[number & 1]) : 0;
    }
    if (keel_announced_pass_on(&ctx->sync, (flags & KEEL_ARRIVE_NEWS) != 0)) {
        reach_none(ctx);
    }
}

void keel_announce_reset(keel_context_h ctx)
{
    ctx->reached.is_list = 0;
    ctx->reached.count = 0;
    keel_lane_change(&ctx->lane);
}

keel_status_t keel_announce_to_now(keel_context_h ctx, uint32_t rank)
{
    keel_status_t status = KEEL_OK;

    if (rank == ctx->lane.rank) {
        keel_announced_set_known(&ctx->sync, rank);
        return KEEL_OK;
    }
    if (!ctx->lane.peers[rank].is_up) {
        return KEEL_OK;
    }
    if (!KEEL_PLANT(announce_skipped)) {
        KEEL_REACHED(usage_announced);
        status = keel_announced_send(&ctx->sync, rank);
    }
    if (status != KEEL_OK) {
        return status;
    }
    keel_announced_set_known(&ctx->sync, rank);
    if (ctx->reached.count < ctx->lane.size) {
        ctx->reached.ranks[ctx->reached.count++] = rank;
        keel_windows_refresh(ctx, &rank, 1);
    } else { /* the list is full of dead ranks and replacements */
        keel_announce_reset(ctx);
    }
    return KEEL_OK;
}
