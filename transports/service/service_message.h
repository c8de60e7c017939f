/*
 * Messages, in memory and on the wire, and their pools. A pool grows by chunks and allocates the
 * first chunk when it is opened, so light traffic allocates nothing. The size of a pool has no
 * bound: a peer may accept no reply for any time, and a dropped message would be a gap in the
 * order.
 */
#ifndef KEEL_SERVICE_MESSAGE_H_
#define KEEL_SERVICE_MESSAGE_H_

#include <keel/def.h>
#include <keel/status.h>

#include <ucs/datastruct/list.h>

#include "transport.h"

/*
 * A message with all headers fits in UCX's buffer of 64 KiB, and in one packet of a loopback device
 * (65,483 bytes): a slightly longer message costs two. The longest messages stay below the size
 * that UCX would send in place.
 */
enum { KEEL_SERVICE_WIRE_VERSION = 2, KEEL_MESSAGE_DATA_MAX = 65280 };

enum keel_service_wire_kind {
    KEEL_SERVICE_WIRE_HELLO = 1, /* request side: data is the sender's address blob */
    KEEL_SERVICE_WIRE_WELCOME,   /* reply side: the HELLO arrived */
    KEEL_SERVICE_WIRE_PING,      /* request side */
    KEEL_SERVICE_WIRE_PONG,      /* reply side: traffic may begin */
    KEEL_SERVICE_WIRE_REQUEST,
    KEEL_SERVICE_WIRE_REPLY,
    KEEL_SERVICE_WIRE_BYE, /* request side: the last message, answered by FAREWELL */
    KEEL_SERVICE_WIRE_FAREWELL,
    /* no content; reply side, see keel_ucp_port_drain(), and before a long HELLO */
    KEEL_SERVICE_WIRE_FILLER
};

/* prefix of every message's header */
typedef struct keel_service_wire {
    uint8_t version;
    uint8_t kind;
    uint16_t header_len; /* bytes of the header that follows */
    uint32_t rank;       /* rank of the sender */
    uint64_t instance;   /* instance of the sender, as in its address blob */
    uint64_t sequence;   /* increases for each direction of a connection; 0 with KEEL_AUTH=off */
    /* sum by the key of the direction (service_seal.h); 0 with KEEL_AUTH=off */
    uint64_t sum;
} keel_service_wire_t;

_Static_assert(sizeof(keel_service_wire_t) == 32, "wire format");

/* an aligned copy of both headers */
typedef struct keel_service_received {
    keel_service_wire_t wire;
    uint64_t header[KEEL_TRANSPORT_HEADER_MAX / sizeof(uint64_t)];
} keel_service_received_t;

typedef struct keel_service_pool keel_service_pool_t;

typedef struct keel_service_message {
    ucs_list_link_t link; /* in the queue of a link, or in the pool's list of free messages */
    keel_service_pool_t *pool;
    void *to; /* the link */
    const void *data;
    size_t data_len;
    keel_service_wire_t wire; /* header[] follows without a gap, so that both are sent together */
    unsigned char header[KEEL_TRANSPORT_HEADER_MAX];
    unsigned char copy[];
} keel_service_message_t;

_Static_assert(offsetof(keel_service_message_t, header) ==
                   offsetof(keel_service_message_t, wire) + sizeof(keel_service_wire_t),
               "sent as one");

/* Messages of one size. No locks: one thread at a time. */
struct keel_service_pool {
    ucs_list_link_t free;
    struct keel_service_chunk *chunks;
    size_t copy;   /* bytes of data that a message can copy */
    unsigned grow; /* messages in a chunk */
};

typedef struct keel_service_pools {
    keel_service_pool_t small, large; /* large.copy is 0 without a pool of large messages */
} keel_service_pools_t;

keel_status_t keel_service_pools_open(keel_service_pools_t *pools, size_t small_copy, size_t large_copy);
/* Also frees messages that were not put back. */
void keel_service_pools_close(keel_service_pools_t *pools);
/* NULL if memory is missing, or copy exceeds large_copy. The contents are those of the last use. */
keel_service_message_t *keel_service_message_get(keel_service_pools_t *pools, size_t copy);
void keel_service_message_put(keel_service_message_t *message);

/*
 * Provides room for the data of the next reply, in a message not sent yet. *message_p is NULL
 * without such a message. Room without a reply is dropped before the next.
 */
keel_status_t keel_service_room_make(keel_service_message_t **message_p, keel_service_pools_t *pools, size_t data_len,
                                     void **room_p);
void keel_service_room_drop(keel_service_message_t **message_p);
/* hands out the message, to be sent, if @a data is its room; else NULL */
keel_service_message_t *keel_service_room_take(keel_service_message_t **message_p, const void *data);

/* copies the headers of a received message, or KEEL_ERR_CORRUPT */
keel_status_t keel_service_wire_check(const void *message, size_t message_len, uint32_t ranks,
                                      keel_service_received_t *received);

#endif
