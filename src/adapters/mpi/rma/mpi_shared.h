/*
 * Shared windows: where nothing else is said the memory of all members is one piece, in the arena of the first, one part after the
 * other; with alloc_shared_noncontig each has its own in its own arena.
 */
#ifndef KEEL_MPI_SHARED_H_
#define KEEL_MPI_SHARED_H_

#include "rma/mpi_window.h"

/* of a shared window after the restart point: its memory is where its members reach it, or the job is started anew */
void keel_mpi_shared_check(const keel_mpi_win_t *win, const char *call);

#endif
