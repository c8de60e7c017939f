/* Content of reports and decisions, shared by view.c, decide.c and adopt.c. */
#ifndef KEEL_RECOVERY_VIEW_H_
#define KEEL_RECOVERY_VIEW_H_

#include "recovery/recovery.h"

/* Result of a fetch, named by its serial among the fetches of its process; 0: none. */
typedef struct found_value {
    uint64_t old;
    uint32_t clock, serial;
} found_value_t;

typedef struct report_about {
    /* bits of the rank's words with atomics of the reporter in its phase */
    uint64_t touched;
    uint64_t fetched;         /* words with a value fetched by the reporter, also implicitly */
    uint64_t fetches_pending; /* words with a pending fetch of the reporter */
    uint64_t values_found;    /* words with a value known to the reporter */
    /* last result of a fetch by the rank elsewhere, piggybacked to the reporter */
    found_value_t carried;
    uint32_t incarnation;
    uint32_t lost_puts; /* 1 + last phase with puts towards the rank that are not all logged */
    uint32_t lost_gets; /* 1 + last phase with gets by the rank that are not all logged */
    uint32_t atomics;   /* 1 + last phase with an atomic of the rank */
    /* 1 + last phase with an atomic of the rank that may or may not have taken effect */
    uint32_t in_doubt;
    uint32_t kinds;          /* classes of logged atomics towards the rank */
    uint32_t classes;        /* classes of atomics used by the rank (peer/board.h) */
    uint32_t values_pending; /* pending values from the rank, in a program that waits */
    /* serial of the only pending fetch from the rank, if it is the reporter's last; 0: none
     * or several */
    uint32_t serial;
    /* the reporter may have found effects of other ranks there without piggybacked values */
    uint32_t may_lack_found;
    uint32_t printed; /* deaths of the rank with a line */
    /* the reporter is a replacement, and the rank died before the hand-over */
    uint32_t hand_over_lost;
    uint32_t place;              /* in the order of the gone, by the last decision; 0: none */
    keel_demand_start_t start;   /* newest image of the rank, if a demand image */
    keel_demand_start_t pending; /* demand image of the rank in the making */
} report_about_t;

struct keel_report {
    keel_outcome_report_t outcome;
    uint32_t state;
    uint32_t position;
    uint32_t front;
    uint32_t rollback;
    uint32_t is_rolling;
    uint32_t generation, slot, window_calls_there;
    /* window calls up to the position, and up to the gsync in which the reporter is */
    uint32_t window_calls, window_calls_next;
    uint32_t is_armed, is_demand_armed;
    /* generation in the making; UINT32_MAX: a death aborted one; 0: neither */
    uint32_t unmade;
    uint32_t restarted_at; /* position from which the reporter has logs */
    uint32_t is_prefix_closed, window_prefix;
    uint32_t atomics_before; /* atomics of the predecessor, by its decision */
    uint32_t is_incomplete;  /* some rank has not handed over to the reporter */
    /* 1 + the front that the reporter reached as a replacement; 0: none */
    uint32_t front_reached;
    uint32_t stop;            /* the last gsync that the reporter left as a stop; 0: none */
    uint32_t request_number;  /* rollback requests known */
    uint32_t rollback_reason; /* the reporter's own rollback request */
    keel_sync_report_t sync;
    keel_reasons_t reasons;
    report_about_t about[];
};

/* True if the reporter is past all re-execution. */
static inline int report_is_back(const keel_report_t *report)
{
    return report->state == KEEL_RANK_FRONT && !report->sync.is_replaying;
}

typedef struct decision_rank {
    uint32_t incarnation;
    uint32_t state;
    uint32_t position;
    uint32_t has;           /* share of the decided generation: KEEL_PARITY_HAS_* */
    uint32_t atomics;       /* 1 + last phase in which some rank saw an atomic of the rank */
    uint32_t classes;       /* classes of the rank's atomics, joined over all reports */
    uint32_t is_incomplete; /* from the rank's own report */
    uint32_t has_demand;
    keel_demand_start_t start; /* position 0: the decided generation */
    found_value_t carried;     /* result of the rank's pending fetch */
    /* 1 + the rank that gets its pending fetch, and the records after it, when all others have
     * handed over; 0: none */
    uint32_t hold_back_from;
    uint32_t printed; /* deaths of the rank with a line */
    uint32_t place;   /* place in the order of the gone, from 1; 0: not gone */
} decision_rank_t;

typedef struct decision {
    keel_outcome_decided_t outcome;
    uint32_t mode;
    uint32_t front;
    uint32_t generation, slot, window_calls;
    uint32_t base; /* position of the generation's memory */
    uint32_t rollback;
    uint32_t request_number;
    keel_sync_decided_t sync;
    /* some rank has accessed another: generation 0 has the windows made before */
    uint32_t is_begun;
    uint32_t is_in_doubt; /* the reason are atomics of a dead rank */
    /* a death aborted a generation: the next safe gsync is to take one */
    uint32_t is_retry_due;
    /* the program itself is the reason: each further decision will be a rollback, too */
    uint32_t is_for_good;
    uint32_t is_shrink;     /* all go on without ranks that are gone */
    uint32_t is_passing;    /* the reason is a rollback under way */
    keel_reasons_t reasons; /* joined over all reports */
    char why[KEEL_OUTCOME_WHY_MAX];
    decision_rank_t ranks[];
} decision_t;

/* Position at which the rank begins if it comes back alone. */
static inline uint32_t decision_start(const decision_t *d, uint32_t r)
{
    return (d->ranks[r].start.position != 0) ? d->ranks[r].start.position : d->base;
}

keel_status_t keel_view_init(keel_recovery_t *rec);
void keel_view_release(keel_recovery_t *rec);
void keel_view_death(keel_recovery_t *rec, uint32_t rank, uint32_t incarnation);
/* reports when the view is complete; decides at the leader */
void keel_view_step(keel_recovery_t *rec);
/* While set, the rank sends no report, so no rank gets a decision (job/files_start). */
void keel_view_set_undecided(keel_recovery_t *rec, int is_undecided);
void keel_view_receive_report(void *arg, const keel_control_in_t *in);
int keel_view_is_complete(const keel_recovery_t *rec); /* true if every rank is up */

#endif
