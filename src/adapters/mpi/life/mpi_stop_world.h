/* Stop-the-world: suspends all other threads of the process for an operation that they must not see
 * half done. */
#ifndef KEEL_MPI_STOP_WORLD_H_
#define KEEL_MPI_STOP_WORLD_H_

#define KEEL_MPI_STOP_MS 10000u /* time for all threads to stop */

/* The signal that suspends a thread. */
int keel_mpi_stop_world_signal(void);
/* Until the end the other threads wait in a signal handler. Between the two calls the caller must
 * not take a lock, as malloc() does. Returns 0 if a thread does not stop within @a timeout_ms, or
 * there are too many threads; the end is due all the same. */
int keel_mpi_stop_world_begin(unsigned timeout_ms);
void keel_mpi_stop_world_end(void);

#endif
