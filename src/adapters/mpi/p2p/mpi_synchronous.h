/* Synchronous sends in deterministic mode (KEEL_DETERMINISTIC). A receiver takes no message before
 * waiting for one of that sender, so the sender matches its message with the receiver's published
 * list of open receives. */
#ifndef KEEL_MPI_SYNCHRONOUS_H_
#define KEEL_MPI_SYNCHRONOUS_H_

#include "p2p/mpi_channel.h"

/* Enclose a wait in which the rank takes messages of rank @a except alone, or of no rank if
 * @a except is KEEL_MPI_ANY_RANK. */
void keel_mpi_synchronous_enter(uint32_t except, const char *call);
void keel_mpi_synchronous_leave(void);
/* True if the message of this ack has been matched. */
int keel_mpi_synchronous_is_done(const keel_mpi_receive_t *ack, const char *call);
/* Returns when the message has been matched. */
void keel_mpi_synchronous_await(uint32_t rank, int64_t ack, const char *call);
/* Before a checkpoint, after all messages are received: frees the blocks of the lists. */
void keel_mpi_synchronous_reset(void);

#endif
