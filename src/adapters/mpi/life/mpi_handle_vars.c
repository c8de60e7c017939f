#include "life/mpi_handle_vars.h"

#include "life/mpi_restart.h"

#include <string.h>

/* stands for the unknown variable in which the predecessor freed a handle */
static void *unknown_variable;

/* True if the variable held @a from; it now holds @a to. */
static int change(void *variable, const void *from, const void *to, size_t size)
{
    if (!keel_mpi_is_live_variable(variable) || memcmp(variable, from, size) != 0) {
        return 0;
    }
    memcpy(variable, to, size);
    return 1;
}

void keel_mpi_handle_vars_forget(const keel_mpi_handle_vars_t *variables, const void *handle, const void *none,
                                 size_t size)
{
    (void)change(variables->made_by, handle, none, size);
}

void keel_mpi_handle_vars_revive(keel_mpi_handle_vars_t *variables, int is_freed, const void *handle, const void *none,
                                 size_t size)
{
    if (!is_freed) {
        if (variables->freed_by != NULL && variables->freed_by != &unknown_variable) {
            (void)change(variables->freed_by, none, handle, size);
        }
        variables->freed_by = NULL;
        return;
    }
    if (variables->freed_by == NULL) { /* a replacement has made the handle again */
        variables->freed_by = change(variables->made_by, handle, none, size) ? variables->made_by : &unknown_variable;
        variables->was_freed = 1;
    }
    variables->was_freed |= variables->freed_by == variables->made_by;
}
