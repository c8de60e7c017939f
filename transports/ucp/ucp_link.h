/*
 * A link is one direction of messages to one worker of a peer: first in, first out, each whole or not at all. A port is
 * a UCP worker with its links and its pools of messages; one thread owns it.
 *
 * How a peer may die at any instruction of its own without harm here (each rule was paid for with an abort of a survivor
 * inside UCP 1.13):
 * - Only eager active messages are used, and over RDMA gets (ucp_reads.h): no other RMA, no rendezvous, no flush towards a peer that
 *   may be dead.
 * - UCP's own handshake must never wait in a queue when a connection breaks (an assertion of UCP's). So it begins only
 *   when messages are known to pass both ways, and no traffic begins until it is over: HELLO there and WELCOME back are
 *   sent in the one way that does not start it, or not at all as long as the connection is not up; PING starts it, PONG
 *   comes after it, and opens the link.
 *   Over InfiniBand connecting is that handshake: it begins with the endpoint, over datagrams, and is over when the first message
 *   passes at all. Its own messages are dropped in good order when a peer dies amid it, unless datagrams are a lane too
 *   (ucp.c: KEEPALIVE_INTERVAL).
 * - An endpoint is closed after its error callback has come, never inside it. A link whose peer is said to be dead waits
 *   for that callback for a bounded time, and is closed by force at once only if somebody's buffers are still under way.
 * - Nothing is sent, opened or closed inside ucp_worker_progress(), that is from any callback: a send that finds its
 *   connection broken closes it under the hands of UCP's tcp, which asserts when it comes to that connection's own event;
 *   and from a send callback it would overtake what is queued.
 */
#ifndef KEEL_UCP_LINK_H_
#define KEEL_UCP_LINK_H_

#include "service/service_seal.h"

#include <ucp/api/ucp.h>

enum { KEEL_AM_ID = 1, KEEL_UCP_ZCOPY_MIN = 65504 };

_Static_assert(KEEL_MESSAGE_DATA_MAX + 16 + KEEL_TRANSPORT_HEADER_MAX < KEEL_UCP_ZCOPY_MIN, "copied");

enum keel_ucp_link_flags {
    KEEL_UCP_LINK_OPEN = KEEL_BIT(0),    /* the greetings are over */
    KEEL_UCP_LINK_BROKEN = KEEL_BIT(1),  /* UCP reported an error; nothing is sent any more */
    KEEL_UCP_LINK_CLOSED = KEEL_BIT(2),  /* the endpoint was given back to UCP */
    KEEL_UCP_LINK_RETIRED = KEEL_BIT(3), /* its owner forgot it */
    KEEL_UCP_LINK_LEAVING = KEEL_BIT(4), /* BYE is sent and not answered */
    KEEL_UCP_LINK_BUSY = KEEL_BIT(5)     /* on the port's list of links that need progress */
};

typedef struct keel_ucp_port keel_ucp_port_t;

typedef struct keel_ucp_link {
    keel_ucp_port_t *port;
    ucp_ep_h ep;
    uint64_t instance; /* of the peer */
    uint32_t peer;
    unsigned flags;
    unsigned under_way; /* sends handed to UCP and not completed */
    ucs_status_t made;  /* UCS_ERR_UNREACHABLE: no transport leads there, and none ever will */
    int greeting;       /* keel_service_wire_kind still to be sent, or 0 */
    const void *greeting_data;
    size_t greeting_len;
    keel_service_wire_t wire; /* of the greeting */
    keel_service_seal_t out, in;
    ucs_list_link_t queue; /* messages not yet handed to UCP */
    ucs_list_link_t link;  /* in port->links */
    ucs_list_link_t busy;  /* in port->busy */
    uint64_t deadline_ns;  /* when a retired link is closed by force */
} keel_ucp_link_t;

struct keel_ucp_port {
    ucp_worker_h worker;
    keel_service_pools_t pools;
    ucs_list_link_t links, busy;
    int is_in_progress;       /* inside ucp_worker_progress() */
    keel_service_wire_t wire; /* version, rank and instance of this process */
    keel_service_lane_t lane; /* that its links send on */
    const keel_auth_t *auth;
    void (*on_broken)(void *arg, keel_ucp_link_t *link); /* from keel_ucp_port_progress, link not retired */
    void *arg;
};

typedef struct keel_ucp_port_params {
    ucp_context_h context;
    uint32_t rank;
    uint64_t instance;
    keel_service_lane_t lane;
    size_t small_copy, large_copy; /* data a message of the two pools can hold; large 0: no such pool */
    ucp_am_recv_callback_t on_message;
    void (*on_broken)(void *arg, keel_ucp_link_t *link);
    void *arg;
    const keel_transport_params_t *transport;
} keel_ucp_port_params_t;

keel_status_t keel_ucp_port_open(keel_ucp_port_t *port, const keel_ucp_port_params_t *params);
/*
 * Sends what is queued on open links and closes all endpoints, within @a timeout_ms. @a last is the message that tells when
 * all has been sent: BYE waits for the peer's answer, FILLER for the kernel to have taken it.
 */
void keel_ucp_port_drain(keel_ucp_port_t *port, enum keel_service_wire_kind last, unsigned timeout_ms);
void keel_ucp_port_close(keel_ucp_port_t *port);
unsigned keel_ucp_port_progress(keel_ucp_port_t *port);
/* whether keel_ucp_port_progress() has work that no event of the network announces */
int keel_ucp_port_is_busy(keel_ucp_port_t *port);

/* @a address: the peer's worker address. Of a peer that cannot be connected to the link is made, and broken. */
keel_status_t keel_ucp_link_make(keel_ucp_port_t *port, uint32_t peer, uint64_t instance, const void *address,
                                 keel_ucp_link_t **link_p);
/* the next greeting goes out when keel_ucp_port_progress() finds it can; @a data stays untouched until then */
void keel_ucp_link_greet(keel_ucp_link_t *link, enum keel_service_wire_kind kind, const void *data, size_t data_len);
void keel_ucp_link_open_up(keel_ucp_link_t *link);
/* @a is_copied: data is copied, else it is read in place */
keel_status_t keel_ucp_link_send(keel_ucp_link_t *link, enum keel_service_wire_kind kind, const void *header,
                                 size_t header_len, const void *data, size_t data_len, int is_copied);
/* the same with data that lies in @a message, of the port's pools, already: it is used up */
keel_status_t keel_ucp_link_send_made(keel_ucp_link_t *link, keel_service_message_t *message,
                                      enum keel_service_wire_kind kind, const void *header, size_t header_len,
                                      size_t data_len);
/* something could not be sent: as after UCP's error callback */
void keel_ucp_link_break(keel_ucp_link_t *link);
/* forgets the link. With @a must_drain no buffer given to it is read after the return. */
void keel_ucp_link_retire(keel_ucp_link_t *link, int must_drain);

/* ---- between link and port ---- */
/* does what is due; returns whether there is more to come */
int keel_ucp_link_advance(keel_ucp_link_t *link, uint64_t now_ns);
void keel_ucp_link_close(keel_ucp_link_t *link); /* gives the endpoint back to UCP */
void keel_ucp_link_purge(keel_ucp_link_t *link); /* drops what is queued */
void keel_ucp_link_free(keel_ucp_link_t *link);
unsigned keel_ucp_port_poll(keel_ucp_port_t *port); /* UCP's progress alone */

#endif
