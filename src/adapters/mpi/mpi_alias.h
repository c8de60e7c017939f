/* Pages of the program's own memory that are pages of the arena, too: for windows over memory that the program has. */
#ifndef KEEL_MPI_ALIAS_H_
#define KEEL_MPI_ALIAS_H_

#include "mpi_state.h"

/* the arena's offset of that memory, whose contents are kept; memory of the arena is itself */
uint64_t keel_mpi_alias_add(void *address, size_t bytes, const char *call);
/* ahead of the restart point the pages come back; behind it, those that were made ahead of it stay, as a rollback needs them again */
void keel_mpi_alias_remove(void *address, size_t bytes);
/* whether there is one that was made behind the restart point; takes those away */
int keel_mpi_alias_is_late(void);
void keel_mpi_alias_drop_late(void);

#endif
