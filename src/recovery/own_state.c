/* Next state for each state and event. */
#include "recovery/own_state.h"

/* An impossible event leaves the state unchanged. At the begin of a rollback a replacement
 * without memory stays one: the rollback restores its memory. */
static const keel_life_t life_after[KEEL_LIFE_LAST][KEEL_LIFE_EVENT_LAST] = {
    [KEEL_LIFE_FRESH] = {KEEL_LIFE_RECOVERING, KEEL_LIFE_AWAITING, KEEL_LIFE_FRESH, KEEL_LIFE_FRESH, KEEL_LIFE_FRESH,
                         KEEL_LIFE_LIVE},
    [KEEL_LIFE_RECOVERING] = {KEEL_LIFE_RECOVERING, KEEL_LIFE_RECOVERING, KEEL_LIFE_AWAITING, KEEL_LIFE_RECOVERING,
                              KEEL_LIFE_RECOVERING, KEEL_LIFE_LIVE},
    [KEEL_LIFE_AWAITING] = {KEEL_LIFE_AWAITING, KEEL_LIFE_AWAITING, KEEL_LIFE_AWAITING, KEEL_LIFE_LIVE,
                            KEEL_LIFE_ROLLING, KEEL_LIFE_LIVE},
    [KEEL_LIFE_ROLLING] = {KEEL_LIFE_ROLLING, KEEL_LIFE_ROLLING, KEEL_LIFE_ROLLING, KEEL_LIFE_ROLLING,
                           KEEL_LIFE_ROLLING, KEEL_LIFE_LIVE},
    [KEEL_LIFE_LIVE] = {KEEL_LIFE_LIVE, KEEL_LIFE_LIVE, KEEL_LIFE_LIVE, KEEL_LIFE_LIVE, KEEL_LIFE_LIVE, KEEL_LIFE_LIVE},
};

static const keel_view_t view_after[KEEL_VIEW_LAST][KEEL_VIEW_EVENT_LAST] = {
    [KEEL_VIEW_STABLE] = {KEEL_VIEW_CHANGED, KEEL_VIEW_STABLE, KEEL_VIEW_STABLE},
    [KEEL_VIEW_CHANGED] = {KEEL_VIEW_CHANGED, KEEL_VIEW_REPORTED, KEEL_VIEW_STABLE},
    [KEEL_VIEW_REPORTED] = {KEEL_VIEW_CHANGED, KEEL_VIEW_REPORTED, KEEL_VIEW_STABLE},
};

static const keel_leave_t leave_after[KEEL_LEAVE_LAST][KEEL_LEAVE_EVENT_LAST] = {
    [KEEL_LEAVE_NOT] = {KEEL_LEAVE_SUSPECTED, KEEL_LEAVE_CERTAIN},
    [KEEL_LEAVE_SUSPECTED] = {KEEL_LEAVE_SUSPECTED, KEEL_LEAVE_CERTAIN},
    [KEEL_LEAVE_CERTAIN] = {KEEL_LEAVE_CERTAIN, KEEL_LEAVE_CERTAIN},
};

keel_life_t keel_life_after(keel_life_t life, keel_life_event_t event)
{
    return life_after[life][event];
}

keel_view_t keel_view_after(keel_view_t view, keel_view_event_t event)
{
    return view_after[view][event];
}

keel_leave_t keel_leave_after(keel_leave_t leave, keel_leave_event_t event)
{
    return leave_after[leave][event];
}
