/* The clock of programs. */
#include "shmem_state.h"
#include "shmemx.h"

#include <time.h>

double shmemx_wtime(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
