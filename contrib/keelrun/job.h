/*
 * The state of a job: ranks, nodes, and their events.
 *
 * Order of events: the master sends death(r, i) to every node before it has incarnation i + 1 of r
 * started, and forwards joins as they come, each channel being first in first out; so the clients
 * of a node receive death(r, i), then join(r, i + 1). A rank is dead for the job once its process
 * was waited for, or, after the loss of its node, once the process's descriptor reports the end: no
 * part of the process runs any more.
 *
 * The channels of nodes are read one after another, but messages that any rank sent before the end
 * of another rank count before that end: an end is only noted when read, and handled after every
 * channel was read once more (job_note_ends).
 */
#ifndef KEELRUN_JOB_H_
#define KEELRUN_JOB_H_

#include <sys/types.h>

#include "channel.h"
#include "fence.h"
#include "options.h"

#include <runtime/starved.h>

typedef enum {
    RANK_STARTING, /* a node was told to start the rank */
    RANK_RUNNING,
    RANK_ORPHANED, /* its node is lost: killed, but the end is not known yet */
    RANK_LEFT,     /* exited with 0 */
    RANK_DEAD      /* not started again: a spare takes its place */
} rank_state_t;

typedef struct job_rank {
    rank_state_t state;
    uint32_t incarnation, node;
    int pidfd;         /* of the running process, or -1 */
    bool is_connected; /* PMIx_Init was called */
    bool is_over;      /* has reported that the job's last gsync is over */
    bool is_finalized; /* PMIx_Finalize was called */
    bool is_killed;    /* keelrun sent SIGKILL to this incarnation */
    bool is_stopped;   /* keelrun sent SIGSTOP to this incarnation */
    bool has_met;      /* has all addresses, in its first life */
    /* joined as a replacement; a spare that is called again repeats the join */
    bool has_joined;
    bool has_started;       /* has completed keel_init() */
    bool was_recovered;     /* a replacement that had started when the first rank was over */
    unsigned failed_starts; /* consecutive lives that ended earlier, without a kill by keelrun */
    bool has_exited;        /* its node reported exit_status; not handled yet */
    bool is_exit_due;       /* all channels were read since the report */
    int exit_status;
    pid_t pid;
    uint64_t started_ns;
    /* job_fencing.c */
    bool is_accuser;          /* this incarnation has accused another rank of silence */
    uint32_t accused;         /* the accused rank */
    unsigned doubts;          /* count of accusations */
    uint32_t heard;           /* count of processes that the accuser heard at that time */
    uint64_t silence_ns;      /* duration of the silence */
    uint64_t accused_ns;      /* time of the accusation */
    keel_reprieve_t reprieve; /* reprieves of the accused */
    bool is_gone;             /* dead, and declared to have no replacement */
    bool must_move;           /* the next incarnation starts on another node */
    uint64_t fenced_ns;       /* time of the kill for silence; 0: none */
    unsigned fencing_looks;   /* looks at whether the node has noticed that kill */
} job_rank_t;

typedef struct job_node {
    channel_t channel;
    pid_t pid;
    bool is_ready; /* has sent its hello */
    bool is_lost;
    uint32_t heir; /* the node that takes its ranks after its loss; itself: not chosen yet */
    /*
     * time of the last accusation by another node of a rank here that still ran, and the duration
     * of that silence; 0: never; see job_is_suspect()
     */
    uint64_t suspected_ns, silence_ns;
    /* a rank reported that it reaches no peer from here: no rank starts here again */
    bool has_failed;
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
    uint32_t gone_count;   /* ranks declared gone */
    uint32_t absent_count; /* dead ranks without a spare so far, and the signal of the last one */
    int absent_signal;
    uint32_t ready_count, met_count, finalized_count, left_count, connected_count;
    uint64_t start_ns, met_ns; /* met_ns: when all ranks had met; 0: not yet */
    /* the last gsync is over: later deaths do not matter, and later replacements are turned away */
    bool is_over;
    bool has_death; /* fences fail from now on */
    bool is_ending;
    int status;
    bool is_unwritten; /* part of the ranks' output could not be written */
    /* a rank died before all had met: nothing was computed, and the job may be restarted */
    bool is_unmet;
    char *setting; /* NAME=VALUE for a restart of the job; NULL: none */
} job_t;

void job_init(job_t *job, const options_t *options, const int *node_fds);
void job_release(job_t *job);
/* Ends the job. The first call decides the status and prints its reason (NULL: no message). */
void job_end(job_t *job, int status, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Cancels a pending restart: the job ends with that status. */
void job_cancel_restart(job_t *job, int status);

void job_on_message(job_t *job, uint32_t node, const message_t *message, const char *payload);
bool job_note_ends(job_t *job); /* true if a rank's end waits for reads of the channels */
void job_take_ends(job_t *job); /* the channels were read since */
void job_on_node_lost(job_t *job, uint32_t node);
/* the pidfd of a RANK_ORPHANED became readable */
void job_on_orphan_ended(job_t *job, uint32_t rank);
void job_fire_marked(job_t *job, size_t kill); /* the line with this kill's marker was written */
/* carries out due kills; none once ranks have left */
void job_fire_kills(job_t *job);
uint64_t job_next_kill_ns(const job_t *job); /* UINT64_MAX: none */
/* job_restart.c */
/* a waiting spare has no rank yet */
bool job_has_rank(const job_t *job, uint32_t process);
/* May the other ranks go on without the dead rank? (KEEL_SHRINK) */
bool job_may_go_on(const job_t *job, uint32_t rank);
/* Do they? @a why: why the rank cannot be replaced, or NULL. Once a rank is gone, none is replaced:
 * no group has shares until the next checkpoint. */
bool job_goes_on(const job_t *job, uint32_t rank, const char *why);
void job_count_failed_start(const job_t *job, job_rank_t *state); /* the rank died */
/* why a dead rank cannot be replaced, or NULL */
const char *job_why_no_restart(const job_t *job, uint32_t rank);
/*
 * True if the process replaced a rank that died after the last gsync, before keelrun knew of that
 * gsync.
 */
bool job_was_turned_away(const job_t *job, const job_rank_t *state);
/*
 * The NAME=VALUE of a request to restart the job. NULL: no such request, or NAME is set already, so
 * the request would repeat forever.
 */
char *job_setting(const char *payload, size_t length);
/* job_place.c */
uint32_t job_count_on_node(const job_t *job, uint32_t node);
/* Moves the rank to another node. False: its node is lost or has failed, without another. */
bool job_move_rank(job_t *job, job_rank_t *state);
/* job_fencing.c: a process does not hear a rank */
void job_on_suspicion(job_t *job, const message_t *message, const suspicion_t *suspicion);
/*
 * True if other nodes did not hear a rank of the node, and have not heard its remaining ranks
 * since.
 */
bool job_is_suspect(const job_t *job, uint32_t node);
/* True if a rank of the node accused another rank and is not to be believed. */
bool job_is_doubtful(const job_t *job, uint32_t node);
/* handles nodes that do not notice the death of their ranks */
void job_check_fencing(job_t *job);
uint64_t job_next_fencing_ns(const job_t *job); /* time of the next check; UINT64_MAX: none */
void job_report_unfired(const job_t *job);

#endif
