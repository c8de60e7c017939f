/* What this process uses, told to those whom it accesses. */
#include "order/usage.h"

#include "window/targets.h"
#include "check/plant.h"
#include "check/reached.h"

/* Until the first change all that are live are reached by fast paths; from then on those that are in the list. */
static void kinds_changed(keel_context_h ctx)
{
    if (ctx->reached.is_list) {
        keel_windows_refresh(ctx, ctx->reached.ranks, ctx->reached.count);
    } else {
        keel_lane_change(&ctx->lane);
    }
    ctx->reached.is_list = 1;
    ctx->reached.count = 0;
}

void keel_kinds_fetch(keel_context_h ctx, int is_own)
{
    if (keel_atomics_mark(&ctx->sync, is_own)) {
        kinds_changed(ctx);
    }
}

void keel_kinds_use(keel_context_h ctx, uint32_t classes)
{
    if (keel_atomics_use(&ctx->sync, classes)) {
        kinds_changed(ctx);
    }
}

void keel_kinds_begin(keel_context_h ctx)
{
    keel_atomics_begin(&ctx->sync);
    kinds_changed(ctx);
}

void keel_kinds_wait(keel_context_h ctx)
{
    keel_atomics_wait(&ctx->sync);
    kinds_changed(ctx);
}

uint64_t keel_kinds_arrive(keel_context_h ctx)
{
    return keel_atomics_has_news(&ctx->sync) ? KEEL_ARRIVE_NEWS : 0;
}

/*
 * Who has news may die amid its arrivals, so that those of others who are behind do not know; and who is not may do something to them by
 * what it found. It tells them as if that were its own.
 */
void keel_kinds_leave(keel_context_h ctx, uint32_t number)
{
    uint64_t flags = 0;

    for (uint32_t r = 0; r < ctx->lane.size; r++) {
        flags |= (r != ctx->lane.rank) ? keel_board_get(&ctx->lane.board[r].flags[number & 1]) : 0;
    }
    if (keel_atomics_hear(&ctx->sync, (flags & KEEL_ARRIVE_NEWS) != 0)) {
        kinds_changed(ctx);
    }
}

void keel_kinds_reset(keel_context_h ctx)
{
    ctx->reached.is_list = 0;
    ctx->reached.count = 0;
    keel_lane_change(&ctx->lane);
}

keel_status_t keel_kinds_tell_now(keel_context_h ctx, uint32_t rank)
{
    keel_status_t status = KEEL_OK;

    if (rank == ctx->lane.rank) {
        keel_atomics_say_told(&ctx->sync, rank);
        return KEEL_OK;
    }
    if (!ctx->lane.peers[rank].is_up) {
        return KEEL_OK;
    }
    if (!KEEL_PLANT(kinds_untold)) {
        KEEL_REACHED(kinds_told);
        status = keel_atomics_tell(&ctx->sync, rank);
    }
    if (status != KEEL_OK) {
        return status;
    }
    keel_atomics_say_told(&ctx->sync, rank);
    if (ctx->reached.count < ctx->lane.size) {
        ctx->reached.ranks[ctx->reached.count++] = rank;
        keel_windows_refresh(ctx, &rank, 1);
    } else { /* some have died, and their replacements were told */
        keel_kinds_reset(ctx);
    }
    return KEEL_OK;
}
