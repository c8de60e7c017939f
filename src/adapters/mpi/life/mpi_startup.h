/* What a rank got from others before its restart point: recorded in the arena, and given to a replacement in the same order. */
#ifndef KEEL_MPI_STARTUP_H_
#define KEEL_MPI_STARTUP_H_

#include "mpi_state.h"

static inline int keel_mpi_is_replaying(void)
{
    return keel_mpi.phase == KEEL_MPI_REPLAYS;
}

/* makes the record; its size is KEELMPI_PREFIX */
void keel_mpi_startup_make(void);
void keel_mpi_startup_exchange(void *data, size_t bytes);
/* @a data is recorded, or is set to what was recorded, or neither */
static inline void keel_mpi_startup_result(void *data, size_t bytes)
{
    if (keel_mpi.phase != KEEL_MPI_RUNS) {
        keel_mpi_startup_exchange(data, bytes);
    }
}
/* how many of the calls before the restart point did not fit into the record */
int keel_mpi_startup_is_full(void);

#endif
