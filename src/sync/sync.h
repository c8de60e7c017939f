/*
 * How the ranks of a program synchronise, and the consequences for the recovery from a death. One
 * module for each mechanism: critical sections (locks), waits, atomics; gsyncs alone need none.
 * Higher layers ask the questions of this header and know no mechanism.
 *
 * Gsyncs order whole phases. A mechanism used inside phases gives the effects of others on a
 * replacement an order for the replay of a phase. Two mechanisms together give no order: the
 * program mixes, and every death is a rollback.
 */
#ifndef KEEL_SYNC_SYNC_H_
#define KEEL_SYNC_SYNC_H_

#include "oplog/put_log.h"
#include "peer/peer.h"
#include "sync/determinants.h"
#include "sync/announced.h"
#include "sync/sections.h"
#include "sync/waits.h"

typedef struct keel_sync {
    keel_lane_t *lane;
    keel_put_log_t *puts;
    int is_deterministic;  /* promised by the program, and all effects are logged */
    int mixes;             /* some effects are in no log's order */
    uint32_t phase, front; /* of this rank; set by recovery */
    keel_sections_t sections;
    keel_waits_t waits;
    keel_announced_t announced;
    keel_determinants_t results, polls;
} keel_sync_t;

/* the part of a report about synchronisation */
typedef struct keel_sync_report {
    uint32_t is_deterministic;
    uint32_t has_locks;    /* the rank locks, or others lock here */
    uint32_t waits_since;  /* keel_waits_t.since */
    uint32_t is_replaying; /* the rank re-executes in the order of records from others */
} keel_sync_report_t;

/* the same of a decision, for all ranks */
typedef struct keel_sync_decided {
    uint32_t mixes;
    uint32_t has_locks;
    uint32_t waits_since; /* the lowest in any report */
    uint32_t has_waits;   /* there are effects to replay into waits */
} keel_sync_decided_t;

/* facts about the phase of a lost rank */
typedef struct keel_sync_facts {
    uint32_t lost;   /* number of lost ranks, including this rank */
    uint32_t front;  /* of the decision */
    int has_atomics; /* by the rank or towards the rank, since the image to restart from */
    uint32_t start;  /* phase of the image to restart from */
    int has_fetched; /* some rank has fetched a value */
    int commutes;    /* all atomics known towards the rank commute, including its own */
    int has_bare;    /* some rank accesses memory without a lock */
} keel_sync_facts_t;

keel_status_t keel_sync_init(keel_sync_t *sync, keel_lane_t *lane, keel_put_log_t *puts, int is_deterministic);
void keel_sync_release(keel_sync_t *sync);
/* Sets the phase of this rank and the front, whenever one of them changes. */
void keel_sync_set_position(keel_sync_t *sync, uint32_t phase, uint32_t front);

/* ---- the contents of phases ---- */

/* True if recovery from a death may be local, without a rollback. */
static inline int keel_sync_may_be_local(const keel_sync_t *sync)
{
    return sync->is_deterministic && !sync->mixes;
}

/* From here on the program mixes. The caller announces KEEL_CLASS_MIXES before the next access. */
static inline void keel_sync_mix(keel_sync_t *sync)
{
    sync->mixes = 1;
}

/* True if the program has promised to be deterministic. */
static inline int keel_sync_is_promised(const keel_sync_t *sync)
{
    return sync->is_deterministic;
}

/*
 * The way in which a program is about to synchronise. BARE: an access to memory without a lock.
 * ANSWER: a result that no log has. UNLOGGED: an effect that no log has.
 */
typedef enum {
    KEEL_WAY_GSYNC,
    KEEL_WAY_WAIT,
    KEEL_WAY_LOCK,
    KEEL_WAY_BARE,
    KEEL_WAY_ANSWER,
    KEEL_WAY_UNLOGGED
} keel_way_t;

/*
 * Returns NULL if the way fits the program so far or no death is recovered locally anyway, or the
 * reason why the program mixes. @a has_accessed: memory of other ranks.
 */
const char *keel_sync_mixes_by(const keel_sync_t *sync, keel_way_t way, int has_accessed);
/* Notes that the program locks. */
void keel_sync_lock(keel_sync_t *sync);

/* ---- the style ---- */

/*
 * What orders the effects of other ranks inside a phase:
 *
 * GSYNCS  Nothing; gsyncs order whole phases. A replacement gets the records of a phase in a
 *         hand-over.
 * WAITS   Clocks. A replacement replays the puts from before the decision as far as each wait
 *         needs, and then asks for the remaining ones.
 * LOCKS   Numbers of critical sections. An atomic has a place in the order, and direct records are
 *         counted at the end of a critical section.
 *
 * A program that mixes keeps its style, and no death is recovered by it (keel_sync_may_be_local()).
 */
typedef enum { KEEL_STYLE_GSYNCS, KEEL_STYLE_WAITS, KEEL_STYLE_LOCKS } keel_style_t;

/* The style as far as this rank knows: GSYNCS until a wait or a lock of some rank is known. */
static inline keel_style_t keel_sync_style(const keel_sync_t *sync)
{
    return sync->sections.is_used                   ? KEEL_STYLE_LOCKS
           : (sync->waits.since != KEEL_PHASE_NONE) ? KEEL_STYLE_WAITS
                                                    : KEEL_STYLE_GSYNCS;
}

/*
 * The order in which this rank, a replacement, re-executes inside a phase. WAITS: puts of others
 * are applied as far as each wait needs. LOCKS: the effect of an access depends on the critical
 * section, and not on positions. GSYNCS: there is no such order, or this rank has caught up.
 */
static inline keel_style_t keel_sync_replays(const keel_sync_t *sync)
{
    /* first, because each keel_wait_until() asks for waits */
    if (sync->waits.is_replaying && !sync->sections.is_replaying) {
        return KEEL_STYLE_WAITS;
    }
    return sync->sections.is_replaying ? KEEL_STYLE_LOCKS : KEEL_STYLE_GSYNCS;
}

/*
 * True if all ranks number their records in this phase, and values fetched have records with
 * clocks: a replacement knows on any lane which records are applied, and reads the values in the
 * order of the clocks.
 */
static inline int keel_sync_records_values(const keel_sync_t *sync)
{
    return keel_sync_style(sync) == KEEL_STYLE_WAITS && keel_waits_are_numbered(sync) && keel_sync_may_be_local(sync);
}

/* ---- survivors ---- */

/*
 * Sends to @a rank the records of @a phase towards that rank, of which the rank replays @a limit
 * first. *count_p: number of records sent.
 */
keel_status_t keel_sync_send(keel_sync_t *sync, uint32_t rank, uint32_t phase, uint32_t limit, uint32_t *count_p);

/* ---- reports and decisions ---- */

/*
 * Fills the report of this rank. *first_p: first phase in which a rank has locked here,
 * KEEL_PHASE_NONE if none is known.
 */
void keel_sync_fill_report(const keel_sync_t *sync, keel_sync_report_t *report, uint32_t *first_p);
void keel_sync_join(keel_sync_decided_t *all, const keel_sync_report_t *report);
/* the value before the first report is joined */
#define KEEL_SYNC_NO_REPORT ((keel_sync_decided_t){.waits_since = KEEL_PHASE_NONE})
/* Joins whether some rank is known to mix. */
static inline void keel_sync_join_mixing(keel_sync_decided_t *all, int is_mixing)
{
    all->mixes |= (uint32_t)is_mixing;
}
/* Call after all reports are joined, if there are effects to replay. */
void keel_sync_decide(keel_sync_decided_t *all);
/* True if ranks replay effects of others in an order inside phases. */
static inline int keel_sync_is_ordered(const keel_sync_decided_t *all)
{
    return (int)(all->has_locks | all->has_waits);
}
/* True if some report has waits. */
static inline int keel_sync_reports_waits(const keel_sync_decided_t *all)
{
    return all->waits_since != KEEL_PHASE_NONE;
}
/* True if the program waits, and there is nothing to replay: several ranks may be lost. */
static inline int keel_sync_is_unbegun(const keel_sync_t *sync, const keel_sync_decided_t *all)
{
    return keel_sync_style(sync) == KEEL_STYLE_WAITS && !all->has_waits;
}
/* Returns NULL, or the reason why every death is a rollback. */
const char *keel_sync_refuses_any(const keel_sync_decided_t *all, const keel_sync_report_t *report);
/*
 * Returns NULL, or the reason why the order does not suffice to bring a rank back, with these
 * facts.
 */
const char *keel_sync_refuses(const keel_sync_decided_t *all, const keel_sync_facts_t *facts);
/* Takes a decision up. */
void keel_sync_adopt(keel_sync_t *sync, const keel_sync_decided_t *all, int is_rollback);
/* This rank is a replacement and recovers locally. */
void keel_sync_begin_replay(keel_sync_t *sync, const keel_sync_decided_t *all);

#endif
