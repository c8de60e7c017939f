/* Restoring a rank: tables in MPI_Init, everything else at the restart point. */
#ifndef KEEL_MPI_RESTART_H_
#define KEEL_MPI_RESTART_H_

/* In MPI_Init of a replacement: restores the arena as of the checkpoint, and keeps a copy until the
 * restart point. */
void keel_mpi_restart_begin(void);
/* After MPI_Barrier on MPI_COMM_WORLD: takes a checkpoint if KEELMPI_BARRIER_SAVES asks for one and
 * no obstacle exists. */
void keel_mpi_restart_barrier(void);
/* True unless the variable belongs to a call that a jump to the restart point has left. */
int keel_mpi_is_live_variable(const void *variable);
/* Frees all memory in MPI_Finalize. */
void keel_mpi_restart_end(void);

#endif
