/* Letters: messages that have come, and who waits for them. */
#ifndef KEEL_MPI_MATCH_H_
#define KEEL_MPI_MATCH_H_

#include "mpi_state.h"

#define KEEL_MPI_ANY_RANK    UINT32_MAX
#define KEEL_MPI_ANY_TAG     INT64_MIN
#define KEEL_MPI_ACK_CONTEXT 1 /* a context that no communicator has */

/* in front of each message on a ring, and in the record */
typedef struct keel_mpi_head {
    uint64_t context;
    int64_t tag;
    uint64_t bytes;
    uint64_t source; /* a rank of the job */
    uint64_t ack;    /* tag of the message that tells the sender that this one was matched; 0: none */
    /* mpi_pending.c: where at the sender the message lies, 0: not there; whether the next one is told by that; how many bytes of it follow
     * here, where it is not; and how many of the receiver's entries the sender has taken */
    uint64_t node;
    uint32_t is_chain, part;
    uint64_t taken;
} keel_mpi_head_t;

/* bytes of a message's data, and those behind it up to the next multiple of 8 */
static inline size_t keel_mpi_padded(size_t bytes)
{
    return (bytes + 7) & ~(size_t)7;
}

typedef struct keel_mpi_message {
    struct keel_mpi_message *next;
    keel_mpi_head_t head;
    uint64_t received; /* bytes of it that have come */
    char data[];
} keel_mpi_message_t;

/* what is waited for; the letter that is found is the waiter's */
typedef struct keel_mpi_receive {
    uint64_t context;
    uint32_t source; /* or KEEL_MPI_ANY_RANK */
    int64_t tag;     /* or KEEL_MPI_ANY_TAG: any that is not negative */
    keel_mpi_message_t *message;
    struct keel_mpi_receive *next; /* while it is posted */
} keel_mpi_receive_t;

/* what is to be told to the sender of a letter that was matched */
typedef struct keel_mpi_ack {
    uint32_t rank;
    int64_t tag;
} keel_mpi_ack_t;

int keel_mpi_match_fits(const keel_mpi_receive_t *receive, const keel_mpi_head_t *head);
/* a letter for a message, and a letter whose head has come to who waits for it or into the queue */
keel_mpi_message_t *keel_mpi_message_make(const keel_mpi_head_t *head);
void keel_mpi_match_deliver(keel_mpi_message_t *message);

/* matched now or later, in the order of these calls; the letter is there when it is not NULL and whole, and freed by who has it */
void keel_mpi_match_post(keel_mpi_receive_t *receive);
/* takes it back; false: it has been matched already */
int keel_mpi_match_unpost(keel_mpi_receive_t *receive);
/* the first of those that are not matched; NULL: all are */
const keel_mpi_receive_t *keel_mpi_match_first_posted(void);
static inline int keel_mpi_receive_is_complete(const keel_mpi_receive_t *receive)
{
    return receive->message != NULL && receive->message->received == receive->message->head.bytes;
}
/* the first that would be matched and is whole, which stays or is taken (@a is_taken); NULL: none has come */
keel_mpi_message_t *keel_mpi_match_peek(const keel_mpi_receive_t *receive, int is_taken);
/* of those that are not matched, in order, each from any rank that has another number than 0 there, in the low 32 bits, is for messages of
 * that rank + 1 alone from now on */
void keel_mpi_match_claim(const uint64_t *claims, size_t stride);
/* takes one of those that are to be told that a letter was matched; false: there is none, but for rank @a but - 1 */
int keel_mpi_match_take_ack(keel_mpi_ack_t *ack_p, uint32_t except);

/* those that nobody has asked for, at a checkpoint, when nobody sends: into a block of the arena, and back from it */
void keel_mpi_match_save(const char *call);
void keel_mpi_match_restore(void);

#endif
