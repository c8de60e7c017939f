/* State of both directions towards each peer in deterministic mode. Private to mpi_ordered.c, which
 * receives, and mpi_pending.c, which sends. */
#ifndef KEEL_MPI_PEER_H_
#define KEEL_MPI_PEER_H_

#include "mpi_arena.h"
#include "p2p/mpi_match.h"

#define KEEL_MPI_ON_THE_RING ((uint64_t)1) /* node.next: the next message is on the ring */

/* A message in the sender's arena. */
typedef struct keel_mpi_node {
    uint64_t next;
    keel_mpi_head_t head;
    char data[];
} keel_mpi_node_t;

typedef struct keel_mpi_sent {
    uint64_t number;    /* of the entry, from 1 */
    uint64_t ring_end;  /* position up to which the ring is free once the entry is taken */
    uint64_t node;      /* 0: none */
    size_t arena_bytes; /* bytes of the arena */
    int is_part;        /* more of the message follows */
    keel_mpi_head_t head;
    /* number of the entry that frees the node once taken; the receiver reads a chained node again
     * for its link */
    uint64_t free_at;
} keel_mpi_sent_t;

/* A message that found no room, with a copy of its data. */
typedef struct keel_mpi_pending {
    struct keel_mpi_pending *next;
    keel_mpi_head_t head;
    uint64_t done; /* bytes in flight */
    char data[];
} keel_mpi_pending_t;

/* State of both directions towards one peer, reset at each checkpoint. */
typedef struct keel_mpi_peer {
    /* bytes of the ring at the peer: written, and known to be free again */
    uint64_t written, reusable;
    uint64_t known_taken; /* entries known to be taken by the peer */
    /* node of the last message, if the node links to the next one; 0: the ring does */
    uint64_t last;
    keel_mpi_sent_t *sent; /* circular queue of entries not known to be taken */
    size_t first, count, room;
    size_t arena_bytes;          /* bytes of the arena in the queue's nodes */
    keel_mpi_pending_t *pending; /* in order; NULL: none */
    keel_mpi_pending_t *pending_last;
    uint64_t queued, begun; /* pending messages ever queued, and the number sent since */
    uint64_t read;          /* bytes read from the ring here */
    uint64_t announced;     /* part of read announced to the sender */
    /* node at the peer that links to the next message; 0: the ring has it */
    uint64_t follow;
    keel_mpi_message_t *incoming; /* a partly taken message; NULL: none */
} keel_mpi_peer_t;

extern keel_mpi_peer_t *keel_mpi_peers;

#endif
