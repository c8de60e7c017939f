/*
 * Recovery: who is there, where everybody stands, and what happens when somebody dies (protocol.md, A death).
 *
 * A view is the vector of incarnations. A death changes it; it is complete when every rank has a live process again and
 * all of them have reported to rank 0 with this very vector; rank 0 then decides once. A report or decision for another
 * vector is ignored, so a further death only makes everybody report again, and the coordinator's own death is a view
 * like any other: its replacement needs nothing but the reports. From the news of a death until the decision a process
 * passes no gsync and commits no image.
 *
 * What happens at a death, in order; file.c names the code that acts:
 *   1. A runtime event, or the HELLO of a replacement, announces the death (recover.c; detect.c accuses silent neighbours).
 *   2. Every survivor cuts the connection, closes both logs towards the rank, and freezes: no gsync is passed, no image is
 *      committed, no put leaves for the rank (view.c keel_view_death()). Puts for it stay in the log.
 *   3. The launcher starts the replacement. It joins as FRESH and waits for a decision (job/init.c, rebuild.c).
 *   4. When all ranks are up again, each rank reports to rank 0: positions, usage, pending atomics, images (view.c).
 *   5. Rank 0 decides once for this view: local recovery, rollback with its reason, or catastrophe (decide.c).
 *   6. All ranks adopt the decision and unfreeze (adopt.c). A rollback goes on with step 10.
 *   7. The replacement rebuilds its image from its group, gets its get log back from its peers and restores its memory;
 *      keel_restore() returns to the program (rebuild.c, epoch/restore.c). Then its group computes parity again.
 *   8. The program executes again. Gets are answered from records; at each position the survivors hand over what their put
 *      logs hold for that phase, then announce their arrival (position.c, hand_over.c). In a program that waits or locks the
 *      records go to its replay instead (sync/waits.c, sync/sections.c).
 *   9. At the front the replacement compares what it did with what peers saw (hand_over_check.c), and becomes LIVE; pending
 *      accesses of the survivors are issued again.
 *  10. Rollback: every call returns KEEL_ERR_ROLLED_BACK or jumps to the restart point. keel_restore() drains what is under
 *      way, restores the image everywhere, and crosses two barriers (rollback.c).
 * A further death at any step starts again at step 1 with a newer view.
 *
 * What must hold (each is a property in tests/sim):
 *   - nobody passes gsync F + 1 before every replacement has reached F and was handed everything (position.c);
 *   - actions of phase k reach a replacement while it stands at k, in the order of the log, before its arrival count k+1;
 *   - a get is answered from its record when there is one, else only by a process at the same position.
 */
#ifndef KEEL_RECOVERY_RECOVERY_H_
#define KEEL_RECOVERY_RECOVERY_H_

#include "check/plant.h"
#include "ckpt/coordinated.h"
#include "ckpt/exchange.h"
#include "ckpt/repair.h"
#include "peer/peer.h"
#include "oplog/get_log.h"
#include "oplog/put_log.h"
#include "recovery/detect.h"
#include "recovery/reasons.h"
#include "recovery/own_state.h"
#include "sync/sync.h"
#include "recovery/trim.h"

typedef enum { KEEL_DECISION_NONE, KEEL_DECISION_LOCAL, KEEL_DECISION_ROLLBACK, KEEL_DECISION_CATASTROPHE } keel_mode_t;

typedef enum {
    KEEL_ROLL_NONE,
    KEEL_ROLL_PENDING, /* decided; the program has not called keel_restore() */
    KEEL_ROLL_DRAINED, /* said that nothing of the old computation is under way */
    KEEL_ROLL_RESTORED /* said that memory is restored */
} keel_roll_t;

/* Why a process requests a rollback (rollback_request.c). */
typedef enum keel_rollback_reason {
    KEEL_ROLLBACK_NOT_REQUESTED,
    KEEL_ROLLBACK_PROGRAM, /* the program called keel_rollback() */
    KEEL_ROLLBACK_DIFFERS, /* the re-execution differs from the predecessor's records */
    KEEL_ROLLBACK_NO_ROOM, /* there is no room for the predecessor's records, or for the only copy of an access */
    KEEL_ROLLBACK_MIXES,   /* the program begins to wait, or to mix, while a rank may be re-executing */
    KEEL_ROLLBACK_CHANGES  /* the program acts on a word that other ranks change, with an unknown order */
} keel_rollback_reason_t;

enum { KEEL_TIME_START, KEEL_TIME_AGREE, KEEL_TIME_REBUILD, KEEL_TIME_RESTORE, KEEL_TIME_REPLAY, KEEL_TIME_LAST };

typedef struct keel_report keel_report_t; /* view.h */

/* The engine's loop (engine/progress). It calls recovery; a rebuild or a rollback waits with it. */
typedef struct keel_recovery_loop {
    void (*run)(void *arg);                    /* one round of progress */
    void (*wait)(void *arg, unsigned *rounds); /* a round, then gives the core away */
    void *arg;
} keel_recovery_loop_t;

struct keel_recovery {
    keel_lane_t *lane;
    keel_put_log_t *puts;
    keel_get_log_t *gets;
    keel_ckpt_t *ckpt;
    keel_demand_t *demand;
    keel_sync_t *sync;
    keel_message_t *message;
    keel_recovery_loop_t loop;
    int (*on_fetch)(void *arg, uint32_t rank, const keel_fetch_t *fetch, const keel_fetched_t *found);
    void *arg;

    /* own position */
    uint32_t phase;            /* gsyncs passed: pos */
    uint32_t arrived;          /* gsync last announced */
    uint32_t missing_arrival;  /* the rank whose arrival was missing when last looked for */
    uint32_t front;            /* F of the last decision accepted */
    uint32_t front_reached;    /* 1 + the front that it reached as a replacement, 0: it was always there */
    uint32_t recovered_front;  /* 1 + the front of the last local recovery, 0: none since the start or a rollback */
    uint32_t incomplete_count; /* peer_states that are not complete */
    keel_life_t life;
    int is_complete_announced; /* it has told that all have, */
    int is_others_announced;   /* or all but what some await */
    int is_refused; /* a value that a replacement wanted to fetch: others have another record by that number */
    keel_peer_state_t *peer_states; /* by rank */

    /* view */
    keel_view_t view;
    uint64_t decisions;                     /* taken up */
    uint32_t request_number;                /* for a rollback, seen so far: with the incarnations it names the view */
    keel_rollback_reason_t rollback_reason; /* of the own request */
    keel_report_t **reports;                /* rank 0: the newest of each rank */
    size_t report_size;

    /* what was decided */
    keel_mode_t mode;
    keel_reasons_t reasons;
    int has_safe_gsync;         /* recovery/log_pressure */
    int has_safe_points;        /* the program calls keel_safe_point() */
    uint32_t pressure_reported; /* 1 + the incarnation of rank 0 that was */
    uint32_t pressure_checks;
    uint32_t pressure_phase; /* 1 + the phase in which it was told that an image is wanted */
    int is_stop_wanted;      /* rank 0: somebody's logs need an image */
    uint32_t stop;           /* the last gsync of this process that was a stop (epoch/stop) */
    keel_generation_t generation;
    unsigned generation_slot;
    keel_generation_t restored; /* what this process's memory is restored from: its own demand image, or the same */
    uint32_t restarted_at;      /* and its position then: 0 in the first life */
    keel_leave_t leave;

    /* rollback */
    keel_roll_t roll;
    uint32_t roll_target;  /* rollback number being established */
    uint64_t *roll_stages; /* per rank: roll_target << 2 | stage, as last heard */

    /* window calls before the first other communication */
    uint32_t window_prefix;
    int is_prefix_closed;

    keel_detect_t detect;
    keel_trim_t trim;

    keel_status_t fatal;        /* KEEL_OK, or what every call returns from now on */
    uint64_t mark_ns;           /* begin of the part of the own recovery that is under way, for times */
    uint64_t demand_recoveries; /* from an image of its own */
    uint64_t deaths, recoveries, rollbacks, rollbacks_in_doubt, differences, replayed_puts, replayed_gets,
        rebuilt_bytes;
    uint64_t times[KEEL_TIME_LAST];
};

/* ---- recover.c: life and progress ---- */

typedef struct keel_recovery_params {
    keel_lane_t *lane;
    keel_put_log_t *puts;
    keel_get_log_t *gets;
    keel_ckpt_t *ckpt;
    keel_demand_t *demand;
    keel_sync_t *sync;
    keel_message_t *message;
    keel_recovery_loop_t loop;
    /* hand-over: whether an access of this process still waits for the value of this record, whose target died: then it is sent
     * again by the callee, or ended with *found when that is not NULL */
    int (*on_fetch)(void *arg, uint32_t rank, const keel_fetch_t *fetch, const keel_fetched_t *found);
    void *arg;
} keel_recovery_params_t;

/* One round of progress of the whole process; does not block. */
static inline void keel_recovery_progress(const keel_recovery_t *rec)
{
    rec->loop.run(rec->loop.arg);
}
/* Progress, then gives the core away the longer the caller has been waiting. */
static inline void keel_recovery_wait(const keel_recovery_t *rec, unsigned *rounds)
{
    rec->loop.wait(rec->loop.arg, rounds);
}

/* where this process stands, as others are told */
static inline keel_rank_state_t keel_recovery_state(const keel_recovery_t *rec)
{
    return keel_life_state(rec->life);
}
/* the view has changed, and what follows is not decided */
static inline int keel_recovery_is_frozen(const keel_recovery_t *rec)
{
    return rec->view != KEEL_VIEW_STABLE;
}
static inline int keel_recovery_is_finished(const keel_recovery_t *rec)
{
    return rec->leave != KEEL_LEAVE_NOT;
}
static inline void keel_recovery_life_event(keel_recovery_t *rec, keel_life_event_t event)
{
    rec->life = keel_life_after(rec->life, event);
}
static inline void keel_recovery_view_event(keel_recovery_t *rec, keel_view_event_t event)
{
    rec->view = keel_view_after(rec->view, event);
}
static inline void keel_recovery_leave_event(keel_recovery_t *rec, keel_leave_event_t event)
{
    rec->leave = keel_leave_after(rec->leave, event);
}

/* nobody is dead or on its way back, as far as is known */
static inline int keel_recovery_all_are_live(const keel_recovery_t *rec)
{
    return !keel_recovery_is_frozen(rec) && rec->lane->not_live == 0;
}

/* nothing of a recovery is under way here: what this process has to do next, somebody tells it */
static inline int keel_recovery_is_idle(const keel_recovery_t *rec)
{
    return keel_recovery_all_are_live(rec) && keel_recovery_state(rec) == KEEL_RANK_FRONT;
}

/* some replacement, this process included, may be doing again what its predecessor did */
static inline int keel_recovery_is_reexecuting(const keel_recovery_t *rec)
{
    return keel_recovery_state(rec) != KEEL_RANK_FRONT || keel_sync_is_replaying(rec->sync) ||
           rec->life == KEEL_LIFE_AWAITING || (rec->recovered_front != 0 && rec->phase <= rec->recovered_front);
}

/* answered from records */
static inline void keel_recovery_count_gets(keel_recovery_t *rec, unsigned count)
{
    rec->replayed_gets += count;
}

/* where this process stands, and the front */
static inline void keel_recovery_set_position(keel_recovery_t *rec, uint32_t phase, uint32_t front)
{
    rec->phase = phase;
    rec->front = front;
    keel_sync_set_position(rec->sync, phase, front);
}

/* Gsync @a number, which this process is about to leave, is a stop. */
static inline void keel_recovery_note_stop(keel_recovery_t *rec, uint32_t number)
{
    rec->stop = number;
}

/* pos(x) of this process as others have to see it */
static inline uint32_t keel_position(const keel_recovery_t *rec)
{
    return (keel_recovery_state(rec) == KEEL_RANK_FRONT && rec->front > rec->phase && !KEEL_PLANT(momentary_position))
               ? rec->front
               : rec->phase;
}

/* where the memory of the image goes; called when the image lies checked in its slot, or generation 0 */
typedef keel_status_t (*keel_restore_cb_t)(void *arg, const void *image, size_t size);

#endif
