/* The route of an access to a rank. */
#ifndef KEEL_ACCESS_ROUTE_H_
#define KEEL_ACCESS_ROUTE_H_

#include "engine/context.h"
#include "peer/access.h"

/*
 * How an access to a rank is carried out now. A wait may change the route. Loops that wait ask for
 * the peer's mode instead: each has a condition of its own, such as "until the target is live",
 * that several routes fulfil.
 */
typedef enum keel_route {
    KEEL_ROUTE_OWN, /* the caller's own memory: loads and stores, not logged */
    /* memory that no other process maps: unlogged messages to its owner's service thread */
    KEEL_ROUTE_MESSAGE,
    KEEL_ROUTE_STORED, /* live and mapped: logged and stored */
    KEEL_ROUTE_SERVED, /* live: logged and sent */
    KEEL_ROUTE_BEHIND, /* dead, or not caught up: puts are logged for the replacement, gets wait */
    KEEL_ROUTE_AHEAD   /* past this phase: puts are logged only, records answer gets */
} keel_route_t;

/* the route of logged memory in any region: never KEEL_ROUTE_MESSAGE */
static inline keel_route_t keel_route_of(const keel_lane_t *lane, uint32_t peer)
{
    const keel_peer_mode_t mode = (keel_peer_mode_t)lane->peers[peer].mode;

    return (peer == lane->rank)                ? KEEL_ROUTE_OWN
           : (mode == KEEL_PEER_BEHIND)        ? KEEL_ROUTE_BEHIND
           : (mode == KEEL_PEER_AHEAD)         ? KEEL_ROUTE_AHEAD
           : keel_access_is_stored(lane, peer) ? KEEL_ROUTE_STORED
                                               : KEEL_ROUTE_SERVED;
}

/* Whether the window at @a rank is memory of the program that no other process maps. The owner's
 * service thread carries out the accesses. */
static inline int keel_win_is_by_message(const keel_win_h win, uint32_t rank)
{
    return rank < win->ctx->lane.programs && keel_access_is_by_message(&win->ctx->lane, rank, win->region);
}

/* the route of an access to @a rank's window */
static inline keel_route_t keel_route(const keel_win_h win, uint32_t rank)
{
    return keel_win_is_by_message(win, rank) ? KEEL_ROUTE_MESSAGE : keel_route_of(&win->ctx->lane, rank);
}

#endif
