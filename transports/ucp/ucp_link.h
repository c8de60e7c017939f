/*
 * A link is one direction of messages to one worker of a peer: first in, first out, each whole or
 * not at all. A port is a UCP worker with its links and pools of messages; one thread owns it.
 *
 * A peer may die at any of its instructions without harm to this process. Each of the following
 * rules was learned from an abort of a survivor inside UCP 1.13:
 * - Only eager active messages are used, and gets over RDMA (ucp_reads.h): no other RMA, no
 *   rendezvous, no flush towards a peer that may be dead.
 * - UCP's own handshake must never wait in a queue when a connection breaks (an assertion of UCP).
 *   So the handshake begins only when messages are known to pass both ways, and no traffic begins
 *   before its end: HELLO there and WELCOME back are sent by the one way that does not start the
 *   handshake, or stay here while the connection is not up; PING starts the handshake, PONG follows
 *   it and opens the link. Over InfiniBand, connecting includes the handshake: it begins with the
 *   endpoint, over datagrams, and is over when the first message passes. If a peer dies meanwhile,
 *   messages of the handshake are dropped in good order, unless datagrams are a lane, too (ucp.c:
 *   KEEPALIVE_INTERVAL).
 * - An endpoint is closed after its error callback, never inside. A link to a peer reported dead
 *   waits for the callback for a bounded time; it is closed by force at once only if buffers of a
 *   caller are still in flight.
 * - No callback sends, opens or closes anything, since it runs inside ucp_worker_progress(). A send
 *   that finds its connection broken closes the connection while UCP's tcp still uses it, which
 *   then asserts at the connection's own event. A send from a send callback would overtake queued
 *   messages.
 */
#ifndef KEEL_UCP_LINK_H_
#define KEEL_UCP_LINK_H_

#include "service/service_seal.h"

#include <ucp/api/ucp.h>

enum { KEEL_AM_ID = 1, KEEL_UCP_ZCOPY_MIN = 65504 };

_Static_assert(KEEL_MESSAGE_DATA_MAX + 16 + KEEL_TRANSPORT_HEADER_MAX < KEEL_UCP_ZCOPY_MIN, "copied");

enum keel_ucp_link_flags {
    KEEL_UCP_LINK_OPEN = KEEL_BIT(0),    /* the greetings are complete */
    KEEL_UCP_LINK_BROKEN = KEEL_BIT(1),  /* UCP has reported an error; nothing more is sent */
    KEEL_UCP_LINK_CLOSED = KEEL_BIT(2),  /* the endpoint was returned to UCP */
    KEEL_UCP_LINK_RETIRED = KEEL_BIT(3), /* the owner has released the link */
    KEEL_UCP_LINK_LEAVING = KEEL_BIT(4), /* BYE was sent and is not answered yet */
    KEEL_UCP_LINK_BUSY = KEEL_BIT(5)     /* on the port's list of links that need progress */
};

typedef struct keel_ucp_port keel_ucp_port_t;

typedef struct keel_ucp_link {
    keel_ucp_port_t *port;
    ucp_ep_h ep;
    uint64_t instance; /* instance of the peer */
    uint32_t peer;
    unsigned flags;
    unsigned under_way; /* sends passed to UCP and not complete */
    ucs_status_t made;  /* UCS_ERR_UNREACHABLE: no transport leads to the peer, now or later */
    int greeting;       /* keel_service_wire_kind of the greeting to send, or 0 */
    const void *greeting_data;
    size_t greeting_len;
    keel_service_wire_t wire; /* header of the greeting */
    keel_service_seal_t out, in;
    ucs_list_link_t queue; /* messages not yet passed to UCP */
    ucs_list_link_t link;  /* link in port->links */
    ucs_list_link_t busy;  /* link in port->busy */
    uint64_t deadline_ns;  /* time at which a retired link is closed by force */
} keel_ucp_link_t;

struct keel_ucp_port {
    ucp_worker_h worker;
    keel_service_pools_t pools;
    ucs_list_link_t links, busy;
    int is_in_progress;       /* inside ucp_worker_progress() */
    keel_service_wire_t wire; /* version, rank and instance of this process */
    keel_service_lane_t lane; /* lane on which its links send */
    const keel_auth_t *auth;
    /* called from keel_ucp_port_progress(); the link is not retired */
    void (*on_broken)(void *arg, keel_ucp_link_t *link);
    void *arg;
};

typedef struct keel_ucp_port_params {
    ucp_context_h context;
    uint32_t rank;
    uint64_t instance;
    keel_service_lane_t lane;
    /* bytes of data that messages of the two pools can hold; large 0: no such pool */
    size_t small_copy, large_copy;
    ucp_am_recv_callback_t on_message;
    void (*on_broken)(void *arg, keel_ucp_link_t *link);
    void *arg;
    const keel_transport_params_t *transport;
} keel_ucp_port_params_t;

keel_status_t keel_ucp_port_open(keel_ucp_port_t *port, const keel_ucp_port_params_t *params);
/*
 * Sends the queued messages of open links and closes all endpoints, within @a timeout_ms. Message
 * @a last shows that all was sent: BYE waits for the peer's answer, FILLER until the kernel has
 * taken it.
 */
void keel_ucp_port_drain(keel_ucp_port_t *port, enum keel_service_wire_kind last, unsigned timeout_ms);
void keel_ucp_port_close(keel_ucp_port_t *port);
unsigned keel_ucp_port_progress(keel_ucp_port_t *port);
/* Has keel_ucp_port_progress() work that no network event announces? */
int keel_ucp_port_is_busy(keel_ucp_port_t *port);

/* @param address worker address of the peer. If connecting fails, the link is created in the
 *         state broken. */
keel_status_t keel_ucp_link_make(keel_ucp_port_t *port, uint32_t peer, uint64_t instance, const void *address,
                                 keel_ucp_link_t **link_p);
/* Schedules a greeting, which keel_ucp_port_progress() sends when possible. @a data stays
 * unchanged until then. */
void keel_ucp_link_greet(keel_ucp_link_t *link, enum keel_service_wire_kind kind, const void *data, size_t data_len);
void keel_ucp_link_open_up(keel_ucp_link_t *link);
/* @a is_copied: data is copied, otherwise read in place */
keel_status_t keel_ucp_link_send(keel_ucp_link_t *link, enum keel_service_wire_kind kind, const void *header,
                                 size_t header_len, const void *data, size_t data_len, int is_copied);
/* The same with data inside @a message, from the port's pools. The call consumes the message. */
keel_status_t keel_ucp_link_send_made(keel_ucp_link_t *link, keel_service_message_t *message,
                                      enum keel_service_wire_kind kind, const void *header, size_t header_len,
                                      size_t data_len);
/* marks the link as broken after a failed send, like UCP's error callback */
void keel_ucp_link_break(keel_ucp_link_t *link);
/* Releases the link. With @a must_drain no buffer passed to the link is read after the return. */
void keel_ucp_link_retire(keel_ucp_link_t *link, int must_drain);

/* ---- between link and port ---- */
/* does pending work; returns 1 if more remains */
int keel_ucp_link_advance(keel_ucp_link_t *link, uint64_t now_ns);
void keel_ucp_link_close(keel_ucp_link_t *link); /* returns the endpoint to UCP */
void keel_ucp_link_purge(keel_ucp_link_t *link); /* drops queued messages */
void keel_ucp_link_free(keel_ucp_link_t *link);
unsigned keel_ucp_port_poll(keel_ucp_port_t *port); /* only UCP's progress */

#endif
