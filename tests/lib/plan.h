/*
 * A random race-free program: what each rank does in each phase, drawn from a seed before anything runs. Memory is cut
 * into slots; in a phase a slot is left alone, used by its owner's loads and stores, read by everyone, accessed by one
 * rank only (in as many epochs as it likes), or target of one commutative atomic by everyone. So the outcome does not
 * depend on timing.
 */
#ifndef KEEL_TEST_PLAN_H_
#define KEEL_TEST_PLAN_H_

#include <keel/keel.h>

#define PLAN_WINDOWS_MAX 8
#define PLAN_SLOTS_MAX   12
#define PLAN_SLOT_BYTES  8192
#define PLAN_EPOCH_OPS   8
#define PLAN_EPOCHS_MAX  3

typedef struct plan_options {
    uint64_t seed;
    uint32_t ranks, phases;
    unsigned windows, slots; /* of a window */
    unsigned large;          /* of 1024: slots beyond 256 bytes */
    unsigned atomics;        /* of 1024: slots used by atomics in a phase */
    int tame_atomics;        /* additions alone, of which none fetches from own memory: never in doubt when served */
    int fetchless;           /* and of those none fetches: then a death of their target alone is no rollback */
    int lone_fetches;        /* or only from words that nobody else does atomics on in that phase */
    unsigned unsafe;         /* of 1024: gsyncs that allow no checkpoint */
    unsigned checkpoints;    /* of 1024: phases that end with keel_checkpoint() */
    unsigned reuse;          /* of 1024: a get is followed by a put of what was got, before anything is flushed */
    unsigned fenced;         /* of 1024: a get that is under way is followed by a fence and a put to the same bytes */
    uint32_t gap;            /* bytes between two slots of a window, at most */
    int late_windows;        /* some are allocated in mid-program, and freed */
} plan_options_t;

typedef enum { PLAN_IDLE, PLAN_LOCAL, PLAN_OWNED, PLAN_SHARED, PLAN_ATOMIC } plan_role_kind_t;

typedef struct plan_role {
    uint8_t kind;
    uint8_t owner;        /* PLAN_OWNED: the rank that accesses it */
    uint8_t atomic, size; /* PLAN_ATOMIC: keel_atomic_op_t, 4 or 8 bytes */
    uint8_t is_written;   /* PLAN_LOCAL: by its owner */
} plan_role_t;

typedef struct plan_slot {
    uint32_t offset, length;
} plan_slot_t;

typedef struct plan_window {
    unsigned slot_count;
    plan_slot_t slot[PLAN_SLOTS_MAX];
    uint8_t slots_of[256]; /* how many of the slots a rank has */
    uint32_t born;         /* phase at whose start it is allocated */
    uint32_t dies;         /* phase at whose start it is freed; phases of the plan: never */
} plan_window_t;

typedef enum { PLAN_PUT, PLAN_GET, PLAN_UPDATE } plan_op_kind_t;
typedef enum { PLAN_BLOCKING, PLAN_REQUEST, PLAN_CALLBACK, PLAN_DETACHED } plan_mode_t;

typedef struct plan_op {
    uint8_t kind, mode;
    uint8_t window, slot;
    uint32_t target;
    uint32_t offset, length; /* in the window */
    uint8_t atomic;
    uint8_t is_fetching, is_observed; /* the old value is asked for; it may influence what follows */
    uint8_t is_conditional;           /* done or not as the program's state has it */
    uint8_t is_fenced;                /* a fence comes first */
    uint8_t wait_behind;              /* PLAN_REQUEST: ops of the epoch issued before it is waited for */
} plan_op_t;

typedef enum { PLAN_FLUSH_EACH, PLAN_FLUSH_ALL, PLAN_FENCE, PLAN_LEAVE_OPEN } plan_close_t;

typedef struct plan_epoch {
    unsigned op_count;
    plan_op_t op[PLAN_EPOCH_OPS];
    plan_close_t close;
    uint32_t compute_ns;
} plan_epoch_t;

typedef struct plan_step {
    unsigned epoch_count;
    plan_epoch_t epoch[PLAN_EPOCHS_MAX];
} plan_step_t;

typedef enum { PLAN_GSYNC, PLAN_GSYNC_SAFE, PLAN_CHECKPOINT } plan_sync_t;

typedef struct plan {
    plan_options_t options;
    unsigned window_count;
    plan_window_t window[PLAN_WINDOWS_MAX];
    plan_role_t *role; /* see plan_role() */
    plan_step_t *step; /* of (phase, rank) */
    uint8_t *sync;     /* plan_sync_t at the end of each phase */
    uint64_t fences;   /* state of a keel_random_t */
    unsigned has_atomics;
} plan_t;

/* ends the program when out of memory */
plan_t *plan_create(const plan_options_t *options);
void plan_destroy(plan_t *plan);

/* a collective window call of the program, in the order in which every rank makes them */
typedef struct plan_call {
    uint32_t phase; /* at whose start it is made */
    uint8_t window, is_free;
} plan_call_t;

/* call number @a number, or 0 when there are no more */
int plan_window_call(const plan_t *plan, unsigned number, plan_call_t *call);

plan_role_t *plan_role(const plan_t *plan, uint32_t phase, unsigned window, uint32_t rank, unsigned slot);
const plan_step_t *plan_step(const plan_t *plan, uint32_t phase, uint32_t rank);
size_t plan_window_bytes(const plan_t *plan, unsigned window, uint32_t rank);
/* whether remote ranks may change the slot during the phase */
int plan_is_remote(const plan_role_t *role);
/* bounds for what one rank accesses in the whole program, and for what is got from one rank, each access with 64 bytes */
size_t plan_source_bytes(const plan_t *plan);
size_t plan_target_bytes(const plan_t *plan);

#endif
