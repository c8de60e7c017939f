/*
 * The functions that are refused. They are defined without mpi.h, and so without their parameters, which none of them looks at: how many there are makes no difference to who is
 * called in the x86-64 and arm64 calling conventions.
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
