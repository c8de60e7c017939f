/* The tables of targets for the fast paths. */
#include "window/targets.h"

#include "peer/access.h"
#include "peer/members.h"
#include "peer/region.h"

static void win_refresh_one(keel_win_h win, uint32_t r)
{
    keel_lane_t *lane = &win->ctx->lane;
    const int is_peer =
        win->ctx->is_open && lane->peers[r].is_up && keel_announced_is_known(&win->ctx->sync.announced, r);
    const int is_there = win->freed_call == 0 && lane->peers[r].mode == KEEL_PEER_LIVE && (r == lane->rank || is_peer);
    const int is_sent = is_there && keel_access_is_served(lane, r) && !keel_access_is_by_message(lane, r, win->region);

    if (keel_access_is_device_wanted(lane, r, win->region)) {
        keel_gate_set(win->ctx, KEEL_GATE_DEVICE);
    }
    win->targets[r].ptr = is_there ? keel_access_at(lane, r, win->region) : NULL;
    win->targets[r].size = (is_sent || win->targets[r].ptr != NULL) ? keel_lane_region_size(lane, r, win->region) : 0;
}

void keel_win_refresh(keel_win_h win)
{
    keel_context_uncache(win->ctx);
    KEEL_EACH_TOUCHED(r, &win->ctx->lane) {
        win_refresh_one(win, r);
    }
    win->changes = win->ctx->lane.changes;
}

void keel_windows_refresh(keel_context_h ctx, const uint32_t *ranks, uint32_t count)
{
    keel_context_uncache(ctx);
    for (unsigned w = 0; w < ctx->windows.count; w++) {
        keel_win_h win = ctx->windows.list[w];

        for (uint32_t i = 0; win->changes == ctx->lane.changes && i < count; i++) {
            win_refresh_one(win, ranks[i]);
        }
    }
}
