/*
 * The ops table of who is there, who died, who replaces it, and of time. Implementations: runtime/pmix, the
 * simulator's. All calls come from the thread inside Keel.
 *
 * Events of one process reach every other live process, in the same order for the same rank: death(r, i), then
 * join(r, i + 1), ... A process hears the joins that are announced after its own open() returned, and all exits, also
 * those before.
 */
#ifndef KEEL_RUNTIME_H_
#define KEEL_RUNTIME_H_

#include "base/auth.h"
#include "base/counters.h"
#include "base/message.h"

#include <keel/def.h>
#include <keel/status.h>

typedef struct keel_runtime keel_runtime_t;

typedef enum {
    KEEL_EVENT_DEATH, /* this incarnation is dead for certain: nothing of it will run again */
    KEEL_EVENT_JOIN,  /* a replacement is there; address is what it gave to announce() */
    KEEL_EVENT_EXIT   /* it left after finalize */
} keel_event_type_t;

typedef struct keel_event {
    keel_event_type_t type;
    uint32_t rank;
    uint32_t incarnation;
    const void *address; /* valid until the next poll() */
    size_t address_len;
} keel_event_t;

/* what a process knows against another one */
typedef struct keel_suspicion {
    uint32_t rank;
    uint32_t incarnation; /* KEEL_INCARNATION_ANY: whichever is there, it has never been heard of here */
    int is_absent;        /* what is awaited is its first sign of life */
    uint32_t live;        /* processes taken for alive, the suspect included */
    uint32_t heard;       /* so many of these answer, this one included */
    uint64_t silence_ns; /* how long nothing was heard of it; 0: its connection broke just now, and nobody is accused */
    uint32_t repeats; /* so often it was accused of this silence before; KEEL_REPEATS_ENOUGH: it is to be killed now */
} keel_suspicion_t;

#define KEEL_REPEATS_ENOUGH UINT32_MAX

#define KEEL_INCARNATION_ANY UINT32_MAX

/*
 * Writes the numbers of all spares, 0 .. runtime->spares - 1, in the order in which they are to be asked to take the place of
 * @a rank. The same in every process at all times: who asks may change at any moment, and two have to ask the same one.
 */
typedef void (*keel_spare_order_cb_t)(void *arg, uint32_t rank, uint32_t *spare);

#define KEEL_NEEDS_MAX 16

/* in the order of what the process writes to standard output and error */
typedef enum {
    KEEL_MARK_SAVED, /* an image was taken here; number 0: the program's start is behind this */
    KEEL_MARK_BACK   /* it was restored: what follows was written before, from that place on */
} keel_mark_t;

/* what a spare does while it waits; as need() told last */
typedef keel_status_t (*keel_prepare_cb_t)(void *arg, const uint64_t *bytes, unsigned count);

#define KEEL_START_WITH_MAX 255 /* bytes of NAME=VALUE */

typedef struct keel_runtime_ops {
    const char *name;
    keel_status_t (*open)(void *driver_arg, keel_runtime_t **runtime_p);
    void (*close)(keel_runtime_t *runtime); /* tells the launcher that this rank is done */
    /*
     * When open() gave a spare (is_spare): meets the others and waits until it is to take a rank, which it has afterwards.
     * Meanwhile it calls @a prepare, again as long as that returns KEEL_INPROGRESS and whenever need() tells something new.
     * KEEL_ERR_STATE: the job came to its end without it.
     */
    keel_status_t (*await_rank)(keel_runtime_t *runtime, keel_prepare_cb_t prepare, void *arg);
    /* tells spares that wait which pieces of memory their lives as a rank would begin with; at most KEEL_NEEDS_MAX. May be
     * lost. NULL: there are no spares */
    void (*need)(keel_runtime_t *runtime, const uint64_t *bytes, unsigned count);

    /* first life: publishes the address and waits until all ranks have; replacement: announces itself by a join event */
    keel_status_t (*announce)(keel_runtime_t *runtime, const void *address, size_t length);
    /* a replacement is through keel_init(); NULL: nobody wants to know */
    void (*started)(keel_runtime_t *runtime);
    /* first life only, after announce(): the address of @a rank; freed by the caller with free() */
    keel_status_t (*lookup)(keel_runtime_t *runtime, uint32_t rank, void **address_p, size_t *length_p);

    int (*poll)(keel_runtime_t *runtime,
                keel_event_t *event_p); /* 1 and an event, or 0; never blocks, cheap when idle */
    /* from now on @a news is set to 1, from any thread, whenever there is something for poll() that was not there before.
     * NULL: calls look for it when time has passed */
    void (*notify)(keel_runtime_t *runtime, uint8_t *news);
    uint64_t (*now_ns)(keel_runtime_t *runtime);
    /* listens to the network devices of this host from now on, in poll(): says what they announce by @a message, which
     * has to live as long, and counts it in hints; NULL: there is nothing to listen to */
    void (*watch)(keel_runtime_t *runtime, const keel_message_t *message);
    /*
     * A process is silent. The runtime has whoever can do so find out whether it is gone, and kill it if it is not:
     * its death event follows like any other, when nothing of it can run again. Said again as long as the silence lasts.
     * Of the caller itself: it cannot go on where it is, and dies.
     * KEEL_OK: it is taken care of, or was not to be; the arbiter may also find that it is the other that has to die.
     * KEEL_ERR_UNREACHABLE: it is dead for certain, and nobody but the caller will tell the others.
     * KEEL_ERR_UNSUPPORTED: nobody can tell or kill; those who hear more than half of the job may go on without it.
     */
    keel_status_t (*suspect)(keel_runtime_t *runtime, const keel_suspicion_t *suspicion);
    /*
     * Before announce(): how spares are chosen from now on, see keel_spare_order_cb_t; NULL here: there are none. Without a
     * call they are taken by their number.
     */
    void (*use_spare_order)(keel_runtime_t *runtime, keel_spare_order_cb_t order, void *arg);
    /* the launcher does not know that this incarnation is dead: it has to be replaced. Every process says so. */
    void (*replace)(keel_runtime_t *runtime, uint32_t rank, uint32_t incarnation);
    /* the job has come to its end: from now on this process has nobody replaced. NULL: it never does */
    void (*finish)(keel_runtime_t *runtime);
    /* ends the whole job with @a status, for @a reason; does not return when the runtime can do so */
    void (*abort)(keel_runtime_t *runtime, int status, const char *reason);
    /*
     * Ends the job with @a status, and has the launcher start it anew with @a setting (NAME=VALUE) in its environment. NULL: it never does.
     * Returns KEEL_ERR_STATE where the variable is set already, and KEEL_ERR_UNSUPPORTED where this launcher does not.
     */
    keel_status_t (*start_with)(keel_runtime_t *runtime, int status, const char *setting);
    /* flushes stdio, and tells a launcher that prints once what is computed again; NULL: there is no output */
    void (*mark)(keel_runtime_t *runtime, keel_mark_t mark, uint32_t number);
    /* ends this process as SIGKILL would; NULL: it cannot be done */
    void (*die)(keel_runtime_t *runtime);
} keel_runtime_ops_t;

struct keel_runtime {
    const keel_runtime_ops_t *ops;
    uint32_t rank, size, incarnation;
    uint32_t spares; /* processes that wait, or waited, to take the place of a rank */
    int is_spare;    /* this one waits: it has no rank */
    int is_deaf;     /* no launcher tells of deaths: a broken connection is a reason to look */
    int is_emulated; /* nodes are only numbers: all processes run on one machine */
    int is_one_host; /* all processes, with spares and replacements to come, reach each other over the loopback interface */
    uint32_t *node;   /* node index of each rank and then of each spare; equal numbers share a node */
    char **host;      /* name of each node, where the ranks first ran: the same for every process; NULL: nameless */
    uint64_t hints;   /* events of network devices after which a failure may follow */
    keel_auth_t auth; /* the secret of the job, at the latest when announce() returns */
    char *place;      /* the host that this process runs on; NULL: where its rank first ran, as far as is known */
};

/* what a context stands on: keel_init() takes those of this build, keel_init_on() (job/init.h) any */
typedef struct keel_drivers {
    const struct keel_transport_ops *transport;
    const keel_runtime_ops_t *runtime;
    void *arg;                                                            /* driver_arg of both */
    void (*say)(void *arg, keel_message_level_t level, const char *line); /* messages; NULL: to standard error */
    keel_counters_t counters;                                             /* where they begin */
} keel_drivers_t;

#endif
