/*
 * A link is a reliable connection: messages in both directions, each whole or not at all and in
 * order, and puts and gets of the requesting end in that same order.
 *
 * Safety:
 * - A message is cut into frames of a slot each. The other end has posted a receive for every frame
 *   that may be in flight: a sender has this many credits, and frames of the opposite direction
 *   return them. A frame that only returns credits costs none; at most two such frames are in
 *   flight, since each returns half of all credits, and one more at the end.
 * - No slot is overwritten before its previous frame has completed. Not every request asks for a
 *   completion, but the last of each group does, and a completion covers all earlier requests.
 * - The queues have room for a completion of every request that can be in flight: when a connection
 *   breaks, every request completes.
 * - A broken connection is not repaired: the link reports the failure once, and its owner waits for
 *   the launcher's news of the peer.
 * - fence() destroys the queue pair at once, from any thread. From then on the device rejects
 *   everything the other end sends, including writes of a process that is cut off but alive.
 */
#ifndef KEEL_VERBS_LINK_H_
#define KEEL_VERBS_LINK_H_

#include "verbs_blob.h"
#include "verbs_port.h"

enum {
    KEEL_VERBS_SLOT = 8192, /* bytes of a frame */
    KEEL_VERBS_CREDITS = 8, /* maximum frames in flight in a direction */
    KEEL_VERBS_RESERVE = 4, /* receives for frames that only return credits */
    KEEL_VERBS_QUEUE = 256, /* requests in flight */
    KEEL_VERBS_CHAIN = 32,  /* maximum number of requests posted together */
    /* maximum number of requests, and of requests with a slot, without a completion of their own */
    KEEL_VERBS_UNASKED = 4,
    KEEL_VERBS_WORD = 8, /* maximum bytes of a put that can be copied */
    KEEL_VERBS_MESSAGE_MAX = KEEL_MESSAGE_DATA_MAX + KEEL_TRANSPORT_HEADER_MAX + sizeof(keel_service_wire_t)
};

/* head of each frame */
typedef struct keel_verbs_frame {
    uint32_t total;  /* bytes of the message; 0: the frame only returns credits */
    uint32_t offset; /* offset of the frame's bytes in the message */
    uint32_t length;
    uint16_t credits;
    uint16_t version;
} keel_verbs_frame_t;

_Static_assert(sizeof(keel_verbs_frame_t) == 16, "wire format");

enum { KEEL_VERBS_FRAME_VERSION = 1, KEEL_VERBS_FRAME_MAX = KEEL_VERBS_SLOT - sizeof(keel_verbs_frame_t) };

enum keel_verbs_link_flags {
    KEEL_VERBS_LINK_OPEN = KEEL_BIT(0),   /* both ends know each other */
    KEEL_VERBS_LINK_BROKEN = KEEL_BIT(1), /* nothing more is sent */
    KEEL_VERBS_LINK_LEAVING = KEEL_BIT(2) /* BYE was sent and is not answered yet */
};

struct keel_verbs_link {
    keel_verbs_port_t *port;
    void *owner;
    uint32_t peer, number;
    uint64_t instance; /* instance of the peer */
    keel_service_seal_t seal_out, seal_in;
    unsigned flags;
    struct ibv_qp *qp; /* NULL: fenced */
    uint32_t first_packet;
    unsigned inline_max;
    unsigned char *slots; /* slots of receives, then of sends */
    struct ibv_mr *mr;
    int socket; /* -1: none. The end of the socket shows that the peer's process is gone. */

    /* sending */
    ucs_list_link_t queue; /* queue of messages */
    size_t begun;          /* bytes of the first message already in frames */
    unsigned credits, credits_pending;
    unsigned slot, slots_busy;
    uint64_t built, done; /* number of requests added to the chain or posted; number completed */
    uint64_t asked;       /* number of the last request that asks for a completion, plus 1 */
    int must_ask;         /* the last request of this chain must ask */
    uint8_t has_slot[KEEL_VERBS_QUEUE];
    struct ibv_send_wr chain[KEEL_VERBS_CHAIN];
    struct ibv_sge pieces[KEEL_VERBS_CHAIN];
    unsigned chained;
    int may_grow;             /* a get is chained: the program may be about to issue more */
    uint64_t built_seen;      /* value of built when the port last checked */
    ucs_list_link_t unposted; /* in the port's list while the chain is not empty */
    uint64_t put, got;        /* completed requests that include the last put, and the last get */
    uint64_t fenced;          /* number of the transport's fences when a put last waited for gets */
    ucs_list_link_t waiters;  /* waiters for the completion of requests, in order */

    /* receiving */
    unsigned char *partial; /* incomplete message */
    size_t partial_len;
};

/* Creates a queue pair and its slots; no traffic before keel_verbs_link_connect(). A failure is
 * reported by a message. */
keel_status_t keel_verbs_link_make(keel_verbs_port_t *port, uint32_t peer, uint64_t instance, void *owner,
                                   int is_written_to, keel_verbs_link_t **link_p);
size_t keel_verbs_link_bytes(void); /* bytes that a link locks in memory */
size_t keel_verbs_link_room(void);  /* approximate locked bytes including the device's queues */
/* fills in the end of this side */
void keel_verbs_link_end(const keel_verbs_link_t *link, keel_verbs_end_t *end);
/* sum of a greeting, by its direction */
static inline uint64_t keel_verbs_greeting_sum(const keel_service_seal_t *seal, const keel_verbs_greeting_t *greeting)
{
    return keel_service_seal_sum(seal, &greeting->instance,
                                 offsetof(keel_verbs_greeting_t, sum) - offsetof(keel_verbs_greeting_t, instance));
}
/* seals of both directions of a connection with a process, for links of @a port */
void keel_verbs_seals(const keel_verbs_port_t *port, const keel_service_end_t *other, keel_service_seal_t *out,
                      keel_service_seal_t *in);
keel_status_t keel_verbs_link_connect(keel_verbs_link_t *link, const keel_verbs_end_t *other);
/* From then on the device accepts nothing from the peer and reads nothing of this process for
 * it. Any thread, with the port's lock. */
void keel_verbs_link_fence(keel_verbs_link_t *link);
void keel_verbs_link_free(keel_verbs_link_t *link);

void keel_verbs_link_break(keel_verbs_link_t *link, const char *why);
/* for the port */
void keel_verbs_link_completed(keel_verbs_link_t *link, const struct ibv_wc *wc);

#endif
