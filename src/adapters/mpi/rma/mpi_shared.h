/*
 * Shared windows. By default the memory of all members is a single block in the arena of the first
 * member, in rank order. With alloc_shared_noncontig each member has a block in the member's own
 * arena.
 */
#ifndef KEEL_MPI_SHARED_H_
#define KEEL_MPI_SHARED_H_

#include "rma/mpi_window.h"

/* After a restart: launches the job again unless all members of a shared window can map the
 * memory. */
void keel_mpi_shared_check(const keel_mpi_win_t *win, const char *call);

#endif
