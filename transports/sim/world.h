/*
 * Inside the simulator. A process is one incarnation of a rank; a link is what a process knows of one peer: requests
 * and replies queued towards it, one-sided operations under way. Links of the dead live on: what they still hold is
 * late traffic ("zombies"), until the target disconnects.
 */
#ifndef KEEL_SIM_WORLD_H_
#define KEEL_SIM_WORLD_H_

#include "sim/fiber.h"
#include "sim/random.h"
#include "sim/sim.h"

#define SIM_NEVER     UINT64_MAX
#define SIM_POISON    0xdd
#define SIM_FLAW_TEXT 1024

typedef struct sim_process sim_process_t;
typedef struct sim_link sim_link_t;
typedef struct sim_op sim_op_t;

typedef enum {
    SIM_NEW,        /* not started, or a replacement on its way: starts at wake_ns */
    SIM_READY,      /* may run */
    SIM_WAITING,    /* inside wait(): until something arrives or wake_ns */
    SIM_SLEEPING,   /* until wake_ns, whatever arrives */
    SIM_ANNOUNCING, /* in the first barrier */
    SIM_HUNG,       /* runs nothing, not even its service side, until wake_ns */
    SIM_RETURNED,
    SIM_DEAD
} sim_state_t;

/* ---- messages of the served lane ---- */

typedef struct sim_message {
    struct sim_message *next;
    void *data; /* the sender's buffer, or own copy */
    int is_copied;
    uint32_t header_len;
    size_t data_len;
    uint64_t sum;    /* of data when it was handed over */
    uint64_t behind; /* operations to the same peer that were issued before it: it arrives behind them */
    unsigned char header[KEEL_TRANSPORT_HEADER_MAX];
} sim_message_t;

typedef struct sim_queue {
    sim_message_t *head, **tail;
    unsigned count;
} sim_queue_t;

/* ---- one-sided ---- */

struct keel_transport_mem {
    keel_transport_mem_t *next;
    sim_process_t *owner;
    uint32_t id;
    size_t bytes, length; /* asked for, and in whole pages */
    char *wanted;         /* the address asked for, or NULL */
    char *base;           /* where the owner sees it */
    char *net;            /* where everybody else does */
    size_t file_offset;
    int is_freed;
    int is_atomic; /* its words are changed by atomics alone */
};

struct keel_transport_key {
    keel_transport_key_t *next;
    keel_transport_mem_t *mem;
    uint32_t peer;
    int is_open;
};

typedef enum { SIM_PUT, SIM_GET, SIM_ATOMIC, SIM_FLUSH } sim_op_kind_t;

struct sim_op {
    sim_op_t *next, *prev; /* in issue order on its link, then on the list of completions */
    sim_op_kind_t kind;
    sim_link_t *link;
    keel_transport_mem_t *mem;
    uint64_t offset;
    size_t length, split; /* split: where a torn transfer is cut, 0 or length: not */
    unsigned pieces_left; /* bit 0: the part before split, bit 1: the part after */
    const void *buffer;   /* of a put; own copy when is_copied */
    void *result;         /* of a get or atomic; NULL: none, or the issuer is dead */
    keel_transport_atomic_t atomic;
    int is_copied, is_silent; /* is_silent: the buffer may change already, or the caller is dead */
    int is_refused; /* nothing was done: the memory was given back, and its owner had disconnected the issuer */
    uint64_t sum;
    uint64_t fence_epoch;
    uint64_t number; /* of those on its link, from 1 */
    keel_transport_done_cb_t cb;
    void *cb_arg;
    keel_status_t status;
};

/* ---- process ---- */

struct sim_link {
    sim_process_t *owner;
    uint32_t peer;
    sim_process_t *target;       /* incarnation connected to; NULL: none */
    sim_process_t *reply_target; /* who asked; may be connected to this one before this one to it */
    sim_process_t *broken_to;    /* where no launcher tells: whose connection broke, and that was said */
    unsigned lanes;
    sim_queue_t requests; /* to target's service side */
    sim_queue_t replies;  /* to reply_target's on_reply */
    sim_op_t *ops_head, *ops_tail;
    unsigned ops_count;
    uint64_t ops_issued;
    int channel_idx; /* in sim->channels, -1: not there */
    int oplink_idx;  /* in sim->oplinks */
    int reply_idx;   /* in reply_target->reply_in */
};

typedef struct sim_event {
    keel_event_t event;
    uint64_t due_ns;
} sim_event_t;

typedef struct sim_address {
    uint64_t magic;
    uint32_t rank, incarnation;
} sim_address_t;

typedef struct sim_allocation {
    struct sim_allocation *hash_next, *next, *prev;
    sim_process_t *owner;
    void *memory;
    size_t bytes;
    const char *name;
    int is_arena;
} sim_allocation_t;

typedef struct sim_list {
    void **item;
    unsigned count, capacity;
} sim_list_t;

/* ---- stores that others do not see yet (simstores.c) ---- */

#define SIM_STORES_MAX  96u /* held back of one process: so many at most, and the pieces of one more */
#define SIM_STORES_MOST 56u
#define SIM_STORE_BYTES 64u

typedef struct sim_store {
    char *to;
    uint32_t length;
    keel_stored_t how;
    uint32_t order, barrier; /* how many of these were ahead of it */
    uint64_t number;
    uint64_t kept_ns;            /* it is not seen before, unless it has to be */
    char bytes[SIM_STORE_BYTES]; /* what is not at @a to now: while its process runs the others' view, else its own */
} sim_store_t;

typedef struct sim_stores {
    sim_store_t *store; /* as issued; NULL: none ever was */
    unsigned count, most;
    unsigned begun; /* of these, the first that belongs to what was stored last */
    int is_in_call; /* the process stands right after it */
    uint32_t order, barrier;
    uint64_t number, seen; /* of the last one issued, and of the last of those that others have seen */
    int idx;               /* in sim->storing, -1: not there */
} sim_stores_t;

struct sim_process {
    struct sim_transport {
        keel_transport_t super;
        sim_process_t *process;
    } transport;
    struct sim_runtime {
        keel_runtime_t super;
        sim_process_t *process;
    } runtime;

    keel_sim_t *sim;
    sim_process_t *all_next;
    uint32_t rank, incarnation;
    sim_state_t state;
    sim_fiber_t *fiber;
    uint64_t wake_ns;
    unsigned ready_idx;
    unsigned speed; /* of 1024: how readily the scheduler takes it */
    unsigned held;  /* mutexes */
    int in_service; /* its on_request or on_idle runs */
    int is_started;
    int is_dumping; /* the report wants its stack */
    const char *where;

    uint8_t *news;    /* what runtime_ops.notify() was given, or NULL */
    uint64_t tick_ns; /* when it was told last that time passes */

    /* runtime */
    uint64_t fence_ns;                             /* when the launcher kills it for being silent; SIM_NEVER: not */
    int side;                                      /* of a split network; replacements are on side 0 */
    int is_declared;                               /* the others go on without it: replaced as soon as it has ended */
    unsigned accusations;                          /* by processes that hear less than half of the job */
    keel_suspicion_t suspicion;                    /* what it has said of another last, */
    uint64_t suspicion_ns;                         /* and when; 0: nothing */
    int is_joined, is_announced, is_left, is_gone; /* left: by close(); gone: also by ending without it */
    void *address;
    size_t address_len;
    sim_event_t *events;
    unsigned events_count, events_capacity;
    void *event_address; /* handed out by the last poll() */

    /* transport */
    int is_open;
    keel_transport_params_t params;
    sim_address_t own_address;
    sim_link_t *links;
    sim_list_t reply_in;
    sim_op_t *done_head, *done_tail;
    uint64_t fence_epoch;
    int idle_idx;
    int is_held;                   /* its on_idle was called and wants to be again */
    unsigned waits;                /* that may have slept */
    unsigned polls, polls_longest; /* without a wait between them: now, in the longest row */
    keel_transport_mem_t *mems;
    uint32_t mem_count;
    keel_transport_key_t *keys;
    uint32_t suspect; /* rank + 1 of a peer whose connection broke, 0: none */
    sim_allocation_t *allocations;
    sim_stores_t stores;
};

#define SIM_HASH_SIZE 4096

struct keel_sim {
    keel_sim_options_t options;
    uint32_t *node;  /* where each rank runs now */
    uint32_t *first; /* and ran first */
    keel_random_t random;
    keel_transport_ops_t transport_ops;
    struct keel_drivers drivers;
    sim_process_t **rank;   /* newest incarnation of each */
    sim_process_t *all;     /* every process that ever was */
    sim_process_t *current; /* whose code runs; NULL: the scheduler's */
    int in_handler;         /* on the scheduler's stack */
    uint64_t now_ns, step, hook_step, next_due_ns;
    uint32_t announced, alive;
    sim_list_t ready, channels, oplinks, idles, storing;
    unsigned stores_shown;       /* keel_sim_stores_show() */
    keel_random_t stores_random; /* of its own: what else is drawn is as without */
    struct {
        unsigned run, message, op, idle, store; /* weights of what happens next */
        unsigned yield;                         /* of 1024: a call switches */
        uint64_t until_step;
    } weather;
    int has_ended, is_aborted;
    char flaw[SIM_FLAW_TEXT];
    char *trace;
    unsigned trace_next, trace_count;
    size_t pool_used;
    sim_allocation_t *allocation_hash[SIM_HASH_SIZE];
    const char *allocation_name;
};

/* the world that runs, for the hooks that carry no argument */
extern keel_sim_t *sim_running;

static inline uint32_t sim_below(keel_sim_t *sim, uint32_t n)
{
    return keel_random_below(&sim->random, n);
}

static inline int sim_chance(keel_sim_t *sim, uint32_t in_1024)
{
    return keel_random_chance(&sim->random, in_1024);
}

/* the network between them is gone, for ever */
static inline int sim_is_cut(const sim_process_t *a, const sim_process_t *b)
{
    return a->side != b->side;
}

static inline int sim_is_live(const sim_process_t *process)
{
    return (process != NULL) && (process->state != SIM_DEAD) && (process->state != SIM_RETURNED) &&
           (process->state != SIM_NEW);
}

/* ---- world.c ---- */
int sim_list_add(sim_list_t *list, void *item);        /* its index; ends the program when out of memory */
void *sim_list_remove(sim_list_t *list, unsigned idx); /* the item moved into its place, or NULL */
void *sim_new(size_t bytes);                           /* zeroed; ends the program when out of memory */
void sim_point(keel_sim_t *sim, const char *where);    /* a point where the caller may be switched away */
void sim_give_way(sim_process_t *process, sim_state_t state, uint64_t wake_ns);
/* what a rank says, into the trace */
void sim_say(void *arg, keel_message_level_t level, const char *line);
void sim_wake(sim_process_t *process); /* out of wait() */
void sim_make_ready(sim_process_t *process);
void sim_due(keel_sim_t *sim, uint64_t ns);
sim_process_t *sim_process_create(keel_sim_t *sim, uint32_t rank, uint32_t incarnation);
void sim_process_stop(sim_process_t *process); /* no longer ready, no service, fiber gone */
uint64_t sim_sum(const void *data, size_t length);

/* ---- simserved.c ---- */
extern const keel_transport_ops_t sim_transport_ops;
void sim_link_init(sim_link_t *link, sim_process_t *owner, uint32_t peer);
void sim_requests_drop(sim_link_t *link, unsigned keep);
void sim_replies_drop(sim_link_t *link, unsigned keep);
void sim_requests_stop(sim_link_t *link);        /* their target is dead: they stay, unread, until disconnect() */
void sim_requests_own(sim_link_t *link);         /* their sender dies: its buffers are copied */
void sim_service_update(sim_process_t *process); /* it hangs, or does not any more: requests wait, or are delivered */
void sim_channel_deliver(keel_sim_t *sim, sim_link_t *link);
void sim_idle_call(keel_sim_t *sim, sim_process_t *process);
void sim_idle_cancel(sim_process_t *process);

/* ---- onesided.c ---- */
keel_status_t sim_mem_alloc(keel_transport_t *transport, size_t bytes, void *address, keel_transport_mem_t **mem_p,
                            void **base_p);
void sim_mem_free(keel_transport_t *transport, keel_transport_mem_t *mem);
void sim_mem_expose(keel_transport_t *transport, keel_transport_mem_t *mem, unsigned lane);
keel_status_t sim_mem_pack(keel_transport_t *transport, keel_transport_mem_t *mem, void *blob, size_t *length_p);
keel_status_t sim_key_open(keel_transport_t *transport, uint32_t peer, const void *blob, size_t length,
                           uint64_t remote_base, keel_transport_key_t **key_p);
void sim_key_close(keel_transport_t *transport, keel_transport_key_t *key);
void *sim_key_ptr(keel_transport_key_t *key);
int sim_key_is_atomic(const keel_transport_key_t *key);
keel_status_t sim_atomic(keel_transport_t *transport, keel_transport_key_t *key, uint64_t offset,
                         const keel_transport_atomic_t *atomic, uint64_t *old, keel_transport_done_cb_t cb, void *arg);
keel_status_t sim_put(keel_transport_t *transport, keel_transport_key_t *key, const keel_transport_put_t *puts,
                      unsigned *count_p);
keel_status_t sim_get(keel_transport_t *transport, keel_transport_key_t *key, uint64_t offset, void *buffer,
                      size_t length, keel_transport_done_cb_t cb, void *arg);
keel_status_t sim_put_record(keel_transport_t *transport, keel_transport_key_t *key, uint64_t offset,
                             const void *buffer, size_t length);
void sim_fence(keel_transport_t *transport);
keel_status_t sim_flush(keel_transport_t *transport, uint32_t peer, keel_transport_done_cb_t cb, void *arg);

void sim_op_step(keel_sim_t *sim, sim_link_t *link); /* one operation of the link makes progress */
unsigned sim_ops_complete(sim_process_t *process, unsigned budget);
void sim_ops_fail(sim_link_t *link);    /* towards a peer being forgotten: they complete now */
void sim_ops_free(sim_link_t *link);    /* late ones of the dead, or at the end */
void sim_ops_of_dead(sim_link_t *link); /* some applied, some dropped, some late */
void sim_ops_before(sim_link_t *link,
                    uint64_t number);              /* those up to that one take effect: what comes after them arrives */
void sim_ops_land(sim_link_t *link);               /* of a process that leaves in good order */
void sim_ops_to_dead(sim_link_t *link);            /* some were applied just before */
void sim_onesided_abandon(sim_process_t *process); /* completions and keys of a dead process */
void sim_onesided_destroy(sim_process_t *process);

/* ---- simstores.c ---- */
void sim_stores_show(sim_process_t *process);                  /* it runs: it sees what it has stored, */
void sim_stores_hide(sim_process_t *process);                  /* and stands: others do not */
void sim_stores_step(keel_sim_t *sim, sim_process_t *process); /* others see one more */
void sim_stores_settle(sim_process_t *process);                /* all of them, of one that stands */
void sim_stores_of_dead(sim_process_t *process);               /* likewise, but it may have died before the last ones */

/* ---- simmemory.c ---- */
int sim_pool_open(keel_sim_t *sim);
void sim_pool_close(keel_sim_t *sim);
/*
 * @a at: the address asked for, or NULL. All ranks live in one address space, so it is but a name: who asks for it
 * again, in the same life or a later one, gets the same place. 0: no room.
 */
int sim_pool_take(keel_sim_t *sim, keel_transport_mem_t *mem, size_t bytes, char *at);
void sim_memory_hooks_set(keel_sim_t *sim); /* NULL: none */
void sim_allocations_free(sim_process_t *process);

/* ---- crash.c ---- */
void sim_exit(sim_process_t *process);    /* it returned, perhaps without having closed what it opened */
void sim_succeed(sim_process_t *process); /* it has returned, and was declared dead */
void sim_respawn(sim_process_t *process);
void sim_poison(sim_process_t *process);

/* ---- simruntime.c ---- */
extern const keel_runtime_ops_t sim_runtime_ops;
void sim_fences(keel_sim_t *sim); /* those that are due */
void sim_leave_job(sim_process_t *process);
void sim_event_post(sim_process_t *to, keel_event_type_t type, const sim_process_t *about, uint64_t due_ns);
uint64_t sim_event_next_due(const sim_process_t *process);

/* ---- simprocess.c ---- */
void sim_process_start(sim_process_t *process);
void sim_links_clear(sim_process_t *process);
void sim_process_free(sim_process_t *process);
void sim_unready(sim_process_t *process); /* world.c */

/* ---- simconnect.c ---- */
sim_process_t *sim_process_of(keel_transport_t *transport);
keel_status_t sim_open(const keel_transport_params_t *params, keel_transport_t **transport_p);
void sim_close(keel_transport_t *transport);
keel_status_t sim_address_get(keel_transport_t *transport, const void **address_p, size_t *length_p);
keel_status_t sim_connect(keel_transport_t *transport, uint32_t peer, const void *address, size_t length,
                          unsigned *lanes_p);
void sim_disconnect(keel_transport_t *transport, uint32_t peer);
void sim_break(sim_process_t *process, uint32_t peer); /* its connection to @a peer breaks, and it is told */
unsigned sim_break_ended(sim_process_t *process);
void sim_channels_update(sim_process_t *process, uint32_t peer); /* simserved.c */

/* ---- onesided.c, for simissue.c ---- */
void sim_op_append(sim_link_t *link, sim_op_t *op);
void sim_op_free(sim_op_t *op);
void sim_op_done(sim_op_t *op, keel_status_t status); /* told by the next progress() */
void sim_op_capture(sim_op_t *op);                    /* copies what is put: the issuer may write there again */
int sim_op_apply(keel_sim_t *sim, sim_op_t *op, int all);
keel_status_t sim_op_outcome(const sim_op_t *op);

#endif
