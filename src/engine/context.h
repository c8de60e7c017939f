/* The context: everything of one process hangs off it. */
#ifndef KEEL_ENGINE_CONTEXT_H_
#define KEEL_ENGINE_CONTEXT_H_

#include "recovery/recovery.h"
#include "engine/hooks.h"
#include "engine/progress.h"
#include "engine/site.h"

#include <keel/keel.h>

#define KEEL_WINDOWS_MAX (KEEL_REGION_LAST - KEEL_REGION_WINDOW0)
_Static_assert(KEEL_WINDOWS_MAX == 4084, "keel.h says how many");

#define KEEL_WIN_GONE UINT32_MAX /* a rollback went to before its making */

typedef struct keel_target {
    char *ptr; /* the peer's window here when stores may go there now: live, direct; else NULL */
    size_t
        size; /* of the peer's window, bytes; without a pointer, 0 where its puts are not only to be logged and sent from there */
} keel_target_t;

struct keel_win {
    keel_context_h ctx;
    keel_target_t *targets;
    uint64_t changes; /* of the lane, when targets was derived */
    unsigned region;
    void *base;
    size_t size;
    void *given; /* the program's own memory, NULL: Keel's; with is_mapped it is Keel's too until it is given back */
    int is_mapped;
    void *initial;       /* what it holds in generation 0, NULL: zeros */
    uintptr_t address;   /* where it is, the same in every life */
    uintptr_t place;     /* where it would be by the order of windows alone */
    uint32_t made_call;  /* number of the window call that made it, from 1 */
    uint32_t freed_call; /* and of the one that freed it, 0: none; KEEL_WIN_GONE */
    char name[32];
    keel_extent_t *extents; /* what of it belongs to an image, with has_extents; else all of it */
    unsigned extent_count;
    int has_extents;
    struct keel_win
        *gone;       /* the next of those that a rollback removed: their handles may still be used, and are refused */
    uint8_t *locked; /* by rank: keel_lock_how_t, 0: not; NULL: none was */
    uint8_t all;     /* KEEL_LOCK_SHARED: by keel_win_lock_all(); by bias, while no rank is in .locked */
    int is_device_wanted;       /* for the atomics on the own part */
    struct keel_attach *attach; /* NULL: nothing can be attached to it (window/win_attached) */
};

struct keel_req {
    keel_context_h ctx;
    keel_status_t status;
    uint32_t pieces; /* under way */
    uint8_t is_released;
    uint8_t is_due;  /* complete, its callback has yet to be called */
    uint8_t is_new;  /* a replacement's, and without a record: see keel_wait_new() */
    uint64_t looked; /* the phase in which it is said to be in progress by records, 0: none */
    keel_send_cb_t cb;
    void *user;
    keel_fetched_t fetched; /* of an atomic, or the clock of a poll, in a program that waits */
    struct keel_req *next;  /* free, or due */
};

/* what a get of blocks fills, in the caller's memory */
typedef struct keel_gather {
    const keel_block_t *list;    /* NULL: the others */
    const keel_blocks_t *blocks; /* and their buffer */
    char *buffer;
    size_t count;
} keel_gather_t;

static inline keel_block_t keel_gather_block(const keel_gather_t *gather, size_t i)
{
    const keel_blocks_t *blocks = gather->blocks;

    return (gather->list != NULL) ? gather->list[i]
                                  : (keel_block_t){.offset = blocks->offset + i * blocks->stride,
                                                   .length = blocks->length,
                                                   .buffer = gather->buffer + i * blocks->buffer_stride};
}

/* a get, or the fetching part of an atomic, that is under way: at most one message long */
typedef struct keel_piece {
    ucs_list_link_t list; /* in context->deferred while the target is not live */
    keel_context_h ctx;
    uint32_t rank, index, length;
    uint64_t where;
    keel_get_record_t *record;   /* own copy to complete, or NULL */
    const keel_record_t *atomic; /* in the put log; NULL: a get */
    keel_record_t *logged;       /* the same, where it is there: it takes what is found */
    void *buffer;
    struct keel_req *req;
    /* NULL: what is read is all that its record holds; else the rest is for these, and the buffer is the piece's own */
    const struct keel_piece_ops *ops;
    uint32_t polled; /* bytes that are read */
    void *to;
    const keel_gather_t *gather; /* NULL: it is not one of blocks, or they are filled */
    size_t first, blocks;        /* of these */
} keel_piece_t;

/* of pieces whose record holds more than what is read: polls, blocks */
typedef struct keel_piece_ops {
    /* the target is mapped: it is done */
    void (*stored)(keel_piece_t *piece, const char *from);
    /* asks for it */
    keel_status_t (*send)(keel_piece_t *piece, const keel_get_record_t *record);
    /* it is done, and was asked for if it has a buffer or a record */
    void (*answered)(keel_piece_t *piece);
} keel_piece_ops_t;

/* rma/own: any get from the own rank, of blocks that were checked */
typedef keel_status_t (*keel_own_get_t)(keel_win_h win, const keel_gather_t *gather);

/* rma/poll */
typedef struct keel_poll_ops {
    /* a get that was checked and admitted; in the name of that call */
    keel_status_t (*issue)(keel_win_h win, uint32_t rank, uint64_t offset, void *buffer, size_t length,
                           const char *call, struct keel_req *req);
} keel_poll_ops_t;

/* the last poll of this process (rma/poll) */
typedef struct keel_polling {
    uint64_t phase;   /* and rollback: of which all of this is */
    int is_unsettled; /* its record has to be at its target, or used, before anything else is done */
    uint32_t rank, incarnation;
    keel_get_record_t *open;        /* which may find the same again; NULL: it is complete */
    const keel_get_record_t *again; /* a replacement's, which is to find this so many times more */
    uint64_t left;
} keel_polling_t;

typedef struct keel_protected {
    uint32_t id;
    void *address;
    size_t bytes;
    void *initial; /* what it held when it was protected: generation 0 */
} keel_protected_t;

/*
 * What the fast path of an access looks at: 0, and nothing stands in its way. The first byte belongs to the thread inside Keel;
 * any thread sets the other, when there is something to look at in progress, and that thread takes it back before looking.
 */
typedef union keel_gate_word {
    uint32_t all;
    struct {
        uint8_t bits; /* keel_gate */
        uint8_t news;
    } part;
} keel_gate_word_t;
_Static_assert(sizeof(keel_gate_word_t) == sizeof(uint32_t), "looked at in one load");

enum keel_gate {
    KEEL_GATE_CLOSED = 1, /* the program has not begun to communicate, or something is to be restored */
    KEEL_GATE_LOCKS = 4,  /* the program locks: each access is checked for that */
    KEEL_GATE_WAITS = 8,  /* the program waits inside phases: puts are numbered */
    KEEL_GATE_REEXECUTES =
        16, /* a replacement, up to the front: its predecessor may have done what it puts, and atomics after it */
    KEEL_GATE_DEVICE = 32, /* some window is for a device's atomics: an atomic is looked at; nothing else is */
    KEEL_GATE_DETERMINANTS =
        64, /* what the program was told of memory, or polled, may have to be settled first (epoch/wait) */
    KEEL_GATE_READ =
        128, /* as GETS, where the program waits: at context->read_rank, and before anything of this process can be seen */
    KEEL_GATE_GETS = 2 /* direct lane: some get record is not at its target yet; it has to be there before a put of this
                             process to that target, which may overwrite what was read */
};

/* what is 0 in a child of fork() (engine/fork) */
struct keel_home {
    int process; /* its number */
    /* keel_context_cached_target() of the last put that may be followed by others the short way; its rank is touched, and doorbells */
    uint64_t near;
    keel_put_target_t *log;
    keel_board_slot_t *slot; /* this process's, there */
    uint64_t phase;          /* keel_phase_word() of the number 0 */
    /* that put's window: where it is mapped here, and the last offset of a word in it */
    const struct keel_win *win;
    char *base;
    uint64_t last;
};

#define KEEL_DOORBELLS_MAX 8 /* they are rung when one more comes */

/* epoch/stop */
typedef struct keel_stops {
    int is_offered;      /* this process has called keel_safe_point() */
    uint32_t blocked_by; /* the last rank that was found in a call that is no safe point */
    uint64_t calls;      /* of keel_safe_point() */
    uint64_t gap;        /* calls between two stops for full logs; doubles while these give no image */
    uint64_t not_before; /* call */
} keel_stops_t;

struct keel_context {
    /* hot */
    keel_lane_t lane;
    keel_put_log_t puts;
    int is_logging;      /* puts are logged */
    uint32_t fast_ranks; /* that run the program; 0: no access takes its fast path */
    keel_gate_word_t gate;
    keel_stats_t stats;

    keel_get_log_t gets;
    keel_segment_pool_t pool;
    size_t logs_most; /* bytes that logs may grow to, with KEEL_OPLOG_SIZE=auto */
    keel_ckpt_t ckpt;
    keel_demand_t demand;
    keel_sync_t sync;
    keel_recovery_t rec;
    keel_progress_t progress;
    keel_config_t config;
    keel_message_t message;
    keel_runtime_t *runtime;
    keel_transport_t *prepared; /* while this process waited as a spare; then it is the lane's */
    int was_spare;              /* and may hold memory that it made then */
    struct {
        uint64_t changes; /* the lane's, when it was looked at last */
        uint64_t bytes[KEEL_NEEDS_MAX];
        unsigned count;
    } need; /* what spares were told */
    keel_site_t site;
    keel_hooks_t hooks;

    struct keel_win **windows;
    unsigned window_count, window_room;
    struct keel_win *gone;
    uintptr_t next_address;
    uint32_t window_calls;
    uint32_t window_calls_missed; /* what was said that an image wants */
    keel_protected_t *protected_regions;
    unsigned protected_count;
    int is_open; /* it has accessed others' memory since the start or a rollback: who was first knows how */
    keel_part_t *parts;
    void *locks_image, *attached_image; /* what is locked, and attached, on the way to or from an image */
    int is_started;                     /* this process's program is past its start, which may still be others' */

    keel_polling_t polling;
    const keel_poll_ops_t *polls; /* all gets are; NULL: those alone that say so */
    keel_own_get_t own_get;       /* any get from the own rank */
    struct {
        uint32_t ranks[KEEL_DOORBELLS_MAX];
        uint32_t count;
    } doorbells;           /* programs that wait: where puts were stored of which none who sleeps there was told */
    uint32_t read_rank;    /* with KEEL_GATE_READ: where something was read of which it has no record yet */
    uint32_t *pieces_open; /* per rank: gets under way */
    /* ranks with accesses that a flush has more to do for than to order stores, since the last flush of all */
    uint32_t *touched;
    uint32_t touched_count;
    uint8_t *is_touched;     /* per rank */
    uint64_t issued_started; /* puts and atomics that were issued when all was last sent that was not sent yet */
    struct {                 /* by fast paths (order/usage) */
        int is_list;         /* these alone, or fewer; else all that are live and know what this process uses */
        uint32_t *ranks;
        uint32_t count;
    } reached;
    ucs_list_link_t pieces_free, deferred;
    ucs_list_link_t groups; /* of ranks, that the program has made */
    void *chunks;           /* memory of pieces and requests */
    struct keel_req *reqs_free, *due, *due_last;
    uint8_t *bounce;      /* served lane: a record that no log has room for, */
    uint32_t bounce_rank; /* and whom it was last sent to */
    char *changes;        /* what atomics of one record found, and what they made of it; NULL: not needed yet */
    struct {
        int is_pending;
        uint64_t value;
        keel_status_t status;
    } ask;              /* served lane: the lock request under way */
    int has_begun;      /* in a program that is not deterministic: whom it accesses is told so */
    uint64_t begun_ns;  /* when the runtime was there */
    int is_restore_due; /* replacement: the program has yet to call keel_restore() */
    int has_restart;    /* KEEL_RESTART_POINT() was passed */
    unsigned callbacks; /* of the program's that are running */
    uint64_t called;    /* and that were begun */
    struct keel_home *home;
    int is_child_reported;
    jmp_buf restart;
    pthread_t restart_thread;              /* whose stack that is */
    const keel_rehearsal_ops_t *rehearsal; /* NULL: this is no rehearsal */
    struct keel_rehearse *rehearse;        /* its state */
    struct keel_threads *threads;          /* NULL: one thread at a time (engine/threads) */
    unsigned windows_locked;               /* of how many ranks' windows this process has the lock (epoch/win_lock) */
    /* of those that are shared by bias, the one that becomes a lock that others see (order/win_share) */
    struct {
        int is_pending; /* asked for */
        unsigned window;
        uint32_t rank;
        uint64_t answer;
    } share;
    uint32_t revoked_by; /* so many ranks are known to share none by bias, because this one asked */
    keel_stops_t stops;
};

#define keel_error_ctx(_ctx, ...) keel_error(&(_ctx)->message, __VA_ARGS__)

/* keel_gate that are set, and news: 0 when any fast path may be taken */
static inline uint32_t keel_context_gate(const keel_context_h ctx)
{
    return __atomic_load_n(&ctx->gate.all, __ATOMIC_RELAXED);
}

/* and that stand in the way of puts and gets, but for @a but */
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

/* programs that wait: puts to @a rank under that clock; not 0 */
static inline uint64_t keel_context_cached_target(uint32_t rank, uint32_t clock)
{
    return (uint64_t)clock << 32 | (rank + 1);
}
static inline uint32_t keel_context_cached_rank(const keel_context_h ctx)
{
    return (uint32_t)ctx->home->near - 1;
}
/* the next one goes the general way */
static inline void keel_context_uncache(const keel_context_h ctx)
{
    ctx->home->near = 0;
}

/* makes progress when there is news: with any call that communicates, so that a program whose calls all complete at once hears of
 * deaths and takes part in what follows, too. What calls derive from the peers' states they derive after it. */
void keel_context_poll(keel_context_h ctx);
/* KEEL_OK when the program may communicate now */
keel_status_t keel_context_check(keel_context_h ctx);

/* see keel_runtime_ops_t.mark */
static inline void keel_context_mark(keel_context_h ctx, keel_mark_t mark, uint32_t number)
{
    if (ctx->runtime->ops->mark != NULL) {
        ctx->runtime->ops->mark(ctx->runtime, mark, number);
    }
}
/* the same for any call but a window's: from the first on, the windows made so far belong to generation 0 */
keel_status_t keel_context_begin(keel_context_h ctx);
/* KEEL_ERR_STATE, said, in a callback: the call that it was called from is not over */
keel_status_t keel_context_check_outside(keel_context_h ctx, const char *call);
/* both of these */
keel_status_t keel_context_begin_outside(keel_context_h ctx, const char *call);
/* Tells the program that the job rolls back: jumps to its restart point, or returns KEEL_ERR_ROLLED_BACK if there is none here. */
keel_status_t keel_context_rolled_back(keel_context_h ctx);
/* what a public call ends with: @a status, or a jump to the restart point */
static inline keel_status_t keel_context_end(keel_context_h ctx, keel_status_t status)
{
    return __builtin_expect(status == KEEL_ERR_ROLLED_BACK, 0) ? keel_context_rolled_back(ctx) : status;
}
static inline keel_status_t keel_win_end(keel_win_h win, keel_status_t status)
{
    return __builtin_expect(status == KEEL_ERR_ROLLED_BACK, 0) ? keel_context_rolled_back(win->ctx) : status;
}
/* One round of progress without waiting; the status that a call has to return. */
keel_status_t keel_context_progress(keel_context_h ctx);
/* What one thread at a time does (threads.h). */
enum keel_turn { KEEL_TURN_ASK, KEEL_TURN_LOCK, KEEL_TURN_LAST };
/* Waits until the caller has the turn. Returns KEEL_OK, or the status that a waiting call has to return, without the turn. */
keel_status_t keel_context_take_turn(keel_context_h ctx, enum keel_turn what);
/* Makes progress and gives the core away; the status that a waiting call has to return. */
keel_status_t keel_context_wait(keel_context_h ctx, unsigned *rounds);

static inline void keel_context_touch(keel_context_h ctx, uint32_t rank)
{
    if (!ctx->is_touched[rank]) {
        ctx->is_touched[rank] = 1;
        ctx->touched[ctx->touched_count++] = rank;
    }
}
/* and an access that others may have come between: what it left is not sent, whatever was since */
static inline void keel_context_touch_again(keel_context_h ctx, uint32_t rank)
{
    ctx->issued_started = UINT64_MAX;
    keel_context_touch(ctx, rank);
}

enum {
    KEEL_GSYNC_EXPLICIT = 1u << 16,
    KEEL_GSYNC_FINAL = 1u << 17,
    KEEL_GSYNC_FOLLOW = 1u << 18, /* of a rank that does not know what it is for: it may turn out to be the last */
    KEEL_GSYNC_ALLOC = 1u << 19,
    KEEL_GSYNC_FREE = 1u << 20,
    KEEL_GSYNC_SECOND = 1u << 21, /* of keel_checkpoint(), also where keel_restore() makes up for it */
    KEEL_GSYNC_STOP = 1u << 22,   /* a stop: epoch/stop.h */
    KEEL_GSYNC_POINT = 1u << 23   /* in keel_safe_point(): no other call is to be made behind the stop */
};

#endif
