/* Synchronous sends with the promise (KEEL_DETERMINISTIC), where nobody takes a message before it waits for one of its sender. */
#ifndef KEEL_MPI_SYNCHRONOUS_H_
#define KEEL_MPI_SYNCHRONOUS_H_

#include "p2p/mpi_channel.h"

/* around what waits for others and takes no messages of any rank but that one, which may be KEEL_MPI_ANY_RANK: of none at all */
void keel_mpi_synchronous_enter(uint32_t except, const char *call);
void keel_mpi_synchronous_leave(void);
/* whether the message that this answer was asked for has been matched */
int keel_mpi_synchronous_is_done(const keel_mpi_receive_t *ack, const char *call);
/* returns when it is */
void keel_mpi_synchronous_await(uint32_t rank, int64_t ack, const char *call);
/* before a checkpoint, when all is received: what this has of the arena is given back */
void keel_mpi_synchronous_reset(void);

#endif
