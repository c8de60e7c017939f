/* Sending with the promise (KEEL_DETERMINISTIC): what there is no room for is sent later, by whatever waits. */
#ifndef KEEL_MPI_PENDING_H_
#define KEEL_MPI_PENDING_H_

#include "p2p/mpi_match.h"

/* Never waits. Gives 0: it is on its way; else what to ask by whether it is. */
uint64_t keel_mpi_pending_send(uint32_t rank, keel_mpi_head_t head, const void *data, const char *call);
/* the number that the next message to that rank has as its answer's tag */
uint64_t keel_mpi_pending_next_ack_tag(uint32_t rank);

/* sends what there is room for now, by what is known; how many messages are left */
size_t keel_mpi_pending_push(const char *call);
size_t keel_mpi_pending_count(void);
int keel_mpi_pending_is_sent(uint32_t rank, uint64_t ticket);
/* more is kept than a rank may have when a call returns that need not */
int keel_mpi_pending_is_over_limit(void);
/* some of them are of collective calls */
int keel_mpi_pending_has_collective(void);

/* the heads of messages to that rank, in their order: the @a i-th of those that are not known to have been taken. -1: there are no more; 0: of
 * this one more follows, or it is not above @a taken, the number of entries that the rank has taken */
int keel_mpi_pending_head(uint32_t rank, size_t i, uint64_t taken, keel_mpi_head_t *head_p);

/* of a line that begins anew: blocks of the arena are given back, where @a gives; what is unsent is dropped */
void keel_mpi_pending_reset(uint32_t rank, int gives);

#endif
