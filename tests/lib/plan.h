/*
 * A random race-free program: the accesses of each rank in each phase, drawn from a seed before the
 * run. Memory is cut into slots. In a phase a slot is unused, used by the owner's loads and stores,
 * read by all ranks, accessed by a single rank (in any number of epochs), or the target of one
 * commutative atomic of all ranks. So the outcome does not depend on timing.
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
    unsigned windows, slots; /* slots of a window */
    unsigned large;          /* slots of 1024 beyond 256 bytes */
    unsigned atomics;        /* slots of 1024 used by atomics in a phase */
    /* only additions, without fetches from own memory: never in doubt if served */
    int tame_atomics;
    /* additions never fetch: a death of their target alone is then no rollback */
    int fetchless;
    /* additions fetch only from words on which no other rank does atomics in that phase */
    int lone_fetches;
    unsigned unsafe;      /* gsyncs of 1024 that allow no checkpoint */
    unsigned checkpoints; /* phases of 1024 with keel_checkpoint() at the end */
    unsigned reuse;       /* gets of 1024 followed by a put to the same bytes before a flush */
    /* outstanding gets of 1024 followed by a fence and a put to the same bytes */
    unsigned fenced;
    uint32_t gap;     /* bytes between two slots of a window, at most */
    int late_windows; /* some windows are allocated during the program, and freed */
} plan_options_t;

typedef enum { PLAN_IDLE, PLAN_LOCAL, PLAN_OWNED, PLAN_SHARED, PLAN_ATOMIC } plan_role_kind_t;

typedef struct plan_role {
    uint8_t kind;
    uint8_t owner;        /* PLAN_OWNED: the accessing rank */
    uint8_t atomic, size; /* PLAN_ATOMIC: keel_atomic_op_t, 4 or 8 bytes */
    uint8_t is_written;   /* PLAN_LOCAL: written by the owner */
} plan_role_t;

typedef struct plan_slot {
    uint32_t offset, length;
} plan_slot_t;

typedef struct plan_window {
    unsigned slot_count;
    plan_slot_t slot[PLAN_SLOTS_MAX];
    uint8_t slots_of[256]; /* number of slots at each rank */
    uint32_t born;         /* the window is allocated at the start of this phase */
    /* the window is freed at the start of this phase; phases of the plan: never */
    uint32_t dies;
} plan_window_t;

typedef enum { PLAN_PUT, PLAN_GET, PLAN_UPDATE } plan_op_kind_t;
typedef enum { PLAN_BLOCKING, PLAN_REQUEST, PLAN_CALLBACK, PLAN_DETACHED } plan_mode_t;

typedef struct plan_op {
    uint8_t kind, mode;
    uint8_t window, slot;
    uint32_t target;
    uint32_t offset, length; /* in the window */
    uint8_t atomic;
    /* the old value is fetched; the value may influence later accesses */
    uint8_t is_fetching, is_observed;
    uint8_t is_conditional; /* the program's state decides whether the access is made */
    uint8_t is_fenced;      /* a fence precedes the access */
    /* PLAN_REQUEST: ops of the epoch issued before the wait for the request */
    uint8_t wait_behind;
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

/* Ends the program if out of memory. */
plan_t *plan_create(const plan_options_t *options);
void plan_destroy(plan_t *plan);

/* A collective window call of the program; every rank makes these calls in the same order. */
typedef struct plan_call {
    uint32_t phase; /* the call is made at the start of this phase */
    uint8_t window, is_free;
} plan_call_t;

/* Returns call number @a number. Returns 0 after the last call. */
int plan_window_call(const plan_t *plan, unsigned number, plan_call_t *call);

plan_role_t *plan_role(const plan_t *plan, uint32_t phase, unsigned window, uint32_t rank, unsigned slot);
const plan_step_t *plan_step(const plan_t *plan, uint32_t phase, uint32_t rank);
size_t plan_window_bytes(const plan_t *plan, unsigned window, uint32_t rank);
/* True if remote ranks may change the slot during the phase. */
int plan_is_remote(const plan_role_t *role);
/* Bounds for the bytes that a rank accesses in the whole program, and for the bytes got from a
 * rank; each access counts 64 bytes more. */
size_t plan_source_bytes(const plan_t *plan);
size_t plan_target_bytes(const plan_t *plan);

#endif
