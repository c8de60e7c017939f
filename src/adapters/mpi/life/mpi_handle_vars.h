/* The program's variables that a handle was made and freed by: a rollback sets them as the image has the handle. */
#ifndef KEEL_MPI_HANDLE_VARS_H_
#define KEEL_MPI_HANDLE_VARS_H_

#include <stddef.h>

typedef struct keel_mpi_handle_vars {
    void *made_by;  /* which a replacement has left as it was made; NULL: not known */
    void *freed_by; /* behind the restart point, which a rollback undoes; NULL: in use */
    int was_freed;  /* by another life, whose replacement this process is */
} keel_mpi_handle_vars_t;

/* a handle that a rollback takes away: its variable has none, if it has the handle still */
void keel_mpi_handle_vars_forget(const keel_mpi_handle_vars_t *variables, const void *handle, const void *none,
                                 size_t size);
/* behind a rollback: the handle is freed or in use as the image has it (@a is_freed), and its variable says so */
void keel_mpi_handle_vars_revive(keel_mpi_handle_vars_t *variables, int is_freed, const void *handle, const void *none,
                                 size_t size);

#endif
