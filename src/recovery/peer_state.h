/*
 * State of another rank in a recovery, as known here: progress of the process, replay, completeness
 * of hand-overs, and the transfers between the two ranks. Each is independent of the others; only
 * the events below move the state machines.
 */
#ifndef KEEL_RECOVERY_PEER_STATE_H_
#define KEEL_RECOVERY_PEER_STATE_H_

#include "wire/digest.h"

#include <stdint.h>

/* Progress of a process. */
typedef enum {
    KEEL_RANK_FRONT,      /* runs at the front */
    KEEL_RANK_RECOVERING, /* re-executes at its position */
    KEEL_RANK_FRESH       /* a replacement without memory yet */
} keel_rank_state_t;

/* A replacement that replays accesses of other ranks in an order of its own (sync/sync.h). */
typedef enum {
    KEEL_REPLAY_NONE, /* no replay, or no more */
    /* reports the end of the replay before this process knows the decision that started the
     * replay */
    KEEL_REPLAY_DONE_EARLY,
    /* waits, but no rank had begun at the loss: puts to the rank wait until it is at the front */
    KEEL_REPLAY_UNBEGUN,
    /* receives the records of each phase; other accesses to the rank wait */
    KEEL_REPLAY_PHASES,
    /* has replayed all sections; or, with waits, asks for the rest of the front phase */
    KEEL_REPLAY_DONE,
    KEEL_REPLAY_REST_SENT, /* was sent the rest; puts to the rank wait */
    KEEL_REPLAY_REST_DONE, /* has replayed the rest */
    KEEL_REPLAY_LAST
} keel_replay_state_t;

typedef enum {
    KEEL_REPLAY_DECIDED_ORDERED, /* decision: begins at an image and replays */
    KEEL_REPLAY_DECIDED_UNBEGUN, /* decision: waits, but no rank had begun */
    KEEL_REPLAY_DECIDED_PLAIN,   /* decision: gets hand-overs, phase by phase */
    KEEL_REPLAY_REPORTS_DONE,
    KEEL_REPLAY_SENDS_REST,
    KEEL_REPLAY_REPORTS_REST_DONE,
    KEEL_REPLAY_LIVE,          /* accesses reach the memory again */
    KEEL_REPLAY_LIVE_AT_FRONT, /* accesses reach the memory, and the rank will not fall behind */
    KEEL_REPLAY_EVENT_LAST
} keel_replay_event_t;

/* Completeness: all ranks have handed over. A fetched value has to include the effects of all
 * hand-overs. */
typedef enum {
    KEEL_COMPLETE_ALWAYS, /* never lost, as far as known here */
    KEEL_COMPLETE_NOT,    /* lost, and not reported complete since */
    KEEL_COMPLETE_AGAIN,
    KEEL_COMPLETE_LAST
} keel_complete_t;

typedef enum {
    KEEL_COMPLETE_DIED,
    KEEL_COMPLETE_DECIDED,     /* in a replacement: complete by the decision */
    KEEL_COMPLETE_DECIDED_NOT, /* in a replacement: incomplete by the decision */
    KEEL_COMPLETE_REPORTS,
    KEEL_COMPLETE_EVENT_LAST
} keel_complete_event_t;

/* Transfers between the two ranks. */
enum keel_transfer {
    KEEL_TRANSFER_GETLOG_REFILLED = 1, /* the own part of the rank's get log was sent again */
    /* the predecessor's records in the own get log were sent */
    KEEL_TRANSFER_GETS_SENT = 2,
    /* the rank will send the own predecessor's records in its get log */
    KEEL_TRANSFER_GETS_EXPECTED = 4,
    /* the own log for the rank holds a pending fetch: hand over the records before now, the
     * fetch and the rest after all other ranks have handed over */
    KEEL_TRANSFER_HOLD_BACK = 8,
    KEEL_TRANSFER_PREFIX_SENT = 16, /* the records before the pending fetch were handed over */
    KEEL_TRANSFER_OTHERS_SENT = 32, /* the rank reports the hand-over of all other ranks */
    /* the rank has handed over here up to its own pending fetch */
    KEEL_TRANSFER_PREFIX_RECEIVED = 64
};

typedef struct keel_peer_state {
    keel_rank_state_t state;
    uint32_t position; /* if RECOVERING */
    keel_replay_state_t replay;
    keel_complete_t complete;
    unsigned transfers; /* bits of enum keel_transfer */
    /* with waits: records of the front phase for the rank at the time of the decision */
    uint32_t records_at_decision;
    uint32_t records_sent;    /* records of the phase sent to the replay */
    uint32_t handed_over_end; /* 1 + the position up to which all was handed over; 0: none */
    /* 1 + the position up to which the rank handed all over here, as reported when it went live */
    uint32_t received_end;
    int hand_over_lost; /* the rank died before its hand-over to this process */
    /* put records handed over to the incarnation, and by it */
    uint64_t records_given, records_received;
    /* the own predecessor's records at the rank that came over the served lane without a gap */
    keel_digest_t digest;
    uint64_t done; /* phase << 32 | number of the own predecessor's records at the rank */
} keel_peer_state_t;

keel_replay_state_t keel_replay_after(keel_replay_state_t state, keel_replay_event_t event);
keel_complete_t keel_complete_after(keel_complete_t state, keel_complete_event_t event);

/* True if only the replay accesses the rank's memory. */
static inline int keel_peer_state_is_replaying(const keel_peer_state_t *peer_state)
{
    return peer_state->replay >= KEEL_REPLAY_PHASES;
}
/* True if puts to the rank wait while no hand-over is possible. */
static inline int keel_peer_state_defers_puts(const keel_peer_state_t *peer_state)
{
    return peer_state->replay == KEEL_REPLAY_UNBEGUN || peer_state->replay >= KEEL_REPLAY_REST_SENT;
}
static inline int keel_peer_state_has(const keel_peer_state_t *peer_state, enum keel_transfer transfer)
{
    return (peer_state->transfers & transfer) != 0;
}

#endif
