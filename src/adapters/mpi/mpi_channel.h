/*
 * Messages: bytes on a ring at the receiver, of the sender's own, in order; what is taken off it is matched there. A message is
 * whole at its receiver, or will be without the sender's help, when it was sent.
 */
#ifndef KEEL_MPI_CHANNEL_H_
#define KEEL_MPI_CHANNEL_H_

#include "mpi_state.h"

#define KEEL_MPI_ANY_RANK UINT32_MAX
#define KEEL_MPI_ANY_TAG  INT64_MIN
#define KEEL_MPI_ANSWERS  1 /* a context that no communicator has */

/* in front of each message on a ring, and in the record */
typedef struct keel_mpi_head {
    uint64_t context;
    int64_t tag;
    uint64_t bytes;
    uint64_t source; /* a rank of the job */
    uint64_t answer; /* tag of the message that tells the sender that this one was matched; 0: none */
} keel_mpi_head_t;

typedef struct keel_mpi_letter {
    struct keel_mpi_letter *next;
    keel_mpi_head_t head;
    uint64_t here; /* bytes of it that have come */
    char data[];
} keel_mpi_letter_t;

/* what is waited for; the letter that is found is the waiter's */
typedef struct keel_mpi_want {
    uint64_t context;
    uint32_t source; /* or KEEL_MPI_ANY_RANK */
    int64_t tag;     /* or KEEL_MPI_ANY_TAG: any that is not negative */
    keel_mpi_letter_t *letter;
    struct keel_mpi_want *next; /* while it is posted */
} keel_mpi_want_t;

void keel_mpi_channel_make(void);
/* returns when the data may be changed; takes what comes meanwhile */
void keel_mpi_channel_send(uint32_t rank, uint64_t context, int64_t tag, const void *data, size_t bytes,
                           const char *call);
/* the same; the receiver answers by an empty message of KEEL_MPI_ANSWERS and the tag that is returned */
int64_t keel_mpi_channel_send_asking(uint32_t rank, uint64_t context, int64_t tag, const void *data, size_t bytes,
                                     const char *call);
/* takes what has come; true when that was something */
int keel_mpi_channel_look(const char *call);
/* progress of everything: takes what has come, and notices deaths; true when something came */
int keel_mpi_channel_progress(const char *call);
/* the same, and lets others run where nothing came: for who waits */
void keel_mpi_channel_idle(const char *call);

/* matched now or later, in the order of these calls; the letter is there when it is not NULL and whole, and freed by who has it. The
 * next look tells the sender that it is matched, where that was asked for. */
void keel_mpi_channel_post(keel_mpi_want_t *want);
/* takes it back; false: it has been matched already */
int keel_mpi_channel_unpost(keel_mpi_want_t *want);
static inline int keel_mpi_channel_has(const keel_mpi_want_t *want)
{
    return want->letter != NULL && want->letter->here == want->letter->head.bytes;
}
/* the first that would be matched and is whole, which stays or is taken (@a is_taken); NULL: none has come */
keel_mpi_letter_t *keel_mpi_channel_peek(const keel_mpi_want_t *want, int is_taken);

/* waits; what is longer than @a bytes is cut. Knows the record. Returns the length. */
size_t keel_mpi_channel_receive(uint32_t rank, uint64_t context, int64_t tag, void *data, size_t bytes,
                                const char *call);

/* those that nobody has asked for, at a checkpoint, when nobody sends: into a block of the arena, and back from it */
void keel_mpi_channel_save(const char *call);
void keel_mpi_channel_restore(void);

#endif
