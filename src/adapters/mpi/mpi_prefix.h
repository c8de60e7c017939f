/* What a rank got from others before its restart point: recorded in the arena, and given to a replacement in the same order. */
#ifndef KEELMPI_PREFIX_H_
#define KEELMPI_PREFIX_H_

#include "mpi_state.h"

static inline int keel_mpi_is_replay(void)
{
    return keel_mpi.phase == KEEL_MPI_REPLAYS;
}

/* makes the record; its size is KEELMPI_PREFIX */
void keel_mpi_prefix_make(void);
void keel_mpi_prefix_exchange(void *data, size_t bytes);
/* @a data is recorded, or is set to what was recorded, or neither */
static inline void keel_mpi_prefix_result(void *data, size_t bytes)
{
    if (keel_mpi.phase != KEEL_MPI_RUNS) {
        keel_mpi_prefix_exchange(data, bytes);
    }
}
/* how many of the calls before the restart point did not fit into the record */
int keel_mpi_prefix_is_full(void);

#endif
