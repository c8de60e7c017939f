/* Object of the transport, shared by its files only. */
#ifndef KEEL_UCP_TRANSPORT_H_
#define KEEL_UCP_TRANSPORT_H_

#include "ucp_blob.h"
#include "ucp_link.h"
#include "ucp_reads.h"
#include "base/message.h"
#include "service/service_silence.h"
#include "service/service_loop.h"
#include "shm/shm_wait.h"
#include "transport.h"

#include <stdatomic.h>

/* a connected incarnation, owned by the thread inside Keel */
typedef struct keel_ucp_peer {
    uint64_t instance;
    unsigned lanes;
    keel_shm_card_t *card; /* mapped card, with KEEL_LANE_PTR; else NULL */
    size_t card_bytes;
    int is_suspect; /* the link is broken and on_suspect() has yet to be called */
    keel_ucp_link_t *link;
} keel_ucp_peer_t;

/* a greeting that waits for the disconnection of the sender's earlier incarnation */
typedef struct keel_ucp_held_hello {
    ucs_list_link_t link;
    size_t length;
    uint64_t sequence; /* sequence of keel_service_wire_t */
    keel_ucp_address_blob_t blob[];
} keel_ucp_held_hello_t;

/* Receives requests and sends replies on its own thread. Only that thread uses the fields,
 * except for the atomics. */
typedef struct keel_ucp_service {
    keel_ucp_port_t port;
    keel_ucp_link_t **links; /* links to each rank's main worker, NULL before its greeting */
    ucs_list_link_t held;
    keel_service_loop_t loop;
    int worker_fd;
    atomic_uint changes; /* incremented when current[] or dead[] has changed */
    unsigned changes_seen;
    keel_service_message_t *room; /* message with room for the data of the next reply, or NULL */
} keel_ucp_service_t;

struct keel_ucp {
    keel_transport_t super;
    keel_transport_params_t params;
    keel_shm_t shm;
    keel_ucp_address_blob_t *address;

    ucp_context_h context;
    keel_ucp_port_t main;
    int main_fd;
    keel_ucp_peer_t **peers;
    unsigned suspects;
    keel_ucp_reads_t reads;
    uint64_t requests; /* number of requests sent */
    uint32_t refused;  /* messages dropped because no process of the job made them */
    int has_others;    /* some rank shares no memory with this rank */
    int is_refusal_reported;
    size_t lockable,
        /* lockable: bytes of memory that this process may lock, SIZE_MAX: no limit; locked:
         * bytes locked for reads by other ranks */
        locked;
    keel_service_silence_t silence;
    int is_draining;           /* replies are deferred: the caller of disconnect() expects none */
    ucs_list_link_t put_aside; /* list of keel_ucp_late_reply_t */
    keel_shm_wait_t wait;

    /* communication between the two threads */
    /* for each rank the connected instance, and the instance disconnected last */
    _Atomic(uint64_t) *current, *dead;
    keel_ucp_service_t service;
};

static inline keel_ucp_t *keel_ucp_of(keel_transport_t *transport)
{
    return (keel_ucp_t *)transport;
}

/* keel_lane_caps to a peer with @a card, or NULL: none */
static inline unsigned keel_ucp_lanes(const keel_ucp_t *ucp, const keel_shm_card_t *card)
{
    return KEEL_LANE_SERVED | ((card != NULL) ? KEEL_LANE_PTR : ucp->reads.is_offered ? KEEL_LANE_READ : 0);
}

/* ---- ucp_requests.c: requests out, replies in, on the caller's thread ---- */
keel_status_t keel_ucp_requests_open(keel_ucp_t *ucp);
void keel_ucp_requests_close(keel_ucp_t *ucp);
keel_status_t keel_ucp_requests_connect(keel_ucp_t *ucp, uint32_t rank, const keel_ucp_address_blob_t *address,
                                        /* @param card may be NULL; owned by the peer after
                                         *         success */
                                        keel_shm_card_t *card);
void keel_ucp_requests_disconnect(keel_transport_t *transport, uint32_t rank);
keel_status_t keel_ucp_requests_send(keel_transport_t *transport, uint32_t rank, const void *header, size_t header_len,
                                     const void *data, size_t data_len);
unsigned keel_ucp_requests_progress(keel_transport_t *transport);
void keel_ucp_requests_wait(keel_transport_t *transport, unsigned round, unsigned timeout_us, int is_reply_due);
void keel_ucp_requests_ring(keel_transport_t *transport, uint32_t rank);

/* Counts and drops a message. UCP does not tell the origin of a message, so the rank is the
 * message's claim. Any thread. */
void keel_ucp_refuse_message(keel_ucp_t *ucp, uint32_t rank, const char *why);

/* ---- ucp_service.c: requests in, replies out, on the service thread ---- */
keel_status_t keel_ucp_service_open(keel_ucp_t *ucp);
void keel_ucp_service_close(keel_ucp_t *ucp);
/* from the other thread: current[] or dead[] has changed */
void keel_ucp_service_wake(keel_ucp_t *ucp);
keel_status_t keel_ucp_service_reply_room(keel_transport_t *transport, uint32_t rank, size_t data_len, void **room_p);
keel_status_t keel_ucp_service_reply(keel_transport_t *transport, uint32_t rank, const void *header, size_t header_len,
                                     const void *data, size_t data_len);

#endif
