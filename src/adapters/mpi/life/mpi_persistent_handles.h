/* Handles other than those of communicators and windows that were made before the restart point: a rollback gives them back. */
#ifndef KEEL_MPI_PERSISTENT_HANDLES_H_
#define KEEL_MPI_PERSISTENT_HANDLES_H_

#include "mpi_state.h"

/* @a variable: where it is put, NULL: not known; @a none: what stands there when it is freed */
void keel_mpi_persistent_handle_add(uintptr_t handle, void *variable, const void *none, size_t size, const char *call);
/* true: it was made before the restart point, and this is after it: the variable has none then, and the handle stays. Else it is to be freed. */
int keel_mpi_persistent_handle_keep(uintptr_t handle, void *variable, const void *none, size_t size);
/* those that were freed since the checkpoint whose tables are there again */
void keel_mpi_persistent_handle_revive(void);
void keel_mpi_persistent_handle_unmake(void);

#endif
