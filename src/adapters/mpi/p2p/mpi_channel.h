/*
 * Messages: bytes on a ring at the receiver, of the sender's own, in order; what is taken off it is matched there. A message that was sent is
 * whole at its receiver, or will be without the sender's help, or waits at the sender for room (mpi_stream.c, mpi_pending.c).
 */
#ifndef KEEL_MPI_CHANNEL_H_
#define KEEL_MPI_CHANNEL_H_

#include "p2p/mpi_stream.h"

void keel_mpi_channel_make(void);
/* takes what comes meanwhile. Gives a ticket of a message that is unsent, 0: it need not be asked for; with the promise all are copied. */
uint64_t keel_mpi_channel_send_mode(keel_mpi_send_mode_t mode, uint32_t rank, uint64_t context, int64_t tag,
                                    const void *data, size_t bytes, const char *call);
/* returns when the data may be changed */
static inline void keel_mpi_channel_send(uint32_t rank, uint64_t context, int64_t tag, const void *data, size_t bytes,
                                         const char *call)
{
    (void)keel_mpi_channel_send_mode(KEEL_MPI_SEND_BLOCKS, rank, context, tag, data, bytes, call);
}
/* whether a call may return that is to have sent it; and waits until that is so */
int keel_mpi_channel_is_sent(uint32_t rank, uint64_t ticket);
void keel_mpi_channel_await_sent(uint32_t rank, uint64_t ticket, const char *call);
/* the same, and sets the ticket; the receiver answers, when it has matched it and not when it has all of it, by an empty message of
 * KEEL_MPI_ACK_CONTEXT and the tag that is returned */
int64_t keel_mpi_channel_send_acked(keel_mpi_send_mode_t mode, uint32_t rank, uint64_t context, int64_t tag,
                                    const void *data, size_t bytes, uint64_t *ticket_p, const char *call);
/* takes what has come; true when that was something */
int keel_mpi_channel_poll(const char *call);
/* the same of some ranks, by turns of all: for calls that have to be fast, by which alone a program may poll */
void keel_mpi_channel_poll_some(const char *call);
/* progress of everything: takes what has come, and notices deaths; true when something came */
int keel_mpi_channel_progress(const char *call);
/* the same, and lets others run where nothing came: for who asks what has come, or waits for what may come from anywhere */
void keel_mpi_channel_progress_or_yield(const char *call);
/* lets others run: for who waits for something else than messages */
void keel_mpi_channel_yield(const char *call);
/* more of what may match, after waiting for it */
void keel_mpi_channel_await_more(const keel_mpi_receive_t *receive, const char *call);

/* keel_mpi_match_post(); and the sender of one that is matched by it is told so, by the next look or, with the promise, here */
void keel_mpi_channel_post(keel_mpi_receive_t *receive, const char *call);
/* the first that would be matched, which stays or is taken (@a is_taken), after looking for more; until there is one,
 * @a is_waiting; NULL in a replacement's start, which has the record */
keel_mpi_message_t *keel_mpi_channel_find(const keel_mpi_receive_t *receive, int is_taken, int is_waiting,
                                          const char *call);

/* returns when it has */
void keel_mpi_channel_await(const keel_mpi_receive_t *receive, const char *call);

/* waits; what is longer than @a bytes is cut. Knows the record. Returns the length. */
size_t keel_mpi_channel_receive(uint32_t rank, uint64_t context, int64_t tag, void *data, size_t bytes,
                                const char *call);

/* tells the senders of what has been matched */
void keel_mpi_channel_send_acks(const char *call);
/* as at the newest checkpoint: nothing is on its way, and what nobody had asked for is there */
void keel_mpi_channel_restore(void);

#endif
