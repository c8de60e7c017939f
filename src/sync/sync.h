/*
 * How the ranks of a program synchronise, and what follows from it when one of them dies. A module a mechanism: sections (locks),
 * waits, atomics; gsyncs alone need none. Who is above asks the questions of this header, and knows no mechanism.
 *
 * Gsyncs order whole phases. A mechanism that is used inside phases gives what others did to a replacement in one an order of its own,
 * by which it is replayed; two of them together give none (mixes), and then a death is a rollback.
 */
#ifndef KEEL_SYNC_SYNC_H_
#define KEEL_SYNC_SYNC_H_

#include "oplog/put_log.h"
#include "peer/peer.h"
#include "sync/answers.h"
#include "sync/atomics.h"
#include "sync/sections.h"
#include "sync/waits.h"

typedef struct keel_sync {
    keel_lane_t *lane;
    keel_put_log_t *puts;
    int is_deterministic;  /* the program promises it, and what it does is logged */
    int mixes;             /* no log orders what it does */
    uint32_t phase, front; /* of this process, as recovery has told */
    keel_sections_t sections;
    keel_waits_t waits;
    keel_atomics_t atomics;
    keel_answers_t answers;
} keel_sync_t;

/* what a report says of its sender */
typedef struct keel_sync_told {
    uint32_t is_deterministic;
    uint32_t has_locks;    /* it locks, or was told that others do */
    uint32_t waits_since;  /* keel_waits_t.since */
    uint32_t is_replaying; /* it does again what its predecessor did, by the order that others have told */
} keel_sync_told_t;

/* and a decision of all */
typedef struct keel_sync_decided {
    uint32_t mixes;
    uint32_t has_locks;
    uint32_t waits_since; /* the lowest that was reported */
    uint32_t has_waits;   /* and something has been done: it is replayed into waits */
} keel_sync_decided_t;

/* of a rank that is lost, what its phase contained */
typedef struct keel_sync_facts {
    uint32_t lost;   /* ranks that are, this one included */
    uint32_t front;  /* as decided */
    int has_atomics; /* of it, or towards it, since the image that it would begin at */
    uint32_t start;  /* of that image */
    int has_fetched; /* somebody has asked for what a word held */
    int commutes;    /* all that are known towards it, its own included */
    int has_bare;    /* some rank accesses what it has not locked */
} keel_sync_facts_t;

keel_status_t keel_sync_init(keel_sync_t *sync, keel_lane_t *lane, keel_put_log_t *puts, int is_deterministic);
void keel_sync_release(keel_sync_t *sync);
/* where this process stands, and the front; told whenever one of them changes */
void keel_sync_set_position(keel_sync_t *sync, uint32_t phase, uint32_t front);

/* ---- what its phases may contain ---- */

/* a death can be recovered from without a rollback */
static inline int keel_sync_may_be_local(const keel_sync_t *sync)
{
    return sync->is_deterministic && !sync->mixes;
}

/* from here on it does what no log orders: whom it accesses is told */
static inline void keel_sync_mix(keel_sync_t *sync)
{
    sync->mixes = 1;
}
static inline int keel_sync_is_mixing(const keel_sync_t *sync)
{
    return sync->mixes;
}

/* the program has promised to be deterministic */
static inline int keel_sync_is_promised(const keel_sync_t *sync)
{
    return sync->is_deterministic;
}

/* how a program is about to synchronise; BARE: to access what is not locked, ANSWER: to be told what no log has */
typedef enum {
    KEEL_WAY_GSYNC,
    KEEL_WAY_WAIT,
    KEEL_WAY_LOCK,
    KEEL_WAY_BARE,
    KEEL_WAY_ANSWER,
    KEEL_WAY_UNLOGGED
} keel_way_t;

/* NULL: that goes with what the program did so far, @a has_accessed: others' memory; or why it mixes */
const char *keel_sync_mixes_by(const keel_sync_t *sync, keel_way_t way, int has_accessed);
/* it locks */
void keel_sync_lock(keel_sync_t *sync);

/* what others do to a process inside a phase has an order of its own, of sections: atomics take their place in it, and direct records are
 * counted when one ends */
static inline int keel_sync_is_sectioned(const keel_sync_t *sync)
{
    return sync->sections.is_used;
}

/* or of waits: who replays takes what was put until its death was decided first, and asks for the rest */
static inline int keel_sync_has_rest(const keel_sync_t *sync)
{
    return sync->waits.since != KEEL_PHASE_NONE && !sync->sections.is_used;
}

/* and all number what they do in this phase, so a replacement knows what of it is done already, on any lane */
static inline int keel_sync_is_numbered(const keel_sync_t *sync)
{
    return keel_sync_has_rest(sync) && keel_waits_are_numbered(sync);
}

/* ---- this process as a replacement ---- */

/* it does again what its predecessor did, in that order */
static inline int keel_sync_is_replaying(const keel_sync_t *sync)
{
    return sync->sections.is_replaying || sync->waits.is_replaying;
}

/* by sections: what an access does depends on the section it is in, and not on positions */
static inline int keel_sync_steers(const keel_sync_t *sync)
{
    return sync->sections.is_replaying;
}

/* by waits: what others put comes as far as each wait needs */
static inline int keel_sync_replays_waits(const keel_sync_t *sync)
{
    return sync->waits.is_replaying;
}

/* ---- survivors ---- */

/* what was done at @a rank in @a phase, of which it is to replay @a limit records first; how many were sent */
keel_status_t keel_sync_send(keel_sync_t *sync, uint32_t rank, uint32_t phase, uint32_t limit, uint32_t *count_p);

/* ---- reports and decisions ---- */

/* first phase in which this process or another has locked here, KEEL_PHASE_NONE: none is known */
void keel_sync_tell(const keel_sync_t *sync, keel_sync_told_t *told, uint32_t *first_p);
void keel_sync_join(keel_sync_decided_t *all, const keel_sync_told_t *told);
/* nobody has told anything yet */
#define KEEL_SYNC_UNTOLD ((keel_sync_decided_t){.waits_since = KEEL_PHASE_NONE})
/* whether some rank is known to mix */
static inline void keel_sync_join_mixing(keel_sync_decided_t *all, int is_mixing)
{
    all->mixes |= (uint32_t)is_mixing;
}
/* all are joined, and something has been done that may have to be replayed */
void keel_sync_decide(keel_sync_decided_t *all);
/* others replay what is done to them, in an order of their own */
static inline int keel_sync_is_ordered(const keel_sync_decided_t *all)
{
    return (int)(all->has_locks | all->has_waits);
}
/* somebody waits, as was told */
static inline int keel_sync_tells_waits(const keel_sync_decided_t *all)
{
    return all->waits_since != KEEL_PHASE_NONE;
}
/* the program waits, and nothing was done yet that would have to be replayed: several may be lost */
static inline int keel_sync_is_unbegun(const keel_sync_t *sync, const keel_sync_decided_t *all)
{
    return keel_sync_has_rest(sync) && !all->has_waits;
}
/* NULL, or why every death is a rollback */
const char *keel_sync_refuses_any(const keel_sync_decided_t *all, const keel_sync_told_t *told);
/* NULL, or why that order does not do to bring a rank back, with these facts */
const char *keel_sync_refuses(const keel_sync_decided_t *all, const keel_sync_facts_t *facts);
/* takes up what was decided */
void keel_sync_adopt(keel_sync_t *sync, const keel_sync_decided_t *all, int is_rollback);
/* this process is a new one, and brought back alone */
void keel_sync_begin_replay(keel_sync_t *sync, const keel_sync_decided_t *all);

#endif
