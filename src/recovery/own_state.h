/*
 * What this process itself is in: its life, the view that it knows, and the job's end. Three machines, independent of each other; what moves
 * them from one state to the next are the events below and nothing else. Where other ranks stand: recovery/peer_state.
 */
#ifndef KEEL_RECOVERY_OWN_STATE_H_
#define KEEL_RECOVERY_OWN_STATE_H_

#include "recovery/peer_state.h"

typedef enum {
    KEEL_LIFE_FRESH,      /* a replacement whose memory is not there yet */
    KEEL_LIFE_RECOVERING, /* it re-executes at its position */
    KEEL_LIFE_AWAITING,   /* at the front; it announces no arrival before all have handed over to it */
    KEEL_LIFE_ROLLING,    /* and a rollback came before they had */
    KEEL_LIFE_LIVE,       /* it has caught up, or was there from the start */
    KEEL_LIFE_LAST
} keel_life_t;

typedef enum {
    KEEL_LIFE_RESTORED_BEFORE_FRONT,
    KEEL_LIFE_RESTORED_AT_FRONT,
    KEEL_LIFE_REACHES_FRONT,
    KEEL_LIFE_HANDED_OVER,
    KEEL_LIFE_ROLLS_BACK,  /* counters, logs and peer_states are those of the generation */
    KEEL_LIFE_ROLLED_BACK, /* and so is everybody's memory */
    KEEL_LIFE_EVENT_LAST
} keel_life_event_t;

/* since a death, or since somebody asked for a rollback, no gsync is passed and no image taken into use until that is decided */
typedef enum {
    KEEL_VIEW_STABLE,
    KEEL_VIEW_CHANGED,  /* and this process has not reported */
    KEEL_VIEW_REPORTED, /* it has; the decision is awaited */
    KEEL_VIEW_LAST
} keel_view_t;

typedef enum { KEEL_VIEW_CHANGES, KEEL_VIEW_REPORTS, KEEL_VIEW_DECIDED, KEEL_VIEW_EVENT_LAST } keel_view_event_t;

/* somebody left the last gsync: nothing is recovered any more */
typedef enum {
    KEEL_LEAVE_NOT,
    KEEL_LEAVE_SUSPECTED, /* as it seems: somebody exited, which may have another reason */
    KEEL_LEAVE_CERTAIN,   /* for certain, so it is passed on */
    KEEL_LEAVE_LAST
} keel_leave_t;

typedef enum { KEEL_LEAVE_PROCESS_EXITS, KEEL_LEAVE_ANNOUNCED, KEEL_LEAVE_EVENT_LAST } keel_leave_event_t;

keel_life_t keel_life_after(keel_life_t life, keel_life_event_t event);
keel_view_t keel_view_after(keel_view_t view, keel_view_event_t event);
keel_leave_t keel_leave_after(keel_leave_t leave, keel_leave_event_t event);

/* what others are told of it */
static inline keel_rank_state_t keel_life_state(keel_life_t life)
{
    return (life == KEEL_LIFE_FRESH)        ? KEEL_RANK_FRESH
           : (life == KEEL_LIFE_RECOVERING) ? KEEL_RANK_RECOVERING
                                            : KEEL_RANK_FRONT;
}

#endif
