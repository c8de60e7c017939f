/* The context: all state of one process. */
#ifndef KEEL_ENGINE_CONTEXT_H_
#define KEEL_ENGINE_CONTEXT_H_

#include "recovery/recovery.h"
#include "engine/fragment_state.h"
#include "engine/gate.h"
#include "engine/hooks.h"
#include "engine/progress.h"
#include "engine/site.h"
#include "engine/win_handle.h"

#include <keel/keel.h>

typedef struct keel_protected {
    uint32_t id;
    void *address;
    size_t bytes;
    /* contents when the region was protected: generation 0 */
    void *initial;
} keel_protected_t;

/* Memory that is zeroed in a child of fork() (engine/fork), with the cache of the last put,
 * which a child must not use. */
struct keel_home {
    int process; /* process number; 0 in a child */
    /* keel_context_cached_target() of the last put, if the next one may take the short way; 0: no.
     * The rank is touched, and its doorbell is pending. */
    uint64_t cached_target;
    keel_put_target_t *log;
    keel_board_slot_t *slot; /* the own slot there */
    uint64_t phase;          /* keel_phase_word() of number 0 */
    /* window of that put: its mapping here, and the offset of its last word */
    const struct keel_win *win;
    char *base;
    uint64_t last;
};

#define KEEL_DOORBELLS_MAX 8 /* one more rings them all */

/* Stops (epoch/stop). */
typedef struct keel_stops {
    int is_offered;      /* the process has called keel_safe_point() */
    uint32_t blocked_by; /* the last rank found in a call that is no safe point */
    uint64_t calls;      /* calls of keel_safe_point() */
    /* calls between two stops for full logs; doubles while stops give no image */
    uint64_t gap;
    uint64_t not_before; /* call of keel_safe_point() */
} keel_stops_t;

struct keel_context {
    /* used by fast paths */
    keel_lane_t lane;
    keel_put_log_t puts;
    int is_logging; /* puts are logged */
    /* ranks that run the program; 0: no access takes its fast path */
    uint32_t fast_ranks;
    keel_gate_word_t gate;
    keel_stats_t stats;

    keel_get_log_t gets;
    keel_segment_pool_t pool;
    size_t logs_most; /* limit of the logs' growth, bytes, with KEEL_OPLOG_SIZE=auto */
    keel_ckpt_t ckpt;
    keel_demand_t demand;
    keel_sync_t sync;
    keel_recovery_t rec;
    keel_progress_t progress;
    keel_config_t config;
    keel_message_t message;
    keel_runtime_t *runtime;
    /* transport of a process that waited as a spare; the lane takes it over */
    keel_transport_t *prepared;
    /* the process may still hold memory that it made as a spare */
    int was_spare;
    struct {
        uint64_t changes; /* lane->changes at the last check */
        uint64_t bytes[KEEL_NEEDS_MAX];
        unsigned count;
    } need; /* sizes last announced to spares */
    keel_site_t site;
    keel_hooks_t hooks;

    struct {
        struct keel_win **list;
        unsigned count, room;
        struct keel_win *gone; /* list of windows that rollbacks removed */
        uintptr_t next_address;
        uint32_t calls; /* collective calls of windows so far */
        /* calls of the image when the program was last asked to repeat calls before
         * keel_restore() */
        uint32_t calls_missed;
    } windows;
    keel_protected_t *protected_regions;
    unsigned protected_count;
    /* the process has accessed other ranks' memory since the start or a rollback, and the first
     * accessed rank knows */
    int is_open;
    keel_part_t *parts;
    /* locks and attachments on the way to or from an image */
    void *locks_image, *attached_image;
    /* the own program is past its start; other ranks may still be in theirs */
    int is_started;

    const keel_poll_ops_t *polls; /* all gets are polls; NULL: only gets that ask for it */
    keel_get_own_t get_own;       /* any get from the own rank */
    /* programs that wait: ranks with stored puts that may sleep and are not woken yet */
    struct {
        uint32_t ranks[KEEL_DOORBELLS_MAX];
        uint32_t count;
    } doorbells;
    /* with KEEL_GATE_READ: the rank with a read that has no record there yet */
    uint32_t read_rank;
    uint32_t *fragments_open; /* gets under way, by rank */
    /* Ranks with accesses since the last flush of all that need more than an order of stores. */
    struct {
        uint32_t *ranks;
        uint32_t count;
        uint8_t *has; /* by rank: 1 if the rank is in the list */
    } touched;
    /* puts and atomics issued when all unsent ones were last sent */
    uint64_t issued_started;
    unsigned gsync_polls; /* polls of the arrivals in the next gsync before its first wait */
    struct {              /* ranks accessed by fast paths (order/announce) */
        /* only the ranks in the list; otherwise all live ranks that know the own usage */
        int is_list;
        uint32_t *ranks;
        uint32_t count;
    } reached;
    struct {
        ucs_list_link_t free, deferred; /* deferred: until the target is live */
    } fragments;
    ucs_list_link_t groups; /* groups of ranks that the program has made */
    ucs_list_link_t stores; /* stores that the program has made */
    void *chunks;           /* memory of fragments and requests */
    struct {
        struct keel_req *free, *due, *due_last; /* due: complete, callbacks still to be called */
    } requests;
    /* served lane: room for a record that does not fit the log */
    struct {
        uint8_t *record;
        uint32_t rank; /* target of the last record sent from here */
    } bounce;
    /* old and new values of the atomics of a record; NULL: not allocated yet */
    char *changes;
    /* rma/exclude: this process reaches all ranks by stores, as of lane.changes */
    struct {
        uint64_t changes;
        int is_single_node;
    } exclude;
    struct {
        int is_pending;
        uint64_t value;
        keel_status_t status;
    } ask; /* served lane: lock request under way */
    /* nondeterministic program: accessed ranks know of its first access */
    int has_begun;
    uint64_t begun_ns; /* time when the runtime was ready */
    /* replacement: the program has yet to call keel_restore() */
    int is_restore_due;
    int has_restart;    /* KEEL_RESTART_POINT() was passed */
    unsigned callbacks; /* callbacks of the program that are running */
    uint64_t called;    /* callbacks begun */
    struct keel_home *home;
    int is_child_reported;
    struct {
        jmp_buf jump;
        pthread_t thread; /* the thread that owns the stack of the restart point */
    } restart;
    const keel_rehearsal_ops_t *rehearsal; /* NULL: no rehearsal */
    struct keel_rehearse *rehearse;        /* state of the rehearsal */
    struct keel_threads *threads;          /* NULL: one thread at a time (engine/threads) */
    /* ranks' window locks held by the process (epoch/win_lock) */
    unsigned windows_locked;
    /* the lock by bias that is becoming visible to other ranks (order/win_share) */
    struct {
        int is_pending; /* requested */
        unsigned window;
        uint32_t rank;
        uint64_t answer;
    } share;
    /* ranks from 0 on that share no lock by bias, because this rank has revoked it */
    uint32_t revoked_by;
    keel_stops_t stops;
    struct keel_files *files; /* checkpoints in files (job/files); NULL: none */
};

#define keel_error_ctx(_ctx, ...) keel_error(&(_ctx)->message, __VA_ARGS__)

/* Gate bits and news; 0 if any fast path may be taken. */
static inline uint32_t keel_context_gate(const keel_context_h ctx)
{
    return __atomic_load_n(&ctx->gate.all, __ATOMIC_RELAXED);
}

/* Gate bits in the way of puts and gets, except for @a but. */
static inline uint32_t keel_context_gate_rma(const keel_context_h ctx, uint32_t but)
{
    return keel_context_gate(ctx) & ~(but | KEEL_GATE_DEVICE);
}

static inline void keel_gate_set(keel_context_h ctx, enum keel_gate bits)
{
    ctx->gate.part.bits |= (uint8_t)bits;
}

static inline void keel_gate_clear(keel_context_h ctx, enum keel_gate bits)
{
    ctx->gate.part.bits &= (uint8_t)~bits;
}

static inline int keel_gate_has(const keel_context_h ctx, enum keel_gate bits)
{
    return (ctx->gate.part.bits & bits) != 0;
}

static inline int keel_fork_is_child(const keel_context_h ctx)
{
    return __builtin_expect(ctx->home->process == 0, 0);
}

/* Programs that wait: puts to @a rank under the clock; not 0. */
static inline uint64_t keel_context_cached_target(uint32_t rank, uint32_t clock)
{
    return (uint64_t)clock << 32 | (rank + 1);
}
static inline uint32_t keel_context_cached_rank(const keel_context_h ctx)
{
    return (uint32_t)ctx->home->cached_target - 1;
}
/* Sends the next put to the generic path. */
static inline void keel_context_uncache(const keel_context_h ctx)
{
    ctx->home->cached_target = 0;
}

/* Makes progress if there is news. Every call that communicates does so, so that a program
 * without waits also notices deaths and takes part in recovery. Calls derive peers' states only
 * afterwards. */
void keel_context_poll(keel_context_h ctx);
/* Returns KEEL_OK if the program may communicate now. */
keel_status_t keel_context_check(keel_context_h ctx);

/* See keel_runtime_ops_t.mark. */
static inline void keel_context_mark(keel_context_h ctx, keel_mark_t mark, uint32_t number)
{
    if (ctx->runtime->ops->mark != NULL) {
        ctx->runtime->ops->mark(ctx->runtime, mark, number);
    }
}
/* keel_context_check() for any call but a window's: from the first such call on, the windows
 * made so far belong to generation 0. */
keel_status_t keel_context_begin(keel_context_h ctx);
/* In a callback reports and returns KEEL_ERR_STATE: the surrounding call is not over. */
keel_status_t keel_context_check_outside(keel_context_h ctx, const char *call);
/* keel_context_begin() and keel_context_check_outside(). */
keel_status_t keel_context_begin_outside(keel_context_h ctx, const char *call);
/* Tells the program that the job rolls back: jumps to the restart point, or returns
 * KEEL_ERR_ROLLED_BACK if there is none. */
keel_status_t keel_context_rolled_back(keel_context_h ctx);
/* End of a public call: returns @a status, or jumps to the restart point. */
static inline keel_status_t keel_context_end(keel_context_h ctx, keel_status_t status)
{
    return __builtin_expect(status == KEEL_ERR_ROLLED_BACK, 0) ? keel_context_rolled_back(ctx) : status;
}
static inline keel_status_t keel_win_end(keel_win_h win, keel_status_t status)
{
    return __builtin_expect(status == KEEL_ERR_ROLLED_BACK, 0) ? keel_context_rolled_back(win->ctx) : status;
}
/* Makes one round of progress without waiting; returns the status for the caller. */
keel_status_t keel_context_progress(keel_context_h ctx);
/* Actions of one thread at a time (threads.h). */
enum keel_turn { KEEL_TURN_ASK, KEEL_TURN_LOCK, KEEL_TURN_LAST };
/* Waits for the turn. Returns KEEL_OK, or without the turn the status for the caller. */
keel_status_t keel_context_take_turn(keel_context_h ctx, enum keel_turn what);
/* Makes progress and gives the core away; returns the status for the caller. */
keel_status_t keel_context_wait(keel_context_h ctx, unsigned *rounds);

static inline void keel_context_touch(keel_context_h ctx, uint32_t rank)
{
    if (!ctx->touched.has[rank]) {
        ctx->touched.has[rank] = 1;
        ctx->touched.ranks[ctx->touched.count++] = rank;
    }
}
/* Touches a rank with an access amid which other threads may have issued more: earlier accesses
 * may be unsent. */
static inline void keel_context_touch_again(keel_context_h ctx, uint32_t rank)
{
    ctx->issued_started = UINT64_MAX;
    keel_context_touch(ctx, rank);
}

enum {
    KEEL_GSYNC_EXPLICIT = 1u << 16,
    KEEL_GSYNC_FINAL = 1u << 17,
    /* call of a rank that follows the others; the gsync may turn out to be the last */
    KEEL_GSYNC_FOLLOW = 1u << 18,
    KEEL_GSYNC_ALLOC = 1u << 19,
    KEEL_GSYNC_FREE = 1u << 20,
    /* second gsync of keel_checkpoint(), also when keel_restore() makes up for it */
    KEEL_GSYNC_SECOND = 1u << 21,
    KEEL_GSYNC_STOP = 1u << 22,  /* a stop: epoch/stop.h */
    KEEL_GSYNC_POINT = 1u << 23, /* in keel_safe_point(): no other call follows the stop */
    /* the caller refuses its own arguments: the call ends with an error at all ranks */
    KEEL_GSYNC_REFUSED = 1u << 24,
    KEEL_GSYNC_SUBMIT = 1u << 25 /* of a submit of a store, with KEEL_GSYNC_STORE */
};

/* Bits above the flags: a digit of the number of a store. The number of a window has two. */
#define KEEL_GSYNC_STORE_SHIFT 26
#define KEEL_GSYNC_STORES      64u
static inline unsigned keel_gsync_of_store(unsigned digit)
{
    return KEEL_GSYNC_SUBMIT | digit << KEEL_GSYNC_STORE_SHIFT;
}

#endif
