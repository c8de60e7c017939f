/* Handles made before the restart point, except communicators and windows. A freed handle is kept,
 * so that a rollback can restore the handle. */
#ifndef KEEL_MPI_PERSISTENT_HANDLES_H_
#define KEEL_MPI_PERSISTENT_HANDLES_H_

#include "mpi_state.h"

/* Registers a handle. @a variable: the variable that receives the handle; NULL: unknown. @a none:
 * the variable's value after a free. */
void keel_mpi_persistent_handle_add(uintptr_t handle, void *variable, const void *none, size_t size, const char *call);
/* Frees a handle as far as the program can see. True: the handle was made before the restart point
 * and the call comes after it, so the handle is kept and *@a variable is none. False: the caller
 * frees the handle. */
int keel_mpi_persistent_handle_keep(uintptr_t handle, void *variable, const void *none, size_t size);
/* After the arena is restored: restores the handles freed since that checkpoint. */
void keel_mpi_persistent_handle_revive(void);
void keel_mpi_persistent_handle_unmake(void);

#endif
