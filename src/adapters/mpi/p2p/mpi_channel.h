/*
 * Message channels. A sender writes its messages, in order, as bytes to its own ring at the
 * receiver; the receiver takes them off the ring and matches them. A sent message is complete at
 * the receiver, or becomes complete without the sender's help, or waits at the sender for room
 * (mpi_stream.c, mpi_pending.c).
 */
#ifndef KEEL_MPI_CHANNEL_H_
#define KEEL_MPI_CHANNEL_H_

#include "p2p/mpi_stream.h"

void keel_mpi_channel_make(void);
/* Sends a message and takes incoming messages meanwhile. Returns a ticket if the message is
 * pending, else 0. In deterministic mode every pending message is copied. */
uint64_t keel_mpi_channel_send_mode(keel_mpi_send_mode_t mode, uint32_t rank, uint64_t context, int64_t tag,
                                    const void *data, size_t bytes, const char *call);
/* Returns when the caller may change the data. */
static inline void keel_mpi_channel_send(uint32_t rank, uint64_t context, int64_t tag, const void *data, size_t bytes,
                                         const char *call)
{
    (void)keel_mpi_channel_send_mode(KEEL_MPI_SEND_BLOCKS, rank, context, tag, data, bytes, call);
}
/* True if a call that sent the message may return. The second function waits for that. */
int keel_mpi_channel_is_sent(uint32_t rank, uint64_t ticket);
void keel_mpi_channel_await_sent(uint32_t rank, uint64_t ticket, const char *call);
/* As keel_mpi_channel_send_mode(), with the ticket in *@a ticket_p. Returns a tag: when the
 * receiver has matched the message, even before all data has arrived, the receiver sends an empty
 * message with this tag in KEEL_MPI_ACK_CONTEXT. */
int64_t keel_mpi_channel_send_acked(keel_mpi_send_mode_t mode, uint32_t rank, uint64_t context, int64_t tag,
                                    const void *data, size_t bytes, uint64_t *ticket_p, const char *call);
/* Takes incoming messages of all ranks; true if there were any. */
int keel_mpi_channel_poll(const char *call);
/* As keel_mpi_channel_poll(), for a few ranks in turn. For fast calls that a program may use as its
 * only way to poll. */
void keel_mpi_channel_poll_some(const char *call);
/* Makes progress on everything: takes incoming messages and notices deaths. True if anything
 * arrived. */
int keel_mpi_channel_progress(const char *call);
/* Makes progress, and yields the core if nothing arrived. For calls that poll. */
void keel_mpi_channel_progress_or_yield(const char *call);
/* The same, and sleeps after some rounds. For waits on what others put. */
void keel_mpi_channel_progress_or_sleep(const char *call);
/* Ends a wait that no message ended: the next wait spins again before it sleeps. */
void keel_mpi_channel_end_wait(void);
/* Yields the core. For waits on anything but messages. */
void keel_mpi_channel_yield(const char *call);
/* Waits for messages that may match the receive, and takes them. */
void keel_mpi_channel_await_more(const keel_mpi_receive_t *receive, const char *call);

/* As keel_mpi_match_post(). If a message matches at once, its sender gets the ack from the next
 * poll, or from this call in deterministic mode. */
void keel_mpi_channel_post(keel_mpi_receive_t *receive, const char *call);
/* Looks for more messages and returns the first complete match, or NULL. The message stays queued
 * unless @a is_taken is set. With @a is_waiting the call waits for a match. Returns NULL in a
 * replaying replacement: the startup record has the result. */
keel_mpi_message_t *keel_mpi_channel_find(const keel_mpi_receive_t *receive, int is_taken, int is_waiting,
                                          const char *call);

/* Returns when the receive is complete. */
void keel_mpi_channel_await(const keel_mpi_receive_t *receive, const char *call);

/* Blocks until a message is received and returns its length; bytes beyond @a bytes are cut off.
 * Records or replays the result before the restart point. */
size_t keel_mpi_channel_receive(uint32_t rank, uint64_t context, int64_t tag, void *data, size_t bytes,
                                const char *call);

/* Sends the pending acks of matched messages. */
void keel_mpi_channel_send_acks(const char *call);
/* After a rollback: nothing is in flight, and the unexpected queue is that of the newest
 * checkpoint. */
void keel_mpi_channel_restore(void);

#endif
