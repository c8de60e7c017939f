/* Makes the other threads of the process stand still: for what must not be seen half done. */
#ifndef KEEL_MPI_STOP_WORLD_H_
#define KEEL_MPI_STOP_WORLD_H_

/* by which */
int keel_mpi_stop_world_signal(void);
/* the other threads are in a signal handler until the end; between, nothing may be called that takes a lock */
void keel_mpi_stop_world_begin(void);
void keel_mpi_stop_world_end(void);

#endif
