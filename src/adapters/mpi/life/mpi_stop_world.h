/* Stop-the-world: suspends all other threads of the process for an operation that they must not see
 * half done. */
#ifndef KEEL_MPI_STOP_WORLD_H_
#define KEEL_MPI_STOP_WORLD_H_

/* The signal that suspends a thread. */
int keel_mpi_stop_world_signal(void);
/* Until the end the other threads wait in a signal handler. Between the two calls the caller must
 * not take a lock, as malloc() does. */
void keel_mpi_stop_world_begin(void);
void keel_mpi_stop_world_end(void);

#endif
