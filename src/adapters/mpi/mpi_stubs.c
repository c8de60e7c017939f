/*
 * Definitions of the refused functions, without mpi.h and therefore without parameters. None of
 * them reads a parameter, and the calling conventions of x86-64 and arm64 let a callee ignore its
 * parameters.
 */
#include "mpi_refused.h"

#include "mpi_functions.h"

#define DEFINE_REFUSED(_name)            \
    int _name(void);                     \
    int _name(void)                      \
    {                                    \
        return keel_mpi_refused(#_name); \
    }
KEEL_MPI_REFUSED(DEFINE_REFUSED)
