/* What mpi_ordered.c, which takes messages, and mpi_pending.c, which sends them, know of each other rank. Theirs alone. */
#ifndef KEEL_MPI_PEER_H_
#define KEEL_MPI_PEER_H_

#include "mpi_arena.h"
#include "p2p/mpi_match.h"

#define KEEL_MPI_ON_THE_RING ((uint64_t)1) /* of a node: the next message is there; no offset of a block */

/* a message in the sender's arena */
typedef struct keel_mpi_node {
    uint64_t next;
    keel_mpi_head_t head;
    char data[];
} keel_mpi_node_t;

typedef struct keel_mpi_sent {
    uint64_t number;   /* of the entry, from 1 */
    uint64_t ring_end; /* what of the ring is free when it is taken */
    uint64_t node;     /* 0: none */
    size_t kept;       /* bytes of the arena */
    int is_part;       /* more of the message follows */
    keel_mpi_head_t head;
    uint64_t
        free_at; /* number of the entry by whose taking the node is free: one of a chain is read once more for what is behind it */
} keel_mpi_sent_t;

/* a message that there was no room for, with a copy of its data */
typedef struct keel_mpi_pending {
    struct keel_mpi_pending *next;
    keel_mpi_head_t head;
    uint64_t done; /* bytes that are on their way */
    char data[];
} keel_mpi_pending_t;

/* of a rank, both ways; as it begins at each checkpoint */
typedef struct keel_mpi_peer {
    uint64_t written, reusable; /* bytes of the ring there */
    uint64_t known_taken;       /* how many entries that rank is known to have taken */
    uint64_t last;              /* node of the last message, when the next one is told by it; 0: by the ring */
    keel_mpi_sent_t *sent;      /* not known to have been taken: a queue in a circle */
    size_t first, count, room;
    size_t kept;                 /* bytes of the arena that those of the queue have */
    keel_mpi_pending_t *pending; /* in their order; NULL: none */
    keel_mpi_pending_t *pending_last;
    uint64_t queued, begun;       /* how many of these there ever were, and how many of them are on their way */
    uint64_t read;                /* bytes of the ring here */
    uint64_t announced;           /* of which the sender has been told */
    uint64_t follow;              /* node there that tells where the next message is; 0: the ring does */
    keel_mpi_message_t *incoming; /* of which some parts have been taken; NULL: none */
} keel_mpi_peer_t;

extern keel_mpi_peer_t *keel_mpi_peers;

#endif
