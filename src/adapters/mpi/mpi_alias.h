/* Pages of the program's own memory that are pages of the arena, too: for windows over memory that the program has. */
#ifndef KEEL_MPI_ALIAS_H_
#define KEEL_MPI_ALIAS_H_

#include "mpi_state.h"

/*
 * The arena's offset of that memory, whose contents are kept; memory of the arena is itself. In a replacement, before its restart point, the
 * offset that it had before, and nothing is done: its memory may lie otherwise, and gets its place at the restart point. With the promise it
 * has that place at once, or the job is started anew.
 */
uint64_t keel_mpi_alias_add(void *address, size_t bytes, const char *call);
/* the pages come back */
void keel_mpi_alias_remove(void *address, size_t bytes);
/* whether there is one that was made after the restart point */
int keel_mpi_alias_is_late(void);

/* at a rollback, before the arena's return: all pages come back, and what was made after the restart point is forgotten */
void keel_mpi_alias_unmap(void);
/* and after it: what belongs to the image is put to the program's memory, and that to a new place in the arena */
void keel_mpi_alias_map(void);
/* with the promise, where pages stay where they are: of what was made after the restart point, before the return; and after it, whether all is mapped */
void keel_mpi_alias_drop_late(void);
void keel_mpi_alias_check(const char *call);
/* where that memory is now; 0: it is not mapped */
uint64_t keel_mpi_alias_offset(const void *address, size_t bytes);

#endif
