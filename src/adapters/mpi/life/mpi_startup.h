/* The startup record: all values that a rank receives from others before its restart point, kept in
 * the arena and replayed to a replacement in the same order. */
#ifndef KEEL_MPI_STARTUP_H_
#define KEEL_MPI_STARTUP_H_

#include "mpi_state.h"

static inline int keel_mpi_is_replaying(void)
{
    return keel_mpi.phase == KEEL_MPI_REPLAYS;
}

/* Allocates the record; KEELMPI_PREFIX sets its size. */
void keel_mpi_startup_make(void);
void keel_mpi_startup_exchange(void *data, size_t bytes);
/* Passes a value through the record: records *@a data before the restart point, replaces it by the
 * recorded value in a replacement, and does nothing after the restart point. */
static inline void keel_mpi_startup_result(void *data, size_t bytes)
{
    if (keel_mpi.phase != KEEL_MPI_RUNS) {
        keel_mpi_startup_exchange(data, bytes);
    }
}
/* True if the values received before the restart point did not fit into the record. */
int keel_mpi_startup_is_full(void);

#endif
