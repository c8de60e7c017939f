/*
 * Recovery: the processes of the job, the position of each rank, and the steps after a death
 * (protocol/recovery.md).
 *
 * A view is the vector of incarnations. A death changes it. A view is complete when every rank has
 * a live process and all of them have reported to the leader with this very vector; the leader then
 * decides once. Reports and decisions for another vector are ignored, so a further death only
 * repeats the reports. The death of the leader is a view like any other: its replacement needs
 * nothing but the reports. From the notice of a death until the decision a process passes no gsync
 * and commits no image.
 *
 * What happens at a death, in order; file.c names the code that acts:
 * 1. A runtime event, or the HELLO of a replacement, announces the death (recover.c; detect.c
 *    accuses silent neighbours).
 * 2. Every survivor cuts the connection, closes both logs towards the rank, and freezes: no
 *    gsync is passed, no image is committed, no put leaves for the rank (view.c keel_view_death()).
 *    Puts for the rank stay in the log.
 * 3. The launcher starts the replacement, which joins as FRESH and waits for a decision
 *    (job/init.c, rebuild.c).
 * 4. When all ranks are up again, each rank reports to the leader: positions, usage, pending
 *    atomics, images (view.c).
 * 5. The leader decides once for this view: local recovery, rollback with reason, or catastrophe
 *    (decide.c).
 * 6. All ranks adopt the decision and unfreeze (adopt.c). A rollback goes on with step 10.
 * 7. The replacement rebuilds its image from its group, gets its get log back from its peers and
 *    restores its memory; keel_restore() returns to the program (rebuild.c, epoch/restore.c). Then
 *    its group computes parity again.
 * 8. The program executes again. Gets are answered from records. At each position the survivors
 *    hand over the records of their put logs for that phase, then announce their arrival
 *    (position.c, hand_over.c). In a program that waits or locks the records go to the replay
 *    instead (sync/waits.c, sync/sections.c).
 * 9. At the front the replacement compares its re-execution with the records at its peers
 *    (hand_over_check.c), and becomes LIVE; pending accesses of the survivors are issued again.
 * 10. Rollback: every call returns KEEL_ERR_ROLLED_BACK or jumps to the restart point.
 *    keel_restore() drains the accesses under way, restores the image everywhere, and crosses two
 *    barriers (rollback.c).
 *
 * A further death at any step starts again at step 1 with a newer view.
 *
 * Invariants (each is a property in tests/sim):
 * - no rank passes gsync F + 1 before every replacement has reached F and has all hand-overs
 *   (position.c);
 * - actions of phase k reach a replacement at position k, in the order of the log, before its
 *   arrival count k + 1;
 * - a get is answered from its record if there is one, else only by a process at the same
 *   position.
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
#include "recovery/outcome/outcome.h"
#include "recovery/shrink_state.h"
#include "sync/sync.h"
#include "recovery/logs/trim.h"

typedef enum { KEEL_DECISION_NONE, KEEL_DECISION_LOCAL, KEEL_DECISION_ROLLBACK, KEEL_DECISION_CATASTROPHE } keel_mode_t;

typedef enum {
    KEEL_ROLL_NONE,
    KEEL_ROLL_PENDING, /* decided; the program has not called keel_restore() yet */
    KEEL_ROLL_DRAINED, /* announced: no access of the old computation is under way */
    KEEL_ROLL_RESTORED /* announced: memory is restored */
} keel_roll_t;

/* Why a process requests a rollback (rollback_request.c). */
typedef enum keel_rollback_reason {
    KEEL_ROLLBACK_NOT_REQUESTED,
    KEEL_ROLLBACK_PROGRAM, /* the program called keel_rollback() */
    KEEL_ROLLBACK_DIFFERS, /* the re-execution differs from the predecessor's records */
    /* there is no room for the predecessor's records, or for the only copy of an access */
    KEEL_ROLLBACK_NO_ROOM,
    /* the program begins to wait, or to mix, while a rank may be re-executing */
    KEEL_ROLLBACK_MIXES,
    /* the program acts on a word that other ranks change, with an unknown order */
    KEEL_ROLLBACK_CHANGES
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

    /* position */
    uint32_t phase;           /* gsyncs passed: pos */
    uint32_t arrived;         /* gsync last announced */
    uint32_t missing_arrival; /* the rank that had not arrived at the last check */
    uint32_t front;           /* F of the last adopted decision */
    uint32_t front_reached;   /* 1 + the front reached as a replacement; 0: never replaced */
    /* 1 + the front of the last local recovery; 0: none since the start or a rollback */
    uint32_t recovered_front;
    uint32_t incomplete_count; /* peer states that are not complete */
    keel_life_t life;
    int is_complete_announced; /* the hand-over of all ranks was announced */
    /* the hand-over of all ranks without pending fetches was announced */
    int is_others_announced;
    /* a rank refused a fetch because it holds another record by that number */
    int is_refused;
    keel_peer_state_t *peer_states; /* by rank */

    /* view */
    keel_view_t view;
    uint64_t decisions; /* decisions adopted */
    /* rollback requests known; names the view together with the incarnations */
    uint32_t request_number;
    keel_rollback_reason_t rollback_reason; /* of the own request */
    int is_undecided;                       /* sends no report: a death ends the job */
    keel_report_t **reports;                /* the leader: newest report of each rank */
    size_t report_size;

    /* decision */
    keel_mode_t mode;
    keel_reasons_t reasons;
    int has_safe_gsync;         /* recovery/logs/log_pressure */
    int has_safe_points;        /* the program calls keel_safe_point() */
    uint32_t pressure_reported; /* 1 + the incarnation of the leader that got the report */
    uint32_t pressure_checks;
    uint32_t pressure_phase; /* 1 + the phase of the last request for an image */
    int is_stop_wanted;      /* the leader: some rank's logs need an image */
    uint32_t stop;           /* the last gsync of the process that was a stop (epoch/stop) */
    keel_generation_t generation;
    unsigned generation_slot;
    /* what the process's memory is restored from: its own demand image, or the generation */
    keel_generation_t restored;
    uint32_t restarted_at; /* position after that restore; 0 in the first life */
    keel_leave_t leave;

    /* rollback */
    keel_roll_t roll;
    uint32_t roll_target;  /* rollback number in progress */
    uint64_t *roll_stages; /* per rank: roll_target << 2 | stage, as last announced */

    keel_shrink_t shrink;

    /* window calls before the first other communication */
    uint32_t window_prefix;
    int is_prefix_closed;

    keel_outcome_t outcome;
    keel_detect_t detect;
    keel_trim_t trim;

    keel_status_t fatal;        /* KEEL_OK, or the status of all further calls */
    uint64_t mark_ns;           /* begin of the present step of the own recovery, for times */
    uint64_t demand_recoveries; /* recoveries from an own demand image */
    uint64_t deaths, recoveries, rollbacks, rollbacks_in_doubt, differences, replayed_puts, replayed_gets,
        rebuilt_bytes;
    uint64_t times[KEEL_TIME_LAST];
};

/* ---- recover.c: begin and end ---- */

typedef struct keel_recovery_params {
    keel_lane_t *lane;
    keel_put_log_t *puts;
    keel_get_log_t *gets;
    keel_ckpt_t *ckpt;
    keel_demand_t *demand;
    keel_sync_t *sync;
    keel_message_t *message;
    keel_recovery_loop_t loop;
    /* Hand-over: returns 1 if an access of the process still waits for the value of the record,
     * after the target's death. The callee sends the access again, or ends it with *found if
     * that is not NULL. */
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

/* The own state as announced to other ranks. */
static inline keel_rank_state_t keel_recovery_state(const keel_recovery_t *rec)
{
    return keel_life_state(rec->life);
}
/* True from a change of the view until its decision. */
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

/* True if no rank is known to be dead or on its way back. */
static inline int keel_recovery_all_are_live(const keel_recovery_t *rec)
{
    return !keel_recovery_is_frozen(rec) && rec->lane->not_live == 0;
}

/* True if no recovery is under way here: a message or event announces each further step. */
static inline int keel_recovery_is_idle(const keel_recovery_t *rec)
{
    return keel_recovery_all_are_live(rec) && keel_recovery_state(rec) == KEEL_RANK_FRONT;
}

/* True if some replacement, the process included, may be re-executing accesses of its
 * predecessor. */
static inline int keel_recovery_is_reexecuting(const keel_recovery_t *rec)
{
    return keel_recovery_state(rec) != KEEL_RANK_FRONT || keel_sync_replays(rec->sync) != KEEL_STYLE_GSYNCS ||
           rec->life == KEEL_LIFE_AWAITING || (rec->recovered_front != 0 && rec->phase <= rec->recovered_front);
}

/* Counts gets answered from records. */
static inline void keel_recovery_count_gets(keel_recovery_t *rec, unsigned count)
{
    rec->replayed_gets += count;
}

/* Sets the own position and the front. */
static inline void keel_recovery_set_position(keel_recovery_t *rec, uint32_t phase, uint32_t front)
{
    rec->phase = phase;
    rec->front = front;
    keel_sync_set_position(rec->sync, phase, front);
}

/* Notes that gsync @a number, which is about to be left, is a stop. */
static inline void keel_recovery_note_stop(keel_recovery_t *rec, uint32_t number)
{
    rec->stop = number;
}

/* pos(x) of the process as announced to other ranks. */
static inline uint32_t keel_position(const keel_recovery_t *rec)
{
    return (keel_recovery_state(rec) == KEEL_RANK_FRONT && rec->front > rec->phase &&
            !KEEL_PLANT(recovery_momentary_position))
               ? rec->front
               : rec->phase;
}

/* Destination of the image's memory; called when the checked image lies in its slot, or for
 * generation 0. */
typedef keel_status_t (*keel_restore_cb_t)(void *arg, const void *image, size_t size);

#endif
