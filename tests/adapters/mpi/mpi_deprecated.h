/* Removed MPI functions that programs still call; compilers warn about them. */
#ifndef KEEL_TEST_MPI_DEPRECATED_H_
#define KEEL_TEST_MPI_DEPRECATED_H_

#include "expect.h"

static inline void check_deprecated(int key)
{
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    int mine = 5, flag, *value;

    MPI_Attr_put(MPI_COMM_WORLD, key, &mine);
    MPI_Attr_get(MPI_COMM_WORLD, key, &value, &flag);
    EXPECT(flag && value == &mine);
    MPI_Attr_delete(MPI_COMM_WORLD, key);
#ifdef MPICH_VERSION /* Open MPI no longer declares these functions */
    {
        MPI_Errhandler got;

        MPI_Errhandler_set(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        MPI_Errhandler_get(MPI_COMM_WORLD, &got);
        EXPECT(got == MPI_ERRORS_RETURN);
        MPI_Errhandler_set(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    }
#endif
#pragma GCC diagnostic pop
}

#endif
