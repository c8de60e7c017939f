/*
 * Messages as they lie in memory and on the wire, and the pools that they come from. A pool grows by chunks and allocates the
 * first one when it is opened, so that light traffic allocates nothing. Its size has no bound: a peer may take no reply for as
 * long as it likes, and a dropped message would be a gap in the order.
 */
#ifndef KEEL_SERVICE_MESSAGE_H_
#define KEEL_SERVICE_MESSAGE_H_

#include <keel/def.h>
#include <keel/status.h>

#include <ucs/datastruct/list.h>

#include "transport.h"

/*
 * A message with all its headers fits in UCX's buffer of 64 KiB, and in one packet of a loopback device (65,483 bytes): what is longer
 * by some bytes costs two. The longest ones stay below what UCX would send in place.
 */
enum { KEEL_SERVICE_WIRE_VERSION = 2, KEEL_MESSAGE_DATA_MAX = 65280 };

enum keel_service_wire_kind {
    KEEL_SERVICE_WIRE_HELLO = 1, /* request side: data is the sender's address blob */
    KEEL_SERVICE_WIRE_WELCOME,   /* reply side: the greeting arrived */
    KEEL_SERVICE_WIRE_PING,      /* request side */
    KEEL_SERVICE_WIRE_PONG,      /* reply side: traffic may begin */
    KEEL_SERVICE_WIRE_REQUEST,
    KEEL_SERVICE_WIRE_REPLY,
    KEEL_SERVICE_WIRE_BYE, /* request side: the last one, to be answered by FAREWELL */
    KEEL_SERVICE_WIRE_FAREWELL,
    KEEL_SERVICE_WIRE_FILLER /* says nothing: reply side, see keel_ucp_port_drain(); before a long HELLO */
};

/* in front of every message's header */
typedef struct keel_service_wire {
    uint8_t version;
    uint8_t kind;
    uint16_t header_len; /* of the header that follows */
    uint32_t rank;       /* sender */
    uint64_t instance;   /* sender's, as in its address blob */
    uint64_t sequence;   /* of the direction of the connection, rising; 0 with KEEL_AUTH=off */
    uint64_t sum;        /* by a key of that direction (service_seal.h); 0 with KEEL_AUTH=off */
} keel_service_wire_t;

_Static_assert(sizeof(keel_service_wire_t) == 32, "wire format");

/* an aligned copy of both headers */
typedef struct keel_service_received {
    keel_service_wire_t wire;
    uint64_t header[KEEL_TRANSPORT_HEADER_MAX / sizeof(uint64_t)];
} keel_service_received_t;

typedef struct keel_service_pool keel_service_pool_t;

typedef struct keel_service_message {
    ucs_list_link_t link; /* in the link's queue, or in the pool's list of free messages */
    keel_service_pool_t *pool;
    void *to; /* the link */
    const void *data;
    size_t data_len;
    keel_service_wire_t wire; /* header[] follows without a gap: both are sent as one */
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
    size_t copy;   /* bytes of data that a message can hold a copy of */
    unsigned grow; /* messages in a chunk */
};

typedef struct keel_service_pools {
    keel_service_pool_t small, large; /* large.copy is 0 if there is no such pool */
} keel_service_pools_t;

keel_status_t keel_service_pools_open(keel_service_pools_t *pools, size_t small_copy, size_t large_copy);
/* Also frees messages that were not put back. */
void keel_service_pools_close(keel_service_pools_t *pools);
/* NULL if there is no memory, or copy is larger than large_copy. Its contents are those of its last use. */
keel_service_message_t *keel_service_message_get(keel_service_pools_t *pools, size_t copy);
void keel_service_message_put(keel_service_message_t *message);

/*
 * Room for the data of the next reply is a message that is not sent yet; *message_p is NULL where there is none. One that was not
 * replied to is dropped before the next.
 */
keel_status_t keel_service_room_make(keel_service_message_t **message_p, keel_service_pools_t *pools, size_t data_len,
                                     void **room_p);
void keel_service_room_drop(keel_service_message_t **message_p);
/* the caller's, to be sent, when @a data lies there; else NULL */
keel_service_message_t *keel_service_room_take(keel_service_message_t **message_p, const void *data);

/* the headers of a received message, or KEEL_ERR_CORRUPT */
keel_status_t keel_service_wire_check(const void *message, size_t message_len, uint32_t ranks,
                                      keel_service_received_t *received);

#endif
