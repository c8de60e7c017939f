/* Messages with the promise (KEEL_DETERMINISTIC): each is taken when it is waited for, from the rank that it is waited for from. */
#ifndef KEEL_MPI_ORDERED_H_
#define KEEL_MPI_ORDERED_H_

#include "p2p/mpi_channel.h"

void keel_mpi_ordered_make(void);
/* of a message that mpi_pending.c gave a ticket for: it is on its way, or not much is unsent, so a call may return that is to have sent it; and
 * waits until that is so */
int keel_mpi_ordered_is_sent(uint32_t rank, uint64_t ticket);
void keel_mpi_ordered_await_sent(uint32_t rank, uint64_t ticket, const char *call);
/* where much is unsent: waits until nothing of collective calls is */
void keel_mpi_ordered_throttle(const char *call);
int keel_mpi_ordered_has_pending(void);
/* behind a gsync, before anybody takes anything: sends what there is room for */
void keel_mpi_ordered_push(const char *call);
/* for who waits for something else than messages: the same, which no log has */
void keel_mpi_ordered_push_unlogged(const char *call);
/* before a gsync: returns when nobody needs before it what is unsent here */
void keel_mpi_ordered_arrive(const char *call);
/* waits for the next entry of that rank, a message or a part of one, and takes it */
void keel_mpi_ordered_take(uint32_t source, const char *call);
/* delivers what has come; true when that was something. No log has what such a look finds: from the first one on deaths are rollbacks. */
int keel_mpi_ordered_poll(const char *call);
/* for calls by which alone a program may poll: with a receive open every so many of them look, as somebody's synchronous send may wait for that */
void keel_mpi_ordered_poll_some(const char *call);
/* tells Keel that something is looked at that no log has; nothing without the promise */
void keel_mpi_ordered_set_nondeterministic(const char *call);
/* behind a gsync, all ranks together: delivers all that was sent before it */
void keel_mpi_ordered_take_all(const char *call);
/* nothing is on the way: as in a process that begins. @a gives: blocks of the arena are given back, which a rollback has done itself. */
void keel_mpi_ordered_reset(int gives);

#endif
