/*
 * Internals of the simulator. A process is an incarnation of a rank. A link is a process's
 * knowledge of a peer: requests and replies queued towards the peer, one-sided operations in
 * flight. Links of a dead process live on: their contents are late traffic ("zombies") until the
 * target disconnects.
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
    SIM_NEW,        /* not started, or a future replacement: starts at wake_ns */
    SIM_READY,      /* runnable */
    SIM_WAITING,    /* inside wait(): until an arrival or wake_ns */
    SIM_SLEEPING,   /* until wake_ns, regardless of arrivals */
    SIM_ANNOUNCING, /* in the first barrier */
    SIM_HUNG,       /* runs nothing, including its service side, until wake_ns */
    SIM_RETURNED,
    SIM_DEAD
} sim_state_t;

/* ---- messages of the served lane ---- */

typedef struct sim_message {
    struct sim_message *next;
    void *data; /* buffer of the sender, or own copy */
    int is_copied;
    uint32_t header_len;
    size_t data_len;
    uint64_t sum; /* sum of data at the time of the send */
    /* operations to the same peer issued earlier; the message arrives behind them */
    uint64_t behind;
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
    size_t bytes, length; /* requested bytes; bytes in whole pages */
    char *wanted;         /* requested address, or NULL */
    char *base;           /* address for the owner */
    char *net;            /* address for all other ranks */
    size_t file_offset;
    int is_freed;
    int is_atomic; /* only atomics change words of the memory */
};

struct keel_transport_key {
    keel_transport_key_t *next;
    keel_transport_mem_t *mem;
    uint32_t peer;
    int is_open;
};

typedef enum { SIM_PUT, SIM_GET, SIM_ATOMIC, SIM_FLUSH } sim_op_kind_t;

struct sim_op {
    sim_op_t *next, *prev; /* in issue order on the link, later on the list of completions */
    sim_op_kind_t kind;
    sim_link_t *link;
    keel_transport_mem_t *mem;
    uint64_t offset;
    size_t length, split; /* split: cut of a torn transfer, 0 or length: not torn */
    unsigned pieces_left; /* bit 0: the part before split is pending, bit 1: the part after */
    const void *buffer;   /* source of a put; own copy if is_copied */
    void *result;         /* destination of a get or atomic; NULL: none, or the issuer is dead */
    keel_transport_atomic_t atomic;
    /* is_silent: no completion; the buffer may change already, or the caller is dead */
    int is_copied, is_silent;
    /* not executed: the memory was freed, and its owner had disconnected the issuer */
    int is_refused;
    uint64_t sum;
    uint64_t fence_epoch;
    uint64_t number; /* number on the link, from 1 */
    keel_transport_done_cb_t cb;
    void *cb_arg;
    keel_status_t status;
};

/* ---- process ---- */

struct sim_link {
    sim_process_t *owner;
    uint32_t peer;
    sim_process_t *target; /* connected incarnation; NULL: none */
    /* process that sent requests; may have connected before this process did */
    sim_process_t *reply_target;
    /* without launcher reports: incarnation with a broken connection already reported */
    sim_process_t *broken_to;
    unsigned lanes;
    sim_queue_t requests; /* queue to target's service side */
    sim_queue_t replies;  /* queue to reply_target's on_reply */
    sim_op_t *ops_head, *ops_tail;
    unsigned ops_count;
    uint64_t ops_issued;
    int channel_idx; /* index in sim->channels, -1: not listed */
    int oplink_idx;  /* index in sim->oplinks */
    int reply_idx;   /* index in reply_target->reply_in */
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

/* ---- stores that other ranks do not see yet (simstores.c) ---- */

/* maximum delayed stores of a process, including the pieces of one more */
#define SIM_STORES_MAX       96u
#define SIM_STORES_DRAWN_MAX 56u
#define SIM_STORE_BYTES      64u

typedef struct sim_store {
    char *to;
    uint32_t length;
    keel_stored_t how;
    uint32_t order, barrier; /* numbers of orders and barriers before the store */
    uint64_t number;
    /* the store stays invisible until then, unless the order requires it */
    uint64_t kept_ns;
    /* bytes not stored in @a to at the moment: the old contents while the process runs,
     * otherwise its new contents */
    char bytes[SIM_STORE_BYTES];
} sim_store_t;

typedef struct sim_stores {
    sim_store_t *store; /* in order of issue; NULL: no store yet */
    unsigned count, most;
    unsigned begun; /* index of the first entry of the newest store */
    int is_in_call; /* the process stands right after the newest store */
    uint32_t order, barrier;
    /* number of the newest store, and of the newest store seen by other ranks */
    uint64_t number, seen;
    int idx; /* index in sim->storing, -1: not listed */
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
    sim_process_t *earlier; /* the life before of the same rank, or NULL */
    uint32_t rank, incarnation;
    sim_state_t state;
    sim_fiber_t *fiber;
    uint64_t wake_ns;
    uint64_t timer_ns; /* nothing is due before, while the process is in sim->timers */
    int timer_idx;     /* index in sim->timers, -1: not listed */
    unsigned ready_idx;
    unsigned speed; /* chance, of 1024, that the scheduler takes the process when drawn */
    unsigned held;  /* mutexes held */
    int in_service; /* on_request or on_idle of the process runs */
    int is_started;
    int is_dumping; /* the report requests its stack */
    const char *where;

    uint8_t *news;    /* argument of runtime_ops.notify(), or NULL */
    uint64_t tick_ns; /* time of the last tick */

    /* runtime */
    /* time at which the launcher kills the process for silence; SIM_NEVER: not planned */
    uint64_t fence_ns;
    /* side in a split network; replacements are on side 0 */
    int side;
    /* declared dead: replaced as soon as the process has ended */
    int is_declared;
    /* number of suspicions by processes that hear from less than half of the job */
    unsigned accusations;
    keel_suspicion_t suspicion; /* its newest suspicion of another rank */
    uint64_t suspicion_ns;      /* time of suspicion; 0: none */
    /* left: by close(); gone: also by ending without close() */
    int is_joined, is_announced, is_left, is_gone;
    int is_unreplaced; /* dead, and declared to have no replacement */
    void *address;
    size_t address_len;
    sim_event_t *events;
    unsigned events_count, events_capacity;
    void *event_address; /* address returned by the last poll() */

    /* transport */
    int is_open;
    keel_transport_params_t params;
    sim_address_t own_address;
    sim_link_t *links;
    sim_list_t reply_in;
    sim_op_t *done_head, *done_tail;
    uint64_t fence_epoch;
    int idle_idx;
    int is_held;                   /* on_idle has requested another call */
    unsigned waits;                /* calls of wait() that may sleep */
    unsigned polls, polls_longest; /* polls since the last wait(), and their maximum */
    keel_transport_mem_t *mems;
    uint32_t mem_count;
    keel_transport_key_t *keys;
    uint32_t suspect; /* rank + 1 of a peer with a broken connection, 0: none */
    sim_allocation_t *allocations;
    sim_stores_t stores;
};

#define SIM_HASH_SIZE 16384

struct keel_sim {
    keel_sim_options_t options;
    uint32_t *node;  /* current node of each rank */
    uint32_t *first; /* initial node of each rank */
    keel_random_t random;
    keel_transport_ops_t transport_ops;
    keel_runtime_ops_t runtime_ops;
    struct keel_drivers drivers;
    sim_process_t **rank;   /* newest incarnation of each rank */
    sim_process_t *all;     /* all processes since the start */
    sim_process_t *current; /* process at work; NULL: the scheduler */
    int in_handler;         /* a handler runs on the scheduler's stack */
    uint64_t now_ns, step, hook_step, next_due_ns;
    uint32_t announced, alive;
    sim_list_t ready, channels, oplinks, idles, storing;
    sim_list_t timers;           /* heap by timer_ns (simtimers.c) */
    sim_list_t due;              /* processes of the timers that fire now */
    unsigned stores_shown;       /* nesting depth of keel_sim_stores_show() */
    keel_random_t stores_random; /* separate source: other draws do not depend on delayed stores */
    struct {
        unsigned run, message, op, idle, store; /* weights of the kinds of events */
        unsigned yield;                         /* chance, of 1024, that a call switches */
        uint64_t until_step;
    } weather;
    int has_ended, is_aborted;
    char flaw[SIM_FLAW_TEXT];
    char *trace;
    unsigned trace_next, trace_count;
    size_t pool_used;
    sim_allocation_t *allocation_hash[SIM_HASH_SIZE];
    const char *allocation_name;
    const char *denied; /* name of the allocations that fail; NULL: none */
};

/* the running world, for hooks without an argument */
extern keel_sim_t *sim_running;

static inline uint32_t sim_below(keel_sim_t *sim, uint32_t n)
{
    return keel_random_below(&sim->random, n);
}

static inline int sim_chance(keel_sim_t *sim, uint32_t in_1024)
{
    return keel_random_chance(&sim->random, in_1024);
}

/* the network between the two is gone forever */
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
/* returns its index; ends the program without memory */
int sim_list_add(sim_list_t *list, void *item);
/* returns the item moved to the free index, or NULL */
void *sim_list_remove(sim_list_t *list, unsigned idx);
void *sim_new(size_t bytes); /* zeroed; ends the program without memory */
/* point at which the caller may be switched away */
void sim_point(keel_sim_t *sim, const char *where);
void sim_give_way(sim_process_t *process, sim_state_t state, uint64_t wake_ns);
/* writes a message of a rank to the trace */
void sim_trace_line(void *arg, keel_message_level_t level, const char *line);
void sim_wake(sim_process_t *process); /* ends wait() */
void sim_make_ready(sim_process_t *process);
sim_process_t *sim_process_create(keel_sim_t *sim, uint32_t rank, uint32_t incarnation);
/* removes the process from the lists of runnable processes and of services, and frees its fiber */
void sim_process_stop(sim_process_t *process);
uint64_t sim_sum(const void *data, size_t length);

/* ---- simtimers.c ---- */
/* at @a ns, or later, something of the process is due */
void sim_due(sim_process_t *process, uint64_t ns);
void sim_timers(keel_sim_t *sim); /* wakes processes, and executes fences, that are due */

/* ---- simserved.c ---- */
extern const keel_transport_ops_t sim_transport_ops;
void sim_link_init(sim_link_t *link, sim_process_t *owner, uint32_t peer);
void sim_requests_drop(sim_link_t *link, unsigned keep);
void sim_replies_drop(sim_link_t *link, unsigned keep);
/* the target is dead: requests stay unread until disconnect() */
void sim_requests_stop(sim_link_t *link);
void sim_requests_own(sim_link_t *link); /* the sender dies: its buffers are copied */
/* the process begins or ceases to hang: requests wait, or are delivered */
void sim_service_update(sim_process_t *process);
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

void sim_op_step(keel_sim_t *sim, sim_link_t *link); /* progress of an operation of the link */
unsigned sim_ops_complete(sim_process_t *process, unsigned budget);
void sim_ops_fail(sim_link_t *link); /* disconnect: operations towards the peer complete now */
/* late operations of a dead process, or the end of the run */
void sim_ops_free(sim_link_t *link);
/* applies some operations, drops some, keeps some as late traffic */
void sim_ops_of_dead(sim_link_t *link);
void sim_ops_before(sim_link_t *link,
                    /* Operations up to @a number take effect, since the traffic behind them
                     * arrives. */
                    uint64_t number);
void sim_ops_land(sim_link_t *link); /* the process leaves in good order */
/* the target died: some operations took effect just before */
void sim_ops_to_dead(sim_link_t *link);
/* frees completions and keys of a dead process */
void sim_onesided_abandon(sim_process_t *process);
void sim_onesided_destroy(sim_process_t *process);

/* ---- simstores.c ---- */
/* the process runs: its own stores are visible to it */
void sim_stores_show(sim_process_t *process);
/* the process stands: other ranks do not see its delayed stores */
void sim_stores_hide(sim_process_t *process);
void sim_stores_step(keel_sim_t *sim, sim_process_t *process); /* one more store becomes visible */
/* all stores of a standing process become visible */
void sim_stores_make_visible(sim_process_t *process);
/* the same for a killed process, which may have died before its last stores */
void sim_stores_of_dead(sim_process_t *process);

/* ---- simmemory.c ---- */
int sim_pool_open(keel_sim_t *sim);
void sim_pool_close(keel_sim_t *sim);
/*
 * @a at: requested address, or NULL. All ranks live in one address space, so the address is only a
 * name: a request for it by the same rank, in the same or a later life, yields the same place.
 * Returns 0 without room.
 */
int sim_pool_take(keel_sim_t *sim, keel_transport_mem_t *mem, size_t bytes, char *at);
void sim_memory_hooks_set(keel_sim_t *sim); /* NULL: removes the hooks */
void sim_allocations_free(sim_process_t *process);

/* ---- crash.c ---- */
/* the process has returned, possibly without closing everything it opened */
void sim_exit(sim_process_t *process);
void sim_succeed(sim_process_t *process); /* a returned process was declared dead */
void sim_respawn(sim_process_t *process);
void sim_poison(sim_process_t *process);

/* ---- simruntime.c ---- */
extern const keel_runtime_ops_t sim_runtime_ops;
void sim_fence_check(sim_process_t *process); /* executes a fence that is due */
void sim_leave_job(sim_process_t *process);
void sim_event_post(sim_process_t *to, keel_event_type_t type, const sim_process_t *about, uint64_t due_ns);
uint64_t sim_event_next_due(const sim_process_t *process);

/* ---- simprocess.c ---- */
void sim_process_start(sim_process_t *process);
void sim_links_clear(sim_process_t *process);
void sim_process_free(sim_process_t *process);
void sim_unready(sim_process_t *process); /* in world.c */

/* ---- simconnect.c ---- */
sim_process_t *sim_process_of(keel_transport_t *transport);
keel_status_t sim_open(const keel_transport_params_t *params, keel_transport_t **transport_p);
void sim_close(keel_transport_t *transport);
keel_status_t sim_address_get(keel_transport_t *transport, const void **address_p, size_t *length_p);
keel_status_t sim_connect(keel_transport_t *transport, uint32_t peer, const void *address, size_t length,
                          unsigned *lanes_p);
void sim_disconnect(keel_transport_t *transport, uint32_t peer);
/* breaks the connection to @a peer and notifies the process */
void sim_break(sim_process_t *process, uint32_t peer);
unsigned sim_break_ended(sim_process_t *process);
void sim_channels_update(sim_process_t *process, uint32_t peer); /* in simserved.c */

/* ---- onesided.c, for simissue.c ---- */
void sim_op_append(sim_link_t *link, sim_op_t *op);
void sim_op_free(sim_op_t *op);
void sim_op_done(sim_op_t *op, keel_status_t status); /* reported by the next progress() */
/* copies the source of a put: the issuer may overwrite it */
void sim_op_capture(sim_op_t *op);
int sim_op_apply(keel_sim_t *sim, sim_op_t *op, int all);
keel_status_t sim_op_outcome(const sim_op_t *op);

#endif
