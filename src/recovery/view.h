/* What a view's reports and its decision carry: between view.c, decide.c and adopt.c. */
#ifndef KEEL_RECOVERY_VIEW_H_
#define KEEL_RECOVERY_VIEW_H_

#include "recovery/recovery.h"

/* what a fetch of a rank found; it is named by its serial among those of its process, 0: none */
typedef struct found_value {
    uint64_t old;
    uint32_t clock, serial;
} found_value_t;

typedef struct report_about {
    uint64_t touched;         /* words of that rank, a bit each, on which the reporter did atomics in its phase */
    uint64_t fetched;         /* and those of which it fetched the value, */
    uint64_t fetches_pending; /* or has yet to; */
    uint64_t values_found;    /* those of which it has it, or that it changed by it */
    found_value_t carried;    /* what a fetch of that rank found at another, as that one has told */
    uint32_t incarnation;
    uint32_t lost_puts;      /* 1 + last phase whose puts towards that rank are not all logged */
    uint32_t lost_gets;      /* 1 + last phase whose gets by that rank are not all logged */
    uint32_t atomics;        /* 1 + last phase in which that rank was seen to issue an atomic */
    uint32_t in_doubt;       /* and of those, one that may or may not have taken effect */
    uint32_t kinds;          /* classes of logged atomics towards that rank */
    uint32_t classes;        /* of atomics which that rank has used (peer/board.h) */
    uint32_t values_pending; /* values that the reporter awaits from it, in a program that waits */
    uint32_t
        serial; /* of the one fetch that it awaits from it, the last that it has begun; 0: there is none, or more */
    uint32_t may_lack_found; /* the reporter may have found what others did there, and was not told of it */
    uint32_t reserved;
    uint32_t hand_over_lost;     /* the reporter is a replacement that it died before it handed over to */
    keel_demand_start_t start;   /* its newest image, when that is a demand image, */
    keel_demand_start_t pending; /* and the one in the making */
} report_about_t;

struct keel_report {
    uint32_t state;
    uint32_t position;
    uint32_t front;
    uint32_t rollback;
    uint32_t is_rolling;
    uint32_t generation, slot, window_calls_there;
    uint32_t is_armed, is_demand_armed;
    uint32_t unmade;       /* the generation in the making; UINT32_MAX: a death aborted one, 0: neither */
    uint32_t restarted_at; /* it has logged from this position on */
    uint32_t is_prefix_closed, window_prefix;
    uint32_t atomics_before;  /* of the predecessor, as its decision said */
    uint32_t is_incomplete;   /* not all have handed over to it */
    uint32_t front_reached;   /* 1 + the front that it reached as a replacement; 0: none */
    uint32_t stop;            /* the last gsync that it left as a stop; 0: none */
    uint32_t request_number;  /* for a rollback */
    uint32_t rollback_reason; /* keel_rollback_reason_t: of the own request */
    keel_sync_told_t sync;
    keel_reasons_t reasons;
    report_about_t about[];
};

/* it does what comes next, and not again what its predecessor did */
static inline int report_is_back(const keel_report_t *report)
{
    return report->state == KEEL_RANK_FRONT && !report->sync.is_replaying;
}

typedef struct decision_rank {
    uint32_t incarnation;
    uint32_t state;
    uint32_t position;
    uint32_t has;           /* of the generation decided: KEEL_PARITY_HAS_* */
    uint32_t atomics;       /* 1 + last phase in which anybody saw it issue one */
    uint32_t classes;       /* of them, as anybody knows */
    uint32_t is_incomplete; /* as it reported */
    uint32_t has_demand;
    keel_demand_start_t start; /* position 0: the generation decided */
    found_value_t carried;     /* what the fetch found that it awaits */
    uint32_t hold_back_from;   /* 1 + the rank that is handed what it awaits when it has the rest of all; 0: none */
    uint32_t reserved;
} decision_rank_t;

typedef struct decision {
    uint32_t mode;
    uint32_t front;
    uint32_t generation, slot, window_calls;
    uint32_t base; /* position at which generation's memory stands */
    uint32_t rollback;
    uint32_t request_number;
    keel_sync_decided_t sync;
    uint32_t is_begun;      /* somebody has accessed something: generation 0 has the windows of before */
    uint32_t is_in_doubt;   /* rolls back because of atomics of the dead */
    uint32_t is_retry_due;  /* a generation that a death aborted: the next safe gsync is to take one */
    uint32_t is_for_good;   /* rolls back because of what the program is: as will each decision after it */
    uint32_t reason;        /* of the rollback; 0: none, or one that is said of another */
    keel_reasons_t reasons; /* this one among them */
    char why[192];
    decision_rank_t ranks[];
} decision_t;

/* where it would begin, were it brought back alone */
static inline uint32_t decision_start(const decision_t *d, uint32_t r)
{
    return (d->ranks[r].start.position != 0) ? d->ranks[r].start.position : d->base;
}

keel_status_t keel_view_init(keel_recovery_t *rec);
void keel_view_release(keel_recovery_t *rec);
void keel_view_death(keel_recovery_t *rec, uint32_t rank, uint32_t incarnation);
void keel_view_step(keel_recovery_t *rec); /* reports when the view is complete; decides at rank 0 */
void keel_view_receive_report(void *arg, const keel_control_in_t *in);
int keel_view_is_complete(const keel_recovery_t *rec); /* every rank is up */

#endif
