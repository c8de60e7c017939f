/*
 * The ops table of a runtime: membership, deaths, replacements, and time. Implementations:
 * runtime/pmix and the simulator's. All calls come from the thread inside Keel.
 *
 * Every live process receives the events of a rank in the same order: death(r, i), then join(r, i +
 * 1), and so on. A process receives the joins announced after its own open() returned, and all
 * exits, earlier exits included.
 */
#ifndef KEEL_RUNTIME_OPS_H_
#define KEEL_RUNTIME_OPS_H_

#include "base/auth.h"
#include "base/counters.h"
#include "base/message.h"

#include <keel/def.h>
#include <keel/status.h>

typedef struct keel_runtime keel_runtime_t;

typedef enum {
    KEEL_EVENT_DEATH, /* this incarnation is certainly dead and will not run again */
    KEEL_EVENT_JOIN,  /* a replacement has joined; address is its argument of announce() */
    KEEL_EVENT_EXIT,  /* the rank left after finalize */
    /* after its death: no incarnation of the rank will join any more (KEEL_SHRINK) */
    KEEL_EVENT_GONE
} keel_event_type_t;

typedef struct keel_event {
    keel_event_type_t type;
    uint32_t rank;
    uint32_t incarnation;
    const void *address; /* valid until the next poll() */
    size_t address_len;
} keel_event_t;

/* Evidence of the calling process against a silent process. */
typedef struct keel_suspicion {
    uint32_t rank;
    uint32_t incarnation; /* KEEL_INCARNATION_ANY: unknown, since the rank was never heard */
    int is_absent;        /* the rank has not sent a first sign of life yet */
    uint32_t live;        /* count of processes believed alive, the suspect included */
    uint32_t heard;       /* count of these that answer, the caller included */
    /* duration of the silence; 0: the connection has just broken, which is no accusation */
    uint64_t silence_ns;
    /* earlier accusations of this silence; KEEL_REPEATS_ENOUGH: kill the process now */
    uint32_t repeats;
} keel_suspicion_t;

#define KEEL_REPEATS_ENOUGH UINT32_MAX

#define KEEL_INCARNATION_ANY UINT32_MAX
/* the entry of a gone rank in a view: larger than every incarnation of a process */
#define KEEL_INCARNATION_GONE (UINT32_MAX - 1)

/*
 * Writes the numbers of all spares, 0 .. runtime->spares - 1, in the order in which they are asked
 * to replace @a rank. The order is the same in every process at all times: the asking process may
 * change at any moment, and two askers must pick the same spare.
 */
typedef void (*keel_spare_order_cb_t)(void *arg, uint32_t rank, uint32_t *spare);

#define KEEL_NEEDS_MAX 16

/* Marks between the bytes that a process writes to standard output and error. */
typedef enum {
    /* an image was taken here; number 0: the program starts here */
    KEEL_MARK_SAVED,
    /*
     * the rank was restored: the following output was written before, from the mark of that image
     * on
     */
    KEEL_MARK_BACK
} keel_mark_t;

/* Work of a waiting spare, with the sizes last announced by need(). */
typedef keel_status_t (*keel_prepare_cb_t)(void *arg, const uint64_t *bytes, unsigned count);

#define KEEL_START_WITH_MAX 255 /* bytes of NAME=VALUE */

typedef struct keel_runtime_ops {
    const char *name;
    int is_threadless; /* ranks are no processes of their own: no thread may run beside them */
    keel_status_t (*open)(void *driver_arg, keel_runtime_t **runtime_p);
    void (*close)(keel_runtime_t *runtime); /* tells the launcher that this rank is done */
    /*
     * If open() returned a spare (is_spare): meets the other processes and waits for a rank to
     * take. Meanwhile calls @a prepare again as long as the callback returns KEEL_INPROGRESS, and
     * after each new need(). On success the spare has a rank. KEEL_ERR_STATE: the job ended without
     * a use for the spare.
     */
    keel_status_t (*await_rank)(keel_runtime_t *runtime, keel_prepare_cb_t prepare, void *arg);
    /*
     * Announces to waiting spares the sizes of the memory regions that a rank begins with; at most
     * KEEL_NEEDS_MAX. The message may be lost. NULL: there are no spares.
     */
    void (*need)(keel_runtime_t *runtime, const uint64_t *bytes, unsigned count);

    /*
     * First life: publishes the address and waits until all ranks have published theirs.
     * Replacement: announces the process by a join event.
     */
    keel_status_t (*announce)(keel_runtime_t *runtime, const void *address, size_t length);
    /* A replacement has completed keel_init(). NULL: not needed. */
    void (*started)(keel_runtime_t *runtime);
    /*
     * First life only, after announce(): the address of @a rank, freed by the caller with free().
     */
    keel_status_t (*lookup)(keel_runtime_t *runtime, uint32_t rank, void **address_p, size_t *length_p);

    /* Returns 1 and an event, or 0. Never blocks; cheap if there is no event. */
    int (*poll)(keel_runtime_t *runtime, keel_event_t *event_p);
    /*
     * Sets *news to 1, from any thread, whenever a new event awaits poll(). NULL: callers poll from
     * time to time.
     */
    void (*notify)(keel_runtime_t *runtime, uint8_t *news);
    uint64_t (*now_ns)(keel_runtime_t *runtime);
    /*
     * From now on poll() also receives the events of this host's network devices, reports them by
     * @a message, which must live as long, and counts them in hints. NULL: there are no devices to
     * watch.
     */
    void (*watch)(keel_runtime_t *runtime, const keel_message_t *message);
    /*
     * Reports a silent process. The runtime has the process examined, and killed if it still runs:
     * a death event follows like any other once no part of the process can run again. Repeated as
     * long as the silence lasts. A caller that is itself the suspect cannot go on in place, and
     * dies.
     * KEEL_OK: the report is being handled, or needs no handling; the arbiter may also find that
     * the other process has to die.
     * KEEL_ERR_UNREACHABLE: the process is certainly dead, and only the caller will announce the
     * death.
     * KEEL_ERR_UNSUPPORTED: no authority can examine or kill the process; a group of processes with
     * connections to more than half of the job may go on without it.
     */
    keel_status_t (*suspect)(keel_runtime_t *runtime, const keel_suspicion_t *suspicion);
    /*
     * Before announce(): the order in which spares are chosen from now on, see
     * keel_spare_order_cb_t. NULL: there are no spares. Without a call, spares are taken by number.
     */
    void (*use_spare_order)(keel_runtime_t *runtime, keel_spare_order_cb_t order, void *arg);
    /*
     * The launcher does not know of this incarnation's death and has to replace it. Every process
     * reports the death.
     */
    void (*replace)(keel_runtime_t *runtime, uint32_t rank, uint32_t incarnation);
    /*
     * The job has ended: from now on this process requests no replacements. NULL: never requests
     * any.
     */
    void (*finish)(keel_runtime_t *runtime);
    /*
     * Ends the whole job with @a status, for @a reason. Does not return if the runtime can end the
     * job.
     */
    void (*abort)(keel_runtime_t *runtime, int status, const char *reason);
    /*
     * Ends the job with @a status and has the launcher restart it with @a setting (NAME=VALUE) in
     * the environment. NULL: unsupported. KEEL_ERR_STATE: the variable is already set.
     * KEEL_ERR_UNSUPPORTED: this launcher restarts no jobs.
     */
    keel_status_t (*start_with)(keel_runtime_t *runtime, int status, const char *setting);
    /*
     * Flushes stdio, and lets a launcher drop the output that a re-execution prints again. NULL:
     * there is no output.
     */
    void (*mark)(keel_runtime_t *runtime, keel_mark_t mark, uint32_t number);
    /* Ends this process as SIGKILL would. NULL: unsupported. */
    void (*die)(keel_runtime_t *runtime);
    /* Receives each message of the context, with the runtime as arg. NULL: standard error. */
    void (*say)(void *runtime, keel_message_level_t level, const char *line);
} keel_runtime_ops_t;

struct keel_runtime {
    const keel_runtime_ops_t *ops;
    uint32_t rank, size, incarnation;
    uint32_t leader; /* rank that leads the job (peer/members.h), the same in every process */
    uint32_t spares; /* count of processes that wait, or waited, to replace a rank */
    int is_spare;    /* this process is a waiting spare and has no rank */
    /* no launcher reports deaths: a broken connection is a reason to examine the peer */
    int lacks_death_events;
    /* dead ranks without a replacement are declared gone (KEEL_EVENT_GONE), once and for good */
    int declares_gone;
    int is_emulated; /* nodes are numbers only: all processes run on one machine */
    /*
     * all processes, spares and later replacements included, reach each other over the loopback
     * interface
     */
    int is_one_host;
    /* network interface that the launcher names; NULL: none */
    const char *interface;
    /* node index of each rank, then of each spare; equal indexes share a node */
    uint32_t *node;
    /* name of each node, as of the first life: the same in every process; NULL: nameless */
    char **host;
    uint64_t hints;   /* events of network devices that a failure may follow */
    uint64_t day_ns;  /* time of day when now_ns() was 0 */
    keel_auth_t auth; /* secret of the job, known when announce() returns */
    char *place;      /* host of this process; NULL: the rank's first host, as far as known */
};

/*
 * The foundation of a context: keel_init() takes the drivers of this build, keel_init_on()
 * (job/init.h) any.
 */
typedef struct keel_drivers {
    const struct keel_transport_ops *transport; /* NULL: the transport that KEEL_TRANSPORT names */
    const keel_runtime_ops_t *runtime;
    void *runtime_arg;   /* driver_arg of runtime->open() */
    void *transport_arg; /* driver_arg of the transport */
    /* Receives each message. NULL: messages go to standard error. */
    void (*say)(void *arg, keel_message_level_t level, const char *line);
    void *say_arg;
    keel_counters_t counters; /* initial values */
} keel_drivers_t;

#endif
