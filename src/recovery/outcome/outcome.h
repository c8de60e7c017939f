/*
 * Outcome of deaths for the operator: a line when the job has survived one or more deaths, and a
 * line with the sums at the end. The leader prints both (KEEL_LOG_LEVEL=warn, the default).
 *
 * A death is open until its line is printed. Each replacement reports its own part when caught up.
 * The leader prints the line when all open deaths have their parts, or when a rollback is over, and
 * announces the line to all ranks. All ranks keep this state, and exchange it with reports and
 * decisions, so a replacement of the leader can continue. A death is printed twice only if the
 * leader dies between the line and the announcement.
 */
#ifndef KEEL_RECOVERY_OUTCOME_H_
#define KEEL_RECOVERY_OUTCOME_H_

#include "peer/peer.h"

#define KEEL_OUTCOME_WHY_MAX 192

typedef struct keel_recovery keel_recovery_t;
struct decision;
struct keel_report;

/* A replacement's own recovery. */
typedef struct keel_outcome_part {
    uint64_t records; /* put records replayed */
    uint64_t bytes;   /* of its image */
    uint64_t sources; /* members of its group that the image was rebuilt from; a bit for each */
    uint32_t is_own;  /* the image is a demand image of the rank */
    uint32_t is_over; /* the replacement has caught up, or was restored by a rollback */
} keel_outcome_part_t;

/* Node of a process. */
typedef struct keel_outcome_place {
    uint32_t incarnation;
    uint32_t node; /* UINT32_MAX: not a node of the job's start */
} keel_outcome_place_t;

typedef struct keel_outcome_counts {
    uint32_t local;       /* deaths recovered locally */
    uint32_t rollbacks;   /* of the job */
    uint32_t checkpoints; /* coordinated checkpoints that were put into use */
    uint32_t reserved;
} keel_outcome_counts_t;

typedef struct keel_outcome_report {
    /* time since the first open death or request for a rollback; the leader keeps the moment */
    uint64_t noticed_ns;
    uint64_t saved_ns; /* time since the copy of the image in use; the leader keeps the moment */
    uint64_t work_ns;  /* lost by the open rollback */
    keel_outcome_part_t part;
    keel_outcome_counts_t counts;
    keel_outcome_place_t place; /* of the leader, as last known to the reporter */
    uint32_t node;              /* of the reporter */
    uint32_t is_rolled;         /* a rollback is open, for the reason why */
    char why[KEEL_OUTCOME_WHY_MAX];
} keel_outcome_report_t;

typedef struct keel_outcome_decided {
    uint64_t saved_ns; /* time since the copy of the decided image */
    uint64_t work_ns;  /* from that copy to the first open death */
    keel_outcome_counts_t counts;
    keel_outcome_place_t place; /* of the leader */
    uint32_t checkpoint;        /* number of the decided image among the checkpoints; 0: none */
    uint32_t reserved;
} keel_outcome_decided_t;

/* The leader: facts about each rank. */
typedef struct keel_outcome_rank {
    keel_outcome_part_t part;
    uint32_t part_incarnation;
    uint32_t node, node_incarnation; /* of the newest process with a report */
    uint64_t log_peak, log_most;     /* sums at the end */
    uint32_t checkpoints;
    uint32_t unborn; /* incarnations without a line that no process ever had */
    int is_finished;
} keel_outcome_rank_t;

typedef struct keel_outcome {
    uint32_t *printed;               /* by rank: number of deaths with a line */
    int is_open;                     /* a known death or rollback has no line yet */
    uint64_t noticed_ns, changed_ns; /* first and last death or request without a line; 0: none */
    uint64_t saved_ns;               /* moment of the copy of the image in use */
    uint32_t checkpoint;             /* of the last decision */
    keel_outcome_counts_t counts;    /* checkpoints: before those of this process */
    keel_outcome_part_t part;        /* of this process */
    uint32_t node;
    keel_outcome_place_t place; /* of the leader, by the last decision or report */
    /* the open rollback */
    int is_rolled, is_rolled_here; /* decided; complete in this process */
    uint64_t work_ns;
    char why[KEEL_OUTCOME_WHY_MAX];
    int is_for_good;
    uint64_t log_most; /* limit of the logs in bytes, for the sums */
    /* the leader only, by rank or node */
    keel_outcome_rank_t *ranks;
    uint32_t *deaths;
    uint8_t *sources, *scratch, *nodes;
    uint32_t node_count;
    uint64_t unborn; /* sum of those that are counted in printed[] */
} keel_outcome_t;

keel_status_t keel_outcome_init(keel_recovery_t *rec);
void keel_outcome_release(keel_recovery_t *rec);
/* Call before a death changes the view. */
void keel_outcome_death(keel_recovery_t *rec, uint32_t rank, uint32_t incarnation, uint32_t unborn);
/* Call when a rollback is requested. */
void keel_outcome_view_changes(keel_recovery_t *rec);
/* An image, copied at @a ns, was put into use. */
void keel_outcome_saved(keel_recovery_t *rec, uint64_t ns);
/* Number of checkpoints of the job so far. */
uint32_t keel_outcome_checkpoints(const keel_recovery_t *rec);
void keel_outcome_fill_report(const keel_recovery_t *rec, keel_outcome_report_t *report);
/* The leader: takes the outcome in the report of @a rank. */
void keel_outcome_take_report(keel_recovery_t *rec, uint32_t rank, struct keel_report *report);
/* The leader: fills in the outcome of a decision. */
void keel_outcome_decide(keel_recovery_t *rec, struct decision *d);
void keel_outcome_adopt(keel_recovery_t *rec, const struct decision *d);
/* The memory of this replacement is restored from its image. */
void keel_outcome_restored(keel_recovery_t *rec);
/* The rollback is over: all ranks are restored. */
void keel_outcome_rolled_back(keel_recovery_t *rec);
/* Reports the own part once over. The leader: prints the line when all parts are over. */
void keel_outcome_step(keel_recovery_t *rec);
void keel_outcome_receive_part(void *arg, const keel_control_in_t *in);
void keel_outcome_receive_printed(void *arg, const keel_control_in_t *in);

#endif
