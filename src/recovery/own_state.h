/*
 * State of the process itself: its life, the view that it knows, and the end of the job. Three
 * independent state machines; only the events below move them. The state of other ranks:
 * recovery/peer_state.
 */
#ifndef KEEL_RECOVERY_OWN_STATE_H_
#define KEEL_RECOVERY_OWN_STATE_H_

#include "recovery/peer_state.h"

typedef enum {
    KEEL_LIFE_FRESH,      /* a replacement without memory yet */
    KEEL_LIFE_RECOVERING, /* re-executes at its position */
    /* at the front; announces no arrival before all ranks have handed over to it */
    KEEL_LIFE_AWAITING,
    KEEL_LIFE_ROLLING, /* a rollback came before all had handed over */
    KEEL_LIFE_LIVE,    /* has caught up, or was there from the start */
    KEEL_LIFE_LAST
} keel_life_t;

typedef enum {
    KEEL_LIFE_RESTORED_BEFORE_FRONT,
    KEEL_LIFE_RESTORED_AT_FRONT,
    KEEL_LIFE_REACHES_FRONT,
    KEEL_LIFE_HANDED_OVER,
    KEEL_LIFE_ROLLS_BACK,  /* counters, logs and peer states are those of the generation */
    KEEL_LIFE_ROLLED_BACK, /* memory of all ranks is that of the generation */
    KEEL_LIFE_EVENT_LAST
} keel_life_event_t;

/* From a death or a rollback request until the decision no gsync is passed, and no image is
 * taken into use. */
typedef enum {
    KEEL_VIEW_STABLE,
    KEEL_VIEW_CHANGED,  /* changed, and not yet reported by the process */
    KEEL_VIEW_REPORTED, /* reported by the process; the decision is awaited */
    KEEL_VIEW_LAST
} keel_view_t;

typedef enum { KEEL_VIEW_CHANGES, KEEL_VIEW_REPORTS, KEEL_VIEW_DECIDED, KEEL_VIEW_EVENT_LAST } keel_view_event_t;

/* Some rank has left the last gsync: no recovery takes place any more. */
typedef enum {
    KEEL_LEAVE_NOT,
    KEEL_LEAVE_SUSPECTED, /* some process exited, possibly for another reason */
    KEEL_LEAVE_CERTAIN,   /* known for certain, and announced to others */
    KEEL_LEAVE_LAST
} keel_leave_t;

typedef enum { KEEL_LEAVE_PROCESS_EXITS, KEEL_LEAVE_ANNOUNCED, KEEL_LEAVE_EVENT_LAST } keel_leave_event_t;

keel_life_t keel_life_after(keel_life_t life, keel_life_event_t event);
keel_view_t keel_view_after(keel_view_t view, keel_view_event_t event);
keel_leave_t keel_leave_after(keel_leave_t leave, keel_leave_event_t event);

/* The state as announced to other ranks. */
static inline keel_rank_state_t keel_life_state(keel_life_t life)
{
    return (life == KEEL_LIFE_FRESH)        ? KEEL_RANK_FRESH
           : (life == KEEL_LIFE_RECOVERING) ? KEEL_RANK_RECOVERING
                                            : KEEL_RANK_FRONT;
}

#endif
