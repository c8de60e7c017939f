/* The program's variables in which a handle was made and freed. A rollback sets the variables to
 * match the handle's state in the image. */
#ifndef KEEL_MPI_HANDLE_VARS_H_
#define KEEL_MPI_HANDLE_VARS_H_

#include <stddef.h>

typedef struct keel_mpi_handle_vars {
    void *made_by; /* a replacement leaves the variable as made; NULL: unknown */
    /* freed behind the restart point, so that a rollback undoes the free; NULL: in use */
    void *freed_by;
    int was_freed; /* freed by the predecessor of this process */
} keel_mpi_handle_vars_t;

/* A rollback removes the handle: sets its variable to none if the variable still holds the
 * handle. */
void keel_mpi_handle_vars_forget(const keel_mpi_handle_vars_t *variables, const void *handle, const void *none,
                                 size_t size);
/* After a rollback: marks the handle as freed or in use, as in the image (@a is_freed), and sets
 * its variable accordingly. */
void keel_mpi_handle_vars_revive(keel_mpi_handle_vars_t *variables, int is_freed, const void *handle, const void *none,
                                 size_t size);

#endif
