/* Sending in deterministic mode (KEEL_DETERMINISTIC). A message without room stays pending; every
 * wait sends pending messages. */
#ifndef KEEL_MPI_PENDING_H_
#define KEEL_MPI_PENDING_H_

#include "p2p/mpi_match.h"

/* Sends without waiting. Returns 0 if the message is in flight, else a ticket for
 * keel_mpi_pending_is_sent(). */
uint64_t keel_mpi_pending_send(uint32_t rank, keel_mpi_head_t head, const void *data, const char *call);
/* The tag of the ack for the next message to the rank. */
uint64_t keel_mpi_pending_next_ack_tag(uint32_t rank);

/* Sends the pending messages that have room as far as known. Returns the number of messages
 * left. */
size_t keel_mpi_pending_push(const char *call);
size_t keel_mpi_pending_count(void);
int keel_mpi_pending_is_sent(uint32_t rank, uint64_t ticket);
/* True if the copies take more memory than the arena has; calls that may block then wait. */
int keel_mpi_pending_is_over_limit(void);
/* True if a pending message belongs to a collective. */
int keel_mpi_pending_has_collective(void);

/* Reads the head of the @a i-th message to the rank that is not known to be taken, in order. -1:
 * there is none. 0: a part of a message that goes on, or an entry that the peer, with @a taken
 * entries taken, already has. */
int keel_mpi_pending_head(uint32_t rank, size_t i, uint64_t taken, keel_mpi_head_t *head_p);

/* Drops all pending messages to a peer, for a reset of its state. @a frees_blocks: frees the
 * blocks of the arena. */
void keel_mpi_pending_reset(uint32_t rank, int frees_blocks);

#endif
