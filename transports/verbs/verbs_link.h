/*
 * A link is one reliable connection: messages in both directions, each whole or not at all and in order, and from the end that
 * asks, puts and gets in that same order.
 *
 * What keeps it sound:
 * - A message is cut into frames of a slot each. The other end has a receive posted for every frame that may be under way: who
 *   sends has so many credits, and gets them back with frames that go the other way. A frame that only gives credits back costs
 *   none; of these at most two are under way, since each gives back half of all credits there are, and one more at the end.
 * - Nothing is written into a slot before the frame that was in it has completed. Not every request asks for a completion, but
 *   the last of so many does, and one that completes stands for all before it.
 * - The queues hold a completion for each request that can be under way: when a connection breaks, every one completes.
 * - A connection that broke is not mended: the link says so once, and its owner waits for the launcher's word on the peer.
 * - fence() destroys the queue pair at once, from whichever thread; from then on the device refuses what the other end sends,
 *   also what a process that is cut off but lives goes on writing.
 */
#ifndef KEEL_VERBS_LINK_H_
#define KEEL_VERBS_LINK_H_

#include "verbs_blob.h"
#include "verbs_port.h"

enum {
    KEEL_VERBS_SLOT = 8192, /* bytes of a frame */
    KEEL_VERBS_CREDITS = 8, /* frames of one direction that may be under way */
    KEEL_VERBS_RESERVE = 4, /* receives for frames that only give credits back */
    KEEL_VERBS_QUEUE = 256, /* requests under way */
    KEEL_VERBS_CHAIN = 32,  /* requests that are posted together, at most */
    KEEL_VERBS_UNASKED = 4, /* requests without a completion of their own, at most, and with a slot */
    KEEL_VERBS_WORD = 8,    /* bytes of a put that can be copied */
    KEEL_VERBS_MESSAGE_MAX = KEEL_MESSAGE_DATA_MAX + KEEL_TRANSPORT_HEADER_MAX + sizeof(keel_service_wire_t)
};

/* in front of each frame */
typedef struct keel_verbs_frame {
    uint32_t total;  /* bytes of the message; 0: none, credits alone */
    uint32_t offset; /* of this frame's in it */
    uint32_t length;
    uint16_t credits;
    uint16_t version;
} keel_verbs_frame_t;

_Static_assert(sizeof(keel_verbs_frame_t) == 16, "wire format");

enum { KEEL_VERBS_FRAME_VERSION = 1, KEEL_VERBS_FRAME_MAX = KEEL_VERBS_SLOT - sizeof(keel_verbs_frame_t) };

enum keel_verbs_link_flags {
    KEEL_VERBS_LINK_OPEN = KEEL_BIT(0),   /* both ends know each other */
    KEEL_VERBS_LINK_BROKEN = KEEL_BIT(1), /* nothing is sent any more */
    KEEL_VERBS_LINK_LEAVING = KEEL_BIT(2) /* BYE is sent and not answered */
};

struct keel_verbs_link {
    keel_verbs_port_t *port;
    void *owner;
    uint32_t peer, number;
    uint64_t instance; /* of the peer */
    keel_service_seal_t seal_out, seal_in;
    unsigned flags;
    struct ibv_qp *qp; /* NULL: fenced */
    uint32_t first_packet;
    unsigned inline_max;
    unsigned char *slots; /* of receives, then of sends */
    struct ibv_mr *mr;
    int socket; /* -1: none. Its end says that the peer's process is gone */

    /* out */
    ucs_list_link_t queue; /* of messages */
    size_t begun;          /* bytes of the first one that are in frames already */
    unsigned credits, owed;
    unsigned slot, slots_busy;
    uint64_t built, done; /* requests: put into the chain, or posted; completed */
    uint64_t asked;       /* the last one that asks for a completion, plus 1 */
    int must_ask;         /* the last one of this chain does */
    uint8_t has_slot[KEEL_VERBS_QUEUE];
    struct ibv_send_wr chain[KEEL_VERBS_CHAIN];
    struct ibv_sge pieces[KEEL_VERBS_CHAIN];
    unsigned chained;
    int may_grow;             /* a get is chained: its program may be about to issue more */
    uint64_t looked;          /* requests built when the port looked last */
    ucs_list_link_t unposted; /* in the port's list, while something is chained */
    uint64_t put, got;        /* as many requests as have to complete for the last put, and the last get, to be done */
    uint64_t fenced;          /* fences of the transport when a put was last made to wait for gets */
    ucs_list_link_t waiters;  /* who is to be told when requests have completed, in that order */

    /* in */
    unsigned char *partial; /* a message of which more is to come */
    size_t partial_len;
};

/* a queue pair and its slots; nothing passes before keel_verbs_link_connect(). Said: why it cannot be. */
keel_status_t keel_verbs_link_make(keel_verbs_port_t *port, uint32_t peer, uint64_t instance, void *owner,
                                   int is_written_to, keel_verbs_link_t **link_p);
size_t keel_verbs_link_bytes(void); /* that a link locks in memory, */
size_t keel_verbs_link_room(void);  /* and about that with the device's queues */
void keel_verbs_link_end(const keel_verbs_link_t *link, keel_verbs_end_t *end); /* of this side */
/* the sum of a greeting, by the direction in which it goes */
static inline uint64_t keel_verbs_greeting_sum(const keel_service_seal_t *seal, const keel_verbs_greeting_t *greeting)
{
    return keel_service_seal_sum(seal, &greeting->instance,
                                 offsetof(keel_verbs_greeting_t, sum) - offsetof(keel_verbs_greeting_t, instance));
}
/* the two directions of a connection with a process, as a link of that port has them */
void keel_verbs_seals(const keel_verbs_port_t *port, const keel_service_end_t *other, keel_service_seal_t *out,
                      keel_service_seal_t *in);
keel_status_t keel_verbs_link_connect(keel_verbs_link_t *link, const keel_verbs_end_t *other);
/* the device takes nothing of the peer any more, and reads nothing of this process for it. Any thread, with the port's lock */
void keel_verbs_link_fence(keel_verbs_link_t *link);
void keel_verbs_link_free(keel_verbs_link_t *link);

void keel_verbs_link_break(keel_verbs_link_t *link, const char *why);
/* for the port */
void keel_verbs_link_completed(keel_verbs_link_t *link, const struct ibv_wc *wc);

#endif
