/*
 * The ops table of a transport. Implementations: transports/ucp, transports/verbs, transports/sim.
 *
 * A transport reaches a peer over up to two lanes:
 *   direct  one-sided access to regions of the peer, in one of four ways:
 *           KEEL_LANE_PTR: through a pointer to shared memory; stores complete at once.
 *           KEEL_LANE_RMA: by non-blocking operations. Only fence() orders them. Requests to a peer
 *           arrive after all puts issued before them; puts may pass requests.
 *           KEEL_LANE_READ: by gets alone, of memory that does not change during the read.
 *           KEEL_LANE_ATOMIC: by atomics, on memory with words that only atomics change. A device's
 *           atomics are not atomic to a CPU, so ranks of one node use the device, too, as does each
 *           rank for its own memory.
 *   served  messages to the peer's service side (requests) and back (replies), each direction first
 *           in first out per pair, whole or not at all. Every connected peer has this lane: control
 *           messages use it, too.
 *
 * Threads. All calls come from the thread inside Keel except reply_room() and reply(), which only
 * the on_request and on_idle handlers call. on_request, on_idle and on_notify may run on a service
 * thread; everything else runs inside progress(). No handler blocks.
 *
 * Incarnations. A peer is connected once per incarnation. After disconnect() no one-sided access of
 * the incarnation takes effect here; late messages may still arrive, and the layer above refuses
 * them by their header. Requests of the next incarnation wait for that disconnect(), so that the
 * replies reach it.
 */
#ifndef KEEL_TRANSPORT_H_
#define KEEL_TRANSPORT_H_

#include <keel/def.h>
#include <keel/keel.h>

/* embedded at the start of an implementation's object */
typedef struct keel_transport keel_transport_t;
typedef struct keel_transport_mem keel_transport_mem_t;
typedef struct keel_transport_key keel_transport_key_t;

enum keel_lane_caps {
    KEEL_LANE_PTR = KEEL_BIT(0), /* key_ptr() gives loads and stores on the peer's memory */
    KEEL_LANE_RMA = KEEL_BIT(1), /* put, get, fence, flush on the peer's memory */
    KEEL_LANE_SERVED = KEEL_BIT(2),
    KEEL_LANE_READ = KEEL_BIT(3),  /* get, of memory exposed for reads; included in KEEL_LANE_RMA */
    KEEL_LANE_ATOMIC = KEEL_BIT(4) /* atomic, on memory exposed for atomics, as its key says */
};

/* Operations of KEEL_LANE_ATOMIC on a word of 8 bytes. */
typedef enum { KEEL_TRANSPORT_ADD, KEEL_TRANSPORT_CSWAP } keel_transport_atomic_op_t;

typedef struct keel_transport_atomic {
    keel_transport_atomic_op_t op;
    uint64_t operand, compare; /* CSWAP: the word becomes operand if it equals compare */
} keel_transport_atomic_t;

/* Effects of a request on the thread inside Keel. */
enum keel_served {
    KEEL_SERVED_AWAITED = KEEL_BIT(0), /* the thread may be waiting for this request: wake it */
    KEEL_SERVED_NOTIFY = KEEL_BIT(1)   /* notify the thread also while it does not wait */
};

#define KEEL_TRANSPORT_HEADER_MAX 128 /* bytes of a message's header */

typedef void (*keel_transport_done_cb_t)(void *arg, keel_status_t status);

/* KEEL_LANE_RMA: a put of a sequence. */
typedef struct keel_transport_put {
    uint64_t offset; /* in the peer's memory */
    const void *buffer;
    size_t length; /* bytes */
} keel_transport_put_t;

#define KEEL_RANK_NONE UINT32_MAX

/* Kernel name of the service thread, looked for in the examination of a silent process. */
#define KEEL_SERVICE_THREAD "keel-service"

typedef struct keel_transport_params {
    uint32_t rank, size;  /* KEEL_RANK_NONE: a waiting spare, see take_rank() */
    const uint32_t *node; /* node of each rank; ranks of one node may use direct */
    /* all processes of the job reach each other over the loopback interface */
    int is_one_host;
    /* the only network interface to listen at; NULL: by is_one_host */
    const char *interface;
    /* secret of the job, possibly set later (base/auth.h); NULL: none */
    const struct keel_auth *auth;
    const char *lanes;      /* "auto", "direct", "served" */
    const char *tls_served; /* UCX_TLS of the network context; NULL: default */
    /* NAME[:PORT[:GID INDEX]] of an RDMA device; NULL: the first usable */
    const char *device;
    unsigned spin_us;                   /* how long the service thread spins before it sleeps */
    int signal;                         /* signal that the service thread does not block; 0: none */
    void *driver_arg;                   /* the simulator's world */
    const struct keel_message *message; /* reports the reasons of failures; may be NULL */
    /* A request arrived (service side). Returns its effects on the thread inside Keel. */
    int (*on_request)(void *arg, const void *header, size_t header_len, const void *data, size_t data_len);
    /*
     * The service side ran out of requests, or has handled many: time to acknowledge. Returns
     * whether an acknowledgement was held back, since later requests may make it needless. In this
     * case the handler is called again after these requests; and with @a is_late, which forbids to
     * hold back, before sleep and within some milliseconds.
     */
    int (*on_idle)(void *arg, int is_late);
    /*
     * Service side: the thread inside Keel should make progress, wherever it runs: a request
     * concerns it, or about tick_us have passed. May be NULL.
     */
    void (*on_notify)(void *arg);
    unsigned tick_us; /* 0: no ticks */
    /* a reply arrived (inside progress) */
    void (*on_reply)(void *arg, const void *header, size_t header_len, const void *data, size_t data_len);
    /* the lane to a peer broke: a suspicion, not a death */
    void (*on_suspect)(void *arg, uint32_t peer);
    /*
     * No peer has answered for unconnected_s seconds; a message was reported (inside progress). May
     * be NULL.
     */
    void (*on_unconnected)(void *arg);
    unsigned unconnected_s; /* 0: no such check */
    /*
     * The network device of this process has failed for good, which was reported: every lane over
     * it is broken. Called again from time to time (inside progress). May be NULL.
     */
    void (*on_lost)(void *arg);
    void *arg;
} keel_transport_params_t;

typedef struct keel_transport_ops {
    const char *name;
    const char *describe; /* one line for keel_info -d */

    keel_status_t (*open)(const keel_transport_params_t *params, keel_transport_t **transport_p);
    void (*close)(keel_transport_t *transport);

    /*
     * Prepares a waiting spare so that no rank waits for this work later. Opens the transport
     * without a rank and holds memory ready for later calls of mem_alloc(): exactly @a count
     * regions of @a bytes[]. Makes one region a call and returns KEEL_INPROGRESS if more remain.
     * take_rank() precedes every other call; no handler is called earlier. NULL: nothing to
     * prepare.
     */
    keel_status_t (*reserve)(keel_transport_t *transport, const uint64_t *bytes, unsigned count);
    keel_status_t (*take_rank)(keel_transport_t *transport, uint32_t rank);

    /* the blob that a peer needs to connect; owned by the transport */
    keel_status_t (*address)(keel_transport_t *transport, const void **address_p, size_t *length_p);
    /*
     * Connects to an incarnation of @a peer; @a lanes_p gets keel_lane_caps. Does not wait for the
     * peer.
     */
    keel_status_t (*connect)(keel_transport_t *transport, uint32_t peer, const void *address, size_t length,
                             unsigned *lanes_p);
    /*
     * Forgets a dead incarnation: its keys are invalid, pending operations towards it complete with
     * KEEL_ERR_UNREACHABLE before the call returns, and buffers handed to send() are no longer
     * read.
     */
    void (*disconnect)(keel_transport_t *transport, uint32_t peer);

    /* Allocates zeroed memory for the direct lane of peers, at @a address if not NULL. */
    keel_status_t (*mem_alloc)(keel_transport_t *transport, size_t bytes, void *address, keel_transport_mem_t **mem_p,
                               void **base_p);
    void (*mem_free)(keel_transport_t *transport, keel_transport_mem_t *mem);
    /*
     * KEEL_LANE_RMA, KEEL_LANE_READ: lets peers reach the memory by the operations of @a lane, and
     * with KEEL_LANE_ATOMIC also by atomics if any peer runs on another node. If the memory cannot
     * be exposed, the call reports the reason, and key_open() at the peer returns
     * KEEL_ERR_UNSUPPORTED; without peers on such a lane nothing happens. NULL: all memory is
     * exposed.
     */
    void (*mem_expose)(keel_transport_t *transport, keel_transport_mem_t *mem, unsigned lane);
    /*
     * KEEL_LANE_RMA: puts may read from this memory of the caller, which stays until close().
     * Memory not lent is also put wherever possible. NULL: all memory is lent.
     */
    void (*lend)(keel_transport_t *transport, void *base, size_t bytes);
    /*
     * Returns the bytes that may still be exposed or lent at a time; *limit_p gets the host's
     * limit. SIZE_MAX: unlimited, as with NULL.
     */
    size_t (*lendable)(keel_transport_t *transport, size_t *limit_p);
    /*
     * Packs the blob with which a peer opens the memory: at most @a *length_p bytes, set to the
     * bytes written.
     */
    keel_status_t (*mem_pack)(keel_transport_t *transport, keel_transport_mem_t *mem, void *blob, size_t *length_p);

    /*
     * @a remote_base: base of the memory at the peer. Only for peers with a direct lane, and for
     * the rank's own memory with atomics.
     */
    keel_status_t (*key_open)(keel_transport_t *transport, uint32_t peer, const void *blob, size_t length,
                              uint64_t remote_base, keel_transport_key_t **key_p);
    void (*key_close)(keel_transport_t *transport, keel_transport_key_t *key);
    /* base of the peer's memory here; NULL: not mapped */
    void *(*key_ptr)(keel_transport_key_t *key);
    /* True if atomic() alone changes the words of this memory, on every rank. NULL: never. */
    int (*key_is_atomic)(const keel_transport_key_t *key);
    /*
     * KEEL_LANE_PTR: maps the memory of @a key in the place of @a old in one step and closes @a
     * old. On failure both stay as they are. NULL: unsupported.
     */
    keel_status_t (*key_replace)(keel_transport_t *transport, keel_transport_key_t *key, keel_transport_key_t *old);

    /*
     * KEEL_LANE_RMA. Issues *count_p puts in order until one cannot be issued: for example there is
     * no room at the moment, or the memory cannot be used. *count_p gets the count of puts issued.
     * Returns KEEL_OK, or the reason of the first put not issued. Buffers must not change until a
     * flush completes.
     */
    keel_status_t (*put)(keel_transport_t *transport, keel_transport_key_t *key, const keel_transport_put_t *puts,
                         unsigned *count_p);
    /*
     * KEEL_LANE_READ. KEEL_OK: complete at once (cb is not called); KEEL_INPROGRESS; or an error
     * like put(). With KEEL_LANE_RMA the gets of a peer complete in issue order.
     */
    keel_status_t (*get)(keel_transport_t *transport, keel_transport_key_t *key, uint64_t offset, void *buffer,
                         size_t length, keel_transport_done_cb_t cb, void *arg);
    /*
     * Puts data that earlier gets deliver: after a fence(), the put may read the destination of a
     * get issued before that fence, as soon as the data has arrived. After each get there is room
     * for two such puts. A put of at most 8 bytes is copied before the call returns.
     */
    keel_status_t (*put_record)(keel_transport_t *transport, keel_transport_key_t *key, uint64_t offset,
                                const void *buffer, size_t length);
    /*
     * KEEL_LANE_ATOMIC. @a old gets the previous value of the word. Otherwise like get(); on a peer
     * with KEEL_LANE_RMA, an atomic after a fence() takes effect after the puts before that fence.
     * KEEL_ERR_NO_MEMORY: no room at the moment. NULL: no key is atomic.
     */
    keel_status_t (*atomic)(keel_transport_t *transport, keel_transport_key_t *key, uint64_t offset,
                            const keel_transport_atomic_t *atomic, uint64_t *old, keel_transport_done_cb_t cb,
                            void *arg);
    /* Orders puts and gets to each peer: earlier ones take effect before later ones. */
    void (*fence)(keel_transport_t *transport);
    /* Completes when all operations issued before towards @a peer have taken effect there. */
    keel_status_t (*flush)(keel_transport_t *transport, uint32_t peer, keel_transport_done_cb_t cb, void *arg);

    /*
     * Sends a request to the peer's service side. Copies the header; reads @a data until the peer
     * has acknowledged the request by a reply, or until disconnect(). Queues at most max_data bytes
     * and never blocks.
     */
    keel_status_t (*send)(keel_transport_t *transport, uint32_t peer, const void *header, size_t header_len,
                          const void *data, size_t data_len);
    /*
     * From on_request: memory for the data of the next reply() to the peer, so that data under
     * change by other ranks is read once. KEEL_ERR_UNREACHABLE, KEEL_ERR_NO_MEMORY.
     */
    keel_status_t (*reply_room)(keel_transport_t *transport, uint32_t peer, size_t data_len, void **room_p);
    /*
     * From on_request or on_idle: sends a message to the peer's on_reply. Copies header and data,
     * except data in the room given by reply_room().
     */
    keel_status_t (*reply)(keel_transport_t *transport, uint32_t peer, const void *header, size_t header_len,
                           const void *data, size_t data_len);
    size_t max_data; /* of one send or reply, bytes */

    unsigned (*progress)(keel_transport_t *transport); /* returns the count of events handled */
    /*
     * Waits a little for an event: a reply, a request with news, or a ring() of a peer. @a round:
     * number of calls for the same condition, this call included; 0: the caller has more work, but
     * other processes may need the core. Early rounds poll or yield, later rounds sleep for at most
     * @a timeout_us. @a is_reply_due: any caller awaits a reply to a request of this process;
     * without the flag a reply may not end the sleep. Callers check their condition and call
     * progress() between any two calls.
     */
    void (*wait)(keel_transport_t *transport, unsigned round, unsigned timeout_us, int is_reply_due);
    /*
     * KEEL_LANE_PTR: ends a wait() of the peer early; the peer then sees the stores that this
     * thread made before a full fence. No effect on a peer that does not wait. The ring may be lost
     * if the caller is killed during the call, or if the peer awaits replies.
     */
    void (*ring)(keel_transport_t *transport, uint32_t peer);
} keel_transport_ops_t;

struct keel_transport {
    const keel_transport_ops_t *ops;
};

#endif
