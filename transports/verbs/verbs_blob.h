/* Bytes that leave a process: its address, the key of a memory, and the greetings by which two
 * processes connect. */
#ifndef KEEL_VERBS_BLOB_H_
#define KEEL_VERBS_BLOB_H_

#include "shm/shm_blob.h"
#include "shm/shm_segment.h"

enum {
    KEEL_VERBS_BLOB_ADDRESS = KEEL_SHM_BLOB_ADDRESS_VERBS,
    KEEL_VERBS_BLOB_KEY = 0x454b564b,     /* "KVKE" */
    KEEL_VERBS_BLOB_HELLO = 0x4548564b,   /* "KVHE" */
    KEEL_VERBS_BLOB_WELCOME = 0x4557564b, /* "KVWE" */
    KEEL_VERBS_HOSTS_MAX = 8
};

/* an address of the host for sockets; four bytes of IPv4 are followed by zeros */
typedef struct keel_verbs_host {
    uint8_t bytes[16];
    uint32_t is_long; /* IPv6, sixteen bytes */
} keel_verbs_host_t;

typedef struct keel_verbs_address {
    keel_shm_blob_head_t head;
    uint32_t rank;
    uint16_t port; /* the process listens at this port of each host address */
    uint16_t hosts;
    keel_verbs_host_t host[KEEL_VERBS_HOSTS_MAX];
    /* keel_shm_card_t: a process that can read the card shares memory with this process */
    keel_shm_segment_id_t card;
} keel_verbs_address_t;

typedef struct keel_verbs_key_blob {
    keel_shm_blob_head_t head;
    keel_shm_segment_id_t segment;
    /* KEEL_LANE_RMA: the device reaches the memory with remote_key; KEEL_LANE_ATOMIC: all ranks
     * change its words through the device */
    uint32_t lanes;
    uint32_t remote_key;
} keel_verbs_key_blob_t;

/* an end of a pair of queues */
typedef struct keel_verbs_end {
    uint8_t gid[16];
    uint32_t number, first_packet;
    uint16_t lid;
    uint16_t mtu;   /* enum ibv_mtu */
    uint32_t reads; /* reads that may be in flight towards this end */
} keel_verbs_end_t;

/* HELLO of the connecting process, WELCOME of the accepting process */
typedef struct keel_verbs_greeting {
    keel_shm_blob_head_t head;
    uint64_t instance; /* instance of the receiver */
    uint32_t rank;     /* rank of the sender */
    uint32_t reserved;
    keel_verbs_end_t end;
    /* sum of the fields from instance on, by a key of the connection's direction; 0 with
     * KEEL_AUTH=off */
    uint64_t sum;
} keel_verbs_greeting_t;

_Static_assert(sizeof(keel_verbs_address_t) == 224, "wire format");
_Static_assert(sizeof(keel_verbs_key_blob_t) == 64, "wire format");
_Static_assert(sizeof(keel_verbs_end_t) == 32, "wire format");
_Static_assert(sizeof(keel_verbs_greeting_t) == 80, "wire format");

#endif
