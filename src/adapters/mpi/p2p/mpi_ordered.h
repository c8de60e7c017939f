/* Receiving in deterministic mode (KEEL_DETERMINISTIC). A rank takes a message only when a call
 * waits for a message of that source. */
#ifndef KEEL_MPI_ORDERED_H_
#define KEEL_MPI_ORDERED_H_

#include "p2p/mpi_channel.h"

void keel_mpi_ordered_make(void);
/* True if a send call may return: the message with this ticket is in flight, or the pending sends
 * are below the limit. The second function waits for that. */
int keel_mpi_ordered_is_sent(uint32_t rank, uint64_t ticket);
void keel_mpi_ordered_await_sent(uint32_t rank, uint64_t ticket, const char *call);
/* If the pending sends are over the limit: waits until no pending send belongs to a collective. */
void keel_mpi_ordered_throttle(const char *call);
int keel_mpi_ordered_has_pending(void);
/* After a gsync, before any rank takes a message: sends pending messages that have room. */
void keel_mpi_ordered_push(const char *call);
/* The same for waits on anything but messages. No log covers the result. */
void keel_mpi_ordered_push_unlogged(const char *call);
/* Before a gsync: returns when no rank needs a pending send of this rank in order to reach the
 * gsync. */
void keel_mpi_ordered_arrive(const char *call);
/* Waits for the next entry of that rank, a message or a part of one, and takes it. */
void keel_mpi_ordered_take(uint32_t source, const char *call);
/* Delivers all messages that have arrived; true if there were any. No log covers the result of the
 * look, so every death after the first such call is a rollback. */
int keel_mpi_ordered_poll(const char *call);
/* For calls that a program may use as its only way to poll. While a receive is open, every
 * POLL_INTERVALth call polls, since a peer's synchronous send may depend on it. */
void keel_mpi_ordered_poll_some(const char *call);
/* Declares to Keel that the rank depends on a value that no log has. Does nothing outside
 * deterministic mode. */
void keel_mpi_ordered_set_nondeterministic(const char *call);
/* After a gsync, on all ranks: delivers all messages sent before the gsync. */
void keel_mpi_ordered_take_all(const char *call);
/* Resets all peers to the state of a new process, with nothing in flight. @a frees_blocks: frees
 * the blocks of the arena; after a rollback they are free already. */
void keel_mpi_ordered_reset(int frees_blocks);

#endif
