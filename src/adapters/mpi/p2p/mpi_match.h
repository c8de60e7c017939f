/* Message matching: posted receives and the unexpected queue. */
#ifndef KEEL_MPI_MATCH_H_
#define KEEL_MPI_MATCH_H_

#include "mpi_state.h"

#define KEEL_MPI_ANY_RANK    UINT32_MAX
#define KEEL_MPI_ANY_TAG     INT64_MIN
#define KEEL_MPI_ACK_CONTEXT 1 /* the context of acks; no communicator has it */

/* Precedes each message on a ring and in the startup record. */
typedef struct keel_mpi_head {
    uint64_t context;
    int64_t tag;
    uint64_t bytes;
    uint64_t source; /* rank of the job */
    uint64_t ack;    /* tag of the ack that the sender asks for; 0: none */
    /* Deterministic mode (mpi_pending.c). is_chain: the node links to the next message. part: bytes
     * on the ring after this head. node: offset of the message in the sender's arena, 0: the data
     * follows on the ring. taken: number of the receiver's entries that the sender has taken. */
    uint32_t is_chain; /* without deterministic mode: keel_mpi_offer_kind_t of the offer behind */
    uint32_t part;     /* without deterministic mode: the sender's core (mpi_spin.h) */
    uint64_t node;     /* from here on not on the ring without deterministic mode */
    uint64_t taken;
} keel_mpi_head_t;

/* Length of a message's data padded to a multiple of 8. */
static inline size_t keel_mpi_padded(size_t bytes)
{
    return (bytes + 7) & ~(size_t)7;
}

typedef struct keel_mpi_message {
    struct keel_mpi_message *next;
    keel_mpi_head_t head;
    uint64_t received; /* bytes that have arrived */
    char *place;       /* the data; here, or in the matching receive's place */
    char data[];
} keel_mpi_message_t;

/* A posted receive. The matched message belongs to the owner of the receive. */
typedef struct keel_mpi_receive {
    uint64_t context;
    uint32_t source; /* a rank, or KEEL_MPI_ANY_RANK */
    int64_t tag;     /* a tag, or KEEL_MPI_ANY_TAG for any tag that is not negative */
    void *place;     /* memory for the data of a message of at most @a room bytes */
    size_t room;     /* 0: no place */
    keel_mpi_message_t *message;
    struct keel_mpi_receive *next; /* valid while the receive is posted */
} keel_mpi_receive_t;

/* An ack that the receiver owes to the sender of a matched message. */
typedef struct keel_mpi_ack {
    uint32_t rank;
    int64_t tag;
} keel_mpi_ack_t;

int keel_mpi_match_fits(const keel_mpi_receive_t *receive, const keel_mpi_head_t *head);
/* Allocates a message for the head. keel_mpi_match_deliver() gives a message, once its head has
 * arrived, to the first posted receive that fits, or to the unexpected queue. */
keel_mpi_message_t *keel_mpi_message_make(const keel_mpi_head_t *head);
/* The same; the data goes to the place of the first posted receive that fits, if there is one and
 * the place has room. For messages that are delivered at once. */
keel_mpi_message_t *keel_mpi_message_make_placed(const keel_mpi_head_t *head);
void keel_mpi_match_deliver(keel_mpi_message_t *message);

/* Matches the receive now or later, in the order of the calls. The receive is complete if its
 * message is not NULL and whole; the owner of the receive frees the message. */
void keel_mpi_match_post(keel_mpi_receive_t *receive);
/* Withdraws a posted receive; false if the receive has been matched already. */
int keel_mpi_match_unpost(keel_mpi_receive_t *receive);
/* The first posted receive without a match; NULL: none. */
const keel_mpi_receive_t *keel_mpi_match_first_posted(void);
static inline int keel_mpi_receive_is_complete(const keel_mpi_receive_t *receive)
{
    return receive->message != NULL && receive->message->received == receive->message->head.bytes;
}
/* The first message that the receive would match, if the message is complete, else NULL.
 * @a is_taken removes the message from the queue. */
keel_mpi_message_t *keel_mpi_match_peek(const keel_mpi_receive_t *receive, int is_taken);
/* Restricts posted receives from any rank to one source. @a claims has one word per posted receive,
 * in order; the low 32 bits are 1 + the source, or 0 for no claim. */
void keel_mpi_match_claim(const uint64_t *claims, size_t stride);
/* Removes one pending ack from the list and sets *@a ack_p; skips acks to rank @a except - 1. False
 * if there is none. */
int keel_mpi_match_take_ack(keel_mpi_ack_t *ack_p, uint32_t except);

/* Saves the unexpected queue to a block of the arena at a checkpoint, when no rank sends, and
 * restores it from there. */
void keel_mpi_match_save(const char *call);
void keel_mpi_match_restore(void);

#endif
