/* The transport's object, shared by its files and known to nobody else. */
#ifndef KEEL_UCP_TRANSPORT_H_
#define KEEL_UCP_TRANSPORT_H_

#include "ucp_blob.h"
#include "ucp_link.h"
#include "ucp_segment.h"
#include "ucp_sleeper.h"
#include "base/message.h"
#include "transport.h"

#include <pthread.h>
#include <stdatomic.h>

typedef struct keel_ucp keel_ucp_t;

/* Memory of a process that all of its node map: who can read the instance there shares memory with it. */
typedef struct keel_ucp_card {
    uint64_t instance;
    uint64_t reserved[7];
    keel_ucp_sleeper_t sleeper; /* the thread inside Keel */
} keel_ucp_card_t;

/* a connected incarnation, as the thread inside Keel sees it */
typedef struct keel_ucp_peer {
    uint64_t instance;
    unsigned lanes;
    keel_ucp_card_t *card; /* mapped here, with KEEL_LANE_PTR; else NULL */
    size_t card_bytes;
    int is_suspect; /* its link broke and on_suspect() is still to be called */
    keel_ucp_link_t *link;
} keel_ucp_peer_t;

/* a greeting that waits until the sender's earlier incarnation has been disconnected */
typedef struct keel_ucp_held_hello {
    ucs_list_link_t link;
    size_t length;
    keel_ucp_address_blob_t blob[];
} keel_ucp_held_hello_t;

/* Takes requests and sends replies, on its own thread; that thread alone touches it but for the atomics. */
typedef struct keel_ucp_service {
    keel_ucp_port_t port;
    keel_ucp_link_t **links; /* to each rank's main worker, NULL when it has not greeted */
    ucs_list_link_t held;
    pthread_t thread;
    int worker_fd, wake_fd;
    atomic_uint changes; /* +1 when current[] or dead[] changed */
    unsigned changes_seen;
    atomic_int must_stop;
    int concerns;             /* keel_served: of the requests of this progress, for the other thread */
    uint64_t tick_ns;         /* when it was told last that time passes */
    unsigned unreported;      /* requests handled since on_idle() */
    uint64_t held_since_ns;   /* on_idle() keeps something back; 0: not */
    keel_ucp_message_t *room; /* given for the data of the next reply, or NULL */
} keel_ucp_service_t;

/* how the thread inside Keel waits */
typedef struct keel_ucp_wait {
    int is_begun;     /* nothing has happened since it began */
    int is_announced; /* the next call sleeps */
    unsigned yields;
    unsigned shared; /* others want the core: until so many yields in a row came back at once */
    uint64_t begin_ns;
} keel_ucp_wait_t;

struct keel_ucp {
    keel_transport_t super;
    keel_transport_params_t params;
    int use_direct; /* memory is shared with ranks of the node */
    int direct_everywhere;
    uint64_t instance; /* names this process for good: random, never 0 */
    keel_ucp_address_blob_t *address;
    keel_ucp_segment_t card_memory; /* none when no memory is shared */
    keel_ucp_card_t own_card;       /* which is used then */
    keel_ucp_card_t *card;
    ucs_list_link_t mems, keys;
    ucs_list_link_t reserve; /* memory made ahead, that nobody has asked for yet */

    ucp_context_h context;
    keel_ucp_port_t main;
    int main_fd, wake_fd;
    keel_ucp_peer_t **peers;
    unsigned suspects;
    int is_alone;                       /* peers were connected, and none has ever answered, */
    uint64_t alone_ns, alone_looked_ns; /* for so long, when last looked */
    int has_met;                        /* a peer has answered */
    int is_draining;                    /* replies are put aside: the caller of disconnect() does not expect any */
    ucs_list_link_t put_aside;          /* of keel_ucp_late_reply_t */
    keel_ucp_wait_t wait;

    /* what the two threads tell each other */
    _Atomic(uint64_t) *current, *dead; /* instance of each rank that is connected; that was disconnected last */
    atomic_uint served;                /* +1 for each batch of requests with news */
    unsigned served_seen;
    keel_ucp_service_t service;
    int is_serving; /* its thread runs */
};

#define keel_ucp_error(_ucp, ...)                            \
    do {                                                     \
        if ((_ucp)->params.message != NULL) {                \
            keel_error((_ucp)->params.message, __VA_ARGS__); \
        }                                                    \
    } while (0)

static inline keel_ucp_t *keel_ucp_of(keel_transport_t *transport)
{
    return (keel_ucp_t *)transport;
}

/* ---- ucp_direct.c ---- */
keel_status_t keel_ucp_direct_open(keel_ucp_t *ucp);
void keel_ucp_direct_close(keel_ucp_t *ucp);
/* the peer's card, of address->card.bytes, or NULL: none of its memory can be reached here */
keel_ucp_card_t *keel_ucp_direct_attach(const keel_ucp_address_blob_t *address);
keel_status_t keel_ucp_direct_reserve(keel_transport_t *transport, const uint64_t *bytes, unsigned count);
keel_status_t keel_ucp_direct_mem_alloc(keel_transport_t *transport, size_t bytes, void *address,
                                        keel_transport_mem_t **mem_p, void **base_p);
void keel_ucp_direct_mem_free(keel_transport_t *transport, keel_transport_mem_t *mem);
keel_status_t keel_ucp_direct_mem_pack(keel_transport_t *transport, keel_transport_mem_t *mem, void *blob,
                                       size_t *length_p);
keel_status_t keel_ucp_direct_key_open(keel_transport_t *transport, uint32_t peer, const void *blob, size_t length,
                                       uint64_t remote_base, keel_transport_key_t **key_p);
void keel_ucp_direct_key_close(keel_transport_t *transport, keel_transport_key_t *key);
void *keel_ucp_direct_key_ptr(keel_transport_key_t *key);
keel_status_t keel_ucp_direct_key_succeed(keel_transport_t *transport, keel_transport_key_t *key,
                                          keel_transport_key_t *old);

/* ---- ucp_requests.c: requests out, replies in, on the caller's thread ---- */
keel_status_t keel_ucp_requests_open(keel_ucp_t *ucp);
void keel_ucp_requests_close(keel_ucp_t *ucp);
keel_status_t keel_ucp_requests_connect(keel_ucp_t *ucp, uint32_t rank, const keel_ucp_address_blob_t *address,
                                        keel_ucp_card_t *card); /* may be NULL; the peer's when it is connected */
void keel_ucp_requests_disconnect(keel_transport_t *transport, uint32_t rank);
keel_status_t keel_ucp_requests_send(keel_transport_t *transport, uint32_t rank, const void *header, size_t header_len,
                                     const void *data, size_t data_len);
unsigned keel_ucp_requests_progress(keel_transport_t *transport);

/* ---- ucp_wait.c ---- */
void keel_ucp_wait(keel_transport_t *transport, unsigned round, unsigned timeout_us, int is_reply_due);
void keel_ucp_ring(keel_transport_t *transport, uint32_t rank);
/* of the service thread: there is news for the thread inside Keel */
void keel_ucp_wait_end(keel_ucp_t *ucp);

/* ---- ucp_service.c: requests in, replies out, on the service thread ---- */
keel_status_t keel_ucp_service_open(keel_ucp_t *ucp);
keel_status_t keel_ucp_service_start(keel_ucp_t *ucp);
void keel_ucp_service_stop(keel_ucp_t *ucp); /* sends what is queued */
void keel_ucp_service_close(keel_ucp_t *ucp);
void keel_ucp_service_wake(keel_ucp_t *ucp); /* from the other thread: current[] or dead[] changed */
keel_status_t keel_ucp_service_reply_room(keel_transport_t *transport, uint32_t rank, size_t data_len, void **room_p);
keel_status_t keel_ucp_service_reply(keel_transport_t *transport, uint32_t rank, const void *header, size_t header_len,
                                     const void *data, size_t data_len);

/* an eventfd used as a bell */
void keel_ucp_bell_ring(int fd);
void keel_ucp_bell_clear(int fd);

#endif
