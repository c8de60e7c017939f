/*
 * The state of a job: ranks, nodes, and what happens to them.
 *
 * Order of events: the master sends death(r, i) to every node before it has r's incarnation i + 1 started, and passes
 * on joins as they come, each channel being first in first out; so a node's clients hear death(r, i), then
 * join(r, i + 1). A rank is dead for the job when its process was waited for, or, its node being lost, when the
 * process's descriptor says that it ended: nothing of it runs any more.
 *
 * Nodes' channels are read one after another, but what any rank said before another's end counts before that end: an
 * end is only noted when it is read, and taken up when every channel was read once more (job_note_ends).
 */
#ifndef KEELRUN_JOB_H_
#define KEELRUN_JOB_H_

#include <sys/types.h>

#include "channel.h"
#include "fence.h"
#include "options.h"

#include <runtime/starved.h>

typedef enum {
    RANK_STARTING, /* a node was told to start it */
    RANK_RUNNING,
    RANK_ORPHANED, /* its node is lost: killed, its end not yet seen */
    RANK_LEFT,     /* exited with 0 */
    RANK_DEAD      /* and not started again: a spare takes its place */
} rank_state_t;

typedef struct job_rank {
    rank_state_t state;
    uint32_t incarnation, node;
    int pidfd;              /* of the running process, or -1 */
    bool is_connected;      /* PMIx_Init was called */
    bool is_over;           /* it has said that the job's last gsync is over */
    bool is_finalized;      /* PMIx_Finalize was called */
    bool is_killed;         /* this incarnation was sent SIGKILL by us */
    bool is_stopped;        /* this incarnation was sent SIGSTOP by us */
    bool has_met;           /* has everybody's address, in its first life */
    bool has_joined;        /* as a replacement; a spare that is called again says so again */
    bool has_started;       /* is through keel_init() */
    unsigned failed_starts; /* lives in succession that ended before, by nobody's will */
    bool has_exited;        /* its node said so, with exit_status; not taken up yet */
    bool is_exit_due;       /* and all channels were read since */
    int exit_status;
    pid_t pid;
    uint64_t started_ns;
    /* job_fence.c */
    bool is_accuser;          /* this incarnation has said of another rank that it does not hear it */
    uint32_t accused;         /* which */
    unsigned doubts;          /* how often */
    uint32_t heard;           /* how many it heard then, */
    uint64_t silence_ns;      /* for how long it had not heard that one, */
    uint64_t accused_ns;      /* and when that was */
    keel_reprieve_t reprieve; /* what became of that */
    bool must_move;           /* the next incarnation starts on another node */
    uint64_t fenced_ns;       /* when it was killed for being silent, 0: not; */
    unsigned fence_looks;     /* and how often it was looked whether its node has noticed */
} job_rank_t;

typedef struct job_node {
    channel_t channel;
    pid_t pid;
    bool is_ready; /* said hello */
    bool is_lost;
    uint32_t heir; /* where its ranks go when it is lost; itself: not chosen yet */
    /* when a rank on it was not heard by another node last although it ran, which took silence_ns to be seen; 0: never, and see
     * job_is_suspect() */
    uint64_t suspected_ns, silence_ns;
    bool has_failed; /* a rank on it said that it reaches nobody from there: none is started there again */
} job_node_t;

typedef struct job {
    const options_t *options;
    job_rank_t *ranks;
    job_node_t *nodes;
    fence_t *fences;
    uint32_t spares_left;
    struct {
        uint32_t rank, incarnation;
        int signal;
    } last_death;
    uint32_t absent_count; /* dead ranks that no spare has taken; the last one's signal */
    int absent_signal;
    uint32_t ready_count, met_count, finalized_count, left_count, connected_count;
    uint64_t start_ns, met_ns; /* met_ns: when all ranks had met; 0: not yet */
    bool is_over;              /* the last gsync is: who dies now is not needed, and who comes for it is turned away */
    bool has_death;            /* fences fail from now on */
    bool is_ending;
    int status;
    bool is_unwritten; /* what ranks print could not all be written */
    bool is_unmet;     /* a rank died before all had met: nothing was computed, and the job may be started anew */
    char *setting;     /* NAME=VALUE, with which it is to be started anew; or NULL */
} job_t;

void job_init(job_t *job, const options_t *options, const int *node_fds);
void job_release(job_t *job);
/* ends the job; the first call decides the status and prints its reason (NULL: none) */
void job_end(job_t *job, int status, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* one that is to be started anew is not: it ends with that status */
void job_give_up_starts(job_t *job, int status);

void job_on_message(job_t *job, uint32_t node, const message_t *message, const char *payload);
bool job_note_ends(job_t *job); /* whether some rank's end waits for the channels to be read */
void job_take_ends(job_t *job); /* they were read since */
void job_on_node_lost(job_t *job, uint32_t node);
void job_on_orphan_ended(job_t *job, uint32_t rank); /* a pidfd of a RANK_ORPHANED became readable */
void job_fire_marked(job_t *job, size_t kill);       /* the line that this kill waits for was written */
void job_fire_kills(job_t *job);                     /* those that are due; none when ranks have left */
uint64_t job_next_kill_ns(const job_t *job);         /* UINT64_MAX: none */
/* job_restart.c */
bool job_has_rank(const job_t *job, uint32_t process);            /* a spare that waits has none yet */
void job_count_failed_start(const job_t *job, job_rank_t *state); /* it died */
const char *job_why_no_restart(const job_t *job, uint32_t rank);  /* why a dead rank cannot be replaced, or NULL */
/* it came in the place of one that died when the last gsync was over, which was not known here yet */
bool job_was_turned_away(const job_t *job, const job_rank_t *state);
/* The NAME=VALUE of a request to start the job anew with it; NULL: no such request, or the environment has NAME, with which the
 * request would come again and again. */
char *job_setting(const char *payload, size_t length);
/* job_place.c */
uint32_t job_count_on_node(const job_t *job, uint32_t node);
bool job_move_rank(
    job_t *job, job_rank_t *state); /* to another node; false: its own is lost or has failed, and there is no other */
/* somebody does not hear a rank (job_fence.c) */
void job_on_suspicion(job_t *job, const message_t *message, const suspicion_t *suspicion);
/* a rank of that node was not heard by other nodes, and those that stayed there were not heard since */
bool job_is_suspect(const job_t *job, uint32_t node);
/* a rank of that node did not hear another, and is not to be believed */
bool job_is_doubtful(const job_t *job, uint32_t node);
void job_check_fences(job_t *job);            /* nodes that do not notice the death of their ranks */
uint64_t job_next_fence_ns(const job_t *job); /* when to look; UINT64_MAX: never */
void job_report_unfired(const job_t *job);

#endif
