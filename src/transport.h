/*
 * The ops table of what moves bytes. Implementations: transports/ucp, transports/verbs, transports/sim.
 *
 * A transport reaches a peer over up to two lanes:
 *   direct  one-sided access to regions of the peer; either through a pointer (KEEL_LANE_PTR: shared memory,
 *           stores complete at once) or by non-blocking operations (KEEL_LANE_RMA: unordered but for fence, and requests
 *           to that peer arrive after all puts issued before them; puts may pass requests), or by gets alone (KEEL_LANE_READ), of
 *           memory that lies still while it is read: nothing orders them; or by atomics (KEEL_LANE_ATOMIC), of memory that nothing
 *           else changes words of: a device's are no CPU's, so ranks of one node have them, too, and each rank of its own memory;
 *   served  messages to the peer's service side (requests) and back (replies), each direction first in first out
 *           per pair, whole or not at all. Every connected peer has it: control messages use it too.
 *
 * Threads. All calls come from the thread inside Keel but reply_room() and reply(), which are called only from within the
 * on_request and on_idle handlers. on_request, on_idle and on_news may run on a service thread; everything else runs inside
 * progress(). No handler blocks.
 *
 * Incarnations. A peer is connected once per incarnation. After disconnect() nothing of it is applied here by
 * one-sided means; late messages may still arrive and are refused by their header, which the layer above checks. Requests of
 * its next incarnation wait for that disconnect(), so that replies find their way.
 */
#ifndef KEEL_TRANSPORT_H_
#define KEEL_TRANSPORT_H_

#include <keel/def.h>
#include <keel/keel.h>

typedef struct keel_transport keel_transport_t; /* embedded at the start of an implementation's object */
typedef struct keel_transport_mem keel_transport_mem_t;
typedef struct keel_transport_key keel_transport_key_t;

enum keel_lane_caps {
    KEEL_LANE_PTR = KEEL_BIT(0), /* key_ptr() gives loads and stores on the peer's memory */
    KEEL_LANE_RMA = KEEL_BIT(1), /* put, get, fence, flush on the peer's memory */
    KEEL_LANE_SERVED = KEEL_BIT(2),
    KEEL_LANE_READ = KEEL_BIT(3),  /* get, of memory exposed to be read; who has KEEL_LANE_RMA has it, too */
    KEEL_LANE_ATOMIC = KEEL_BIT(4) /* atomic, of memory exposed to it: its key says so */
};

/* what KEEL_LANE_ATOMIC does with a word of 8 bytes */
typedef enum { KEEL_TRANSPORT_ADD, KEEL_TRANSPORT_CSWAP } keel_transport_atomic_op_t;

typedef struct keel_transport_atomic {
    keel_transport_atomic_op_t op;
    uint64_t operand, compare; /* CSWAP: it becomes operand if it is compare */
} keel_transport_atomic_t;

/* what a request brought, for the thread inside Keel */
enum keel_served {
    KEEL_SERVED_AWAITED = KEEL_BIT(0), /* it may be waiting for this: it is woken */
    KEEL_SERVED_NEWS = KEEL_BIT(1)     /* and where it does not wait, it is told */
};

#define KEEL_TRANSPORT_HEADER_MAX 128 /* bytes of a message's header */

typedef void (*keel_transport_done_cb_t)(void *arg, keel_status_t status);

/* KEEL_LANE_RMA: one of a run of puts */
typedef struct keel_transport_put {
    uint64_t offset; /* in the peer's memory */
    const void *buffer;
    size_t length; /* bytes */
} keel_transport_put_t;

#define KEEL_RANK_NONE UINT32_MAX

/* the thread that answers others, as the kernel is told: who has to judge a process that is silent looks for it */
#define KEEL_SERVICE_THREAD "keel-service"

typedef struct keel_transport_params {
    uint32_t rank, size;                /* KEEL_RANK_NONE: of a spare that waits, see take_rank() */
    const uint32_t *node;               /* node of each rank; ranks of one node may use direct */
    int is_one_host;                    /* all processes of the job reach each other over the loopback interface */
    const struct keel_auth *auth;       /* the secret of the job, which may come later (base/auth.h); NULL: none */
    const char *lanes;                  /* "auto", "direct", "served" */
    const char *tls_served;             /* UCX_TLS of the network context; NULL: default */
    const char *device;                 /* NAME[:PORT[:GID INDEX]] of an RDMA device; NULL: the first that will do */
    unsigned spin_us;                   /* how long the service thread spins before it sleeps */
    int signal;                         /* that the service thread does not block; 0: none */
    void *driver_arg;                   /* the simulator's world */
    const struct keel_message *message; /* where why something failed is said, or NULL */
    /* a request arrived (service side); returns whom it concerns: keel_served */
    int (*on_request)(void *arg, const void *header, size_t header_len, const void *data, size_t data_len);
    /*
     * The service side ran dry after requests, or took many: time to acknowledge. Returns whether something was kept back, which
     * requests to come may make needless: then it is called again after them, and with @a is_late, when nothing is kept
     * back, before sleep and within some milliseconds.
     */
    int (*on_idle)(void *arg, int is_late);
    /* service side: a request was of concern to the thread inside Keel wherever it is, or tick_us have passed, about: it is to
     * make progress. May be NULL */
    void (*on_news)(void *arg);
    unsigned tick_us; /* 0: no ticks */
    /* a reply arrived (inside progress) */
    void (*on_reply)(void *arg, const void *header, size_t header_len, const void *data, size_t data_len);
    /* the lane to a peer broke: a suspicion, not a death */
    void (*on_suspect)(void *arg, uint32_t peer);
    /* no peer at all has ever answered, for unconnected_s seconds; said with a message (inside progress). May be NULL */
    void (*on_unconnected)(void *arg);
    unsigned unconnected_s; /* 0: it is not looked for */
    /* the network device of this process has failed for good, which was said: every lane over it is broken. Called again now and
     * then (inside progress). May be NULL */
    void (*on_lost)(void *arg);
    void *arg;
} keel_transport_params_t;

typedef struct keel_transport_ops {
    const char *name;
    const char *describe; /* one line for keel_info -d */

    keel_status_t (*open)(const keel_transport_params_t *params, keel_transport_t **transport_p);
    void (*close)(keel_transport_t *transport);

    /*
     * What a spare does while it waits, so that nobody waits for it later; NULL: nothing. It opens without a rank, and has
     * memory ready for the calls of mem_alloc() to come: @a count pieces of @a bytes[] and no others. One piece a call,
     * KEEL_INPROGRESS when more are to be made. take_rank() comes before every other call; no handler is called earlier.
     */
    keel_status_t (*reserve)(keel_transport_t *transport, const uint64_t *bytes, unsigned count);
    keel_status_t (*take_rank)(keel_transport_t *transport, uint32_t rank);

    /* what a peer needs to connect; owned by the transport */
    keel_status_t (*address)(keel_transport_t *transport, const void **address_p, size_t *length_p);
    /* to an incarnation of @a peer; @a lanes_p gets keel_lane_caps. Does not wait for the peer. */
    keel_status_t (*connect)(keel_transport_t *transport, uint32_t peer, const void *address, size_t length,
                             unsigned *lanes_p);
    /* forgets a dead incarnation: its keys are invalid, operations under way towards it complete with
     * KEEL_ERR_UNREACHABLE before the call returns, buffers handed to send() are no longer read */
    void (*disconnect)(keel_transport_t *transport, uint32_t peer);

    /* zeroed memory others can reach on the direct lane, at @a address when that is not NULL */
    keel_status_t (*mem_alloc)(keel_transport_t *transport, size_t bytes, void *address, keel_transport_mem_t **mem_p,
                               void **base_p);
    void (*mem_free)(keel_transport_t *transport, keel_transport_mem_t *mem);
    /* KEEL_LANE_RMA, KEEL_LANE_READ: peers may reach the memory by operations; @a lane: by which, and with KEEL_LANE_ATOMIC, where peers
     * of other nodes are, also by these. Where that cannot be it is said, and
     * key_open() there has KEEL_ERR_UNSUPPORTED; where peers have no such lane it is nothing. NULL: all memory is so */
    void (*mem_expose)(keel_transport_t *transport, keel_transport_mem_t *mem, unsigned lane);
    /* KEEL_LANE_RMA: puts may be read from this memory of the caller, which stays until close(). What is not lent is put where that
     * can be done, too. NULL: all memory is so */
    void (*lend)(keel_transport_t *transport, void *base, size_t bytes);
    /* how many bytes of memory may be exposed or lent still, at a time; *limit_p gets what the host sets the limit at.
     * SIZE_MAX, also where NULL: any */
    size_t (*lendable)(keel_transport_t *transport, size_t *limit_p);
    /* the blob that lets a peer open the memory; at most @a *length_p bytes, set to what was written */
    keel_status_t (*mem_pack)(keel_transport_t *transport, keel_transport_mem_t *mem, void *blob, size_t *length_p);

    /* @a remote_base: the memory's base at the peer. For peers with a direct lane only, and of the own memory for atomics. */
    keel_status_t (*key_open)(keel_transport_t *transport, uint32_t peer, const void *blob, size_t length,
                              uint64_t remote_base, keel_transport_key_t **key_p);
    void (*key_close)(keel_transport_t *transport, keel_transport_key_t *key);
    void *(*key_ptr)(keel_transport_key_t *key); /* the base of the peer's memory here, or NULL: it is not mapped */
    int (*key_is_atomic)(
        const keel_transport_key_t *key); /* its words are changed by atomic(), by all; NULL: none are */
    /* KEEL_LANE_PTR: maps the memory of @a key where that of @a old is, in one step, and closes @a old. When it fails both
     * stay as they are; NULL: it cannot */
    keel_status_t (*key_succeed)(keel_transport_t *transport, keel_transport_key_t *key, keel_transport_key_t *old);

    /* KEEL_LANE_RMA. Issues puts in this order, of which *count_p there are, until one cannot be: among others there is no room for more
     * at the moment, or the memory cannot be used so. *count_p gets how many were issued; KEEL_OK, or why the next was not. Buffers
     * stay untouched until a flush tells. */
    keel_status_t (*put)(keel_transport_t *transport, keel_transport_key_t *key, const keel_transport_put_t *puts,
                         unsigned *count_p);
    /* KEEL_LANE_READ; KEEL_OK when complete at once (cb not called), KEEL_INPROGRESS, or an error as those of put(). With
     * KEEL_LANE_RMA gets of a peer complete in the order issued. */
    keel_status_t (*get)(keel_transport_t *transport, keel_transport_key_t *key, uint64_t offset, void *buffer,
                         size_t length, keel_transport_done_cb_t cb, void *arg);
    /*
     * A put of what gets bring: behind a fence() it may be read from where a get before that fence arrives, as soon as that has. After
     * each get there is room for two; one of at most 8 bytes is copied before the call returns.
     */
    keel_status_t (*put_record)(keel_transport_t *transport, keel_transport_key_t *key, uint64_t offset,
                                const void *buffer, size_t length);
    /*
     * KEEL_LANE_ATOMIC; @a old gets what the word was. Otherwise as get(): of a peer that has KEEL_LANE_RMA behind a fence() it takes effect
     * after the puts before it. KEEL_ERR_NO_MEMORY: not at the moment. NULL where no key is atomic.
     */
    keel_status_t (*atomic)(keel_transport_t *transport, keel_transport_key_t *key, uint64_t offset,
                            const keel_transport_atomic_t *atomic, uint64_t *old, keel_transport_done_cb_t cb,
                            void *arg);
    /* puts and gets issued before take effect before those issued after, per peer */
    void (*fence)(keel_transport_t *transport);
    /* completes when all issued before towards @a peer has taken effect there */
    keel_status_t (*flush)(keel_transport_t *transport, uint32_t peer, keel_transport_done_cb_t cb, void *arg);

    /* a request to the peer's service side. The header is copied; @a data is read until the peer acknowledged it
     * by a reply, or disconnect(). Queues, never blocks, at most max_data bytes. */
    keel_status_t (*send)(keel_transport_t *transport, uint32_t peer, const void *header, size_t header_len,
                          const void *data, size_t data_len);
    /* from on_request: memory for the data of the next reply() to that peer, so that what others write meanwhile is read
     * once. KEEL_ERR_UNREACHABLE, KEEL_ERR_NO_MEMORY */
    keel_status_t (*reply_room)(keel_transport_t *transport, uint32_t peer, size_t data_len, void **room_p);
    /* from on_request or on_idle: a message to the peer's on_reply; header and data are copied, but for data that lies in
     * the room given for it */
    keel_status_t (*reply)(keel_transport_t *transport, uint32_t peer, const void *header, size_t header_len,
                           const void *data, size_t data_len);
    size_t max_data; /* of one send or reply, bytes */

    unsigned (*progress)(keel_transport_t *transport); /* number of events handled */
    /*
     * Waits a little for something to happen: a reply, a request that was news, a ring() of a peer. @a round: so often
     * the caller has called it for the same thing, this time included; 0: the caller has more to do, but others may want the core.
     * Early rounds poll or yield, later ones sleep, for @a timeout_us at most. @a is_reply_due: an answer to a request of this
     * process is awaited, by whomever; without it a sleep may last although one comes. Callers look for what they wait for, and call
     * progress(), between any two calls.
     */
    void (*wait)(keel_transport_t *transport, unsigned round, unsigned timeout_us, int is_reply_due);
    /*
     * KEEL_LANE_PTR: a wait() of the peer ends early, and it sees what this thread stored there before a full fence; nothing
     * if it does not wait. May be lost, when the caller is killed in it, and when the peer awaits replies.
     */
    void (*ring)(keel_transport_t *transport, uint32_t peer);
} keel_transport_ops_t;

struct keel_transport {
    const keel_transport_ops_t *ops;
};

#endif
