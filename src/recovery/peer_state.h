/*
 * Where another rank stands, as this process has heard: how far its process has come, what it replays, whether all have handed over
 * to it, and what the two have sent each other for that. Independent of each other, each with its states; what moves them from one
 * to the next are the events below and nothing else.
 */
#ifndef KEEL_RECOVERY_PEER_STATE_H_
#define KEEL_RECOVERY_PEER_STATE_H_

#include "wire/digest.h"

#include <stdint.h>

/* how far a process has come */
typedef enum {
    KEEL_RANK_FRONT,      /* runs at the front */
    KEEL_RANK_RECOVERING, /* re-executes at its position */
    KEEL_RANK_FRESH       /* a replacement whose memory is not there yet */
} keel_rank_state_t;

/* A replacement that replays what others did to it, in an order of its own (sync/sync.h). */
typedef enum {
    KEEL_REPLAY_NONE, /* it does not, or no more */
    KEEL_REPLAY_DONE_EARLY, /* it says that it is done, and this process has not heard the decision yet by which it replayed */
    KEEL_REPLAY_UNBEGUN, /* it waits, and nobody had begun when it was lost: puts to it wait until it is at the front */
    KEEL_REPLAY_PHASES,  /* it is sent what was done in each phase; nobody accesses its memory */
    KEEL_REPLAY_DONE, /* it has replayed what it was sent: all sections; or, with waits, it asks for the rest of the front phase */
    KEEL_REPLAY_REST_SENT, /* it was sent the rest: puts to it wait */
    KEEL_REPLAY_REST_DONE, /* and has replayed that */
    KEEL_REPLAY_LAST
} keel_replay_state_t;

typedef enum {
    KEEL_REPLAY_DECIDED_ORDERED, /* a decision: it begins at an image, and replays */
    KEEL_REPLAY_DECIDED_UNBEGUN, /* waits, but nothing was done */
    KEEL_REPLAY_DECIDED_PLAIN,   /* it is handed over to, phase by phase */
    KEEL_REPLAY_REPORTS_DONE,
    KEEL_REPLAY_SENDS_REST,
    KEEL_REPLAY_REPORTS_REST_DONE,
    KEEL_REPLAY_LIVE,          /* accesses reach its memory again, */
    KEEL_REPLAY_LIVE_AT_FRONT, /* and it will not fall behind */
    KEEL_REPLAY_EVENT_LAST
} keel_replay_event_t;

/* Whether all have handed over to it what they had done there; values fetched from it have to find that. */
typedef enum {
    KEEL_COMPLETE_ALWAYS, /* it was never lost, as far as is known */
    KEEL_COMPLETE_NOT,    /* it was, and has not said so */
    KEEL_COMPLETE_AGAIN,
    KEEL_COMPLETE_LAST
} keel_complete_t;

typedef enum {
    KEEL_COMPLETE_DIED,
    KEEL_COMPLETE_DECIDED,     /* a replacement hears by a decision that it is complete, */
    KEEL_COMPLETE_DECIDED_NOT, /* or not */
    KEEL_COMPLETE_REPORTS,
    KEEL_COMPLETE_EVENT_LAST
} keel_complete_event_t;

/* what the two have sent each other */
enum keel_transfer {
    KEEL_TRANSFER_GETLOG_REFILLED = 1, /* its get log has this process's part again */
    KEEL_TRANSFER_GETS_SENT = 2,       /* it was sent what its predecessor left in the get log here */
    KEEL_TRANSFER_GETS_EXPECTED = 4,   /* it will send what this process's predecessor left in its own */
    KEEL_TRANSFER_HOLD_BACK =
        8, /* what this process awaits of it, and all behind, it is handed when it has the rest of all, */
    KEEL_TRANSFER_PREFIX_SENT = 16,    /* and all before it has been handed over; */
    KEEL_TRANSFER_OTHERS_SENT = 32,    /* it says that it has the rest */
    KEEL_TRANSFER_PREFIX_RECEIVED = 64 /* the same of it towards this process */
};

typedef struct keel_peer_state {
    keel_rank_state_t state;
    uint32_t position; /* when RECOVERING */
    keel_replay_state_t replay;
    keel_complete_t complete;
    unsigned transfers;           /* keel_transfer */
    uint32_t records_at_decision; /* with waits: records of the front phase put to it when its recovery was decided */
    uint32_t records_sent;        /* records of the phase it was sent to be replayed */
    uint32_t handed_over_end;     /* 1 + the position up to which it was handed everything, 0: nothing */
    uint32_t received_end;        /* the same of it towards this process, as it said when it went live */
    int hand_over_lost;           /* it died before that */
    uint64_t records_given, records_received; /* put records handed to that incarnation, and by it */
    keel_digest_t digest; /* what it has of this process's predecessor: what came without a gap over the served lane, */
    uint64_t done;        /* and phase << 32 | how many records in all */
} keel_peer_state_t;

keel_replay_state_t keel_replay_after(keel_replay_state_t state, keel_replay_event_t event);
keel_complete_t keel_complete_after(keel_complete_t state, keel_complete_event_t event);

/* nobody accesses its memory but by what it replays */
static inline int keel_peer_state_is_replaying(const keel_peer_state_t *peer_state)
{
    return peer_state->replay >= KEEL_REPLAY_PHASES;
}
/* puts to it wait, as long as it cannot be handed over to */
static inline int keel_peer_state_defers_puts(const keel_peer_state_t *peer_state)
{
    return peer_state->replay == KEEL_REPLAY_UNBEGUN || peer_state->replay >= KEEL_REPLAY_REST_SENT;
}
static inline int keel_peer_state_has(const keel_peer_state_t *peer_state, enum keel_transfer transfer)
{
    return (peer_state->transfers & transfer) != 0;
}

#endif
