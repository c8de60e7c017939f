/* What of a rank comes back, and when: tables in MPI_Init, everything else at the restart point. */
#ifndef KEEL_MPI_RESTART_H_
#define KEEL_MPI_RESTART_H_

/* in MPI_Init of a replacement: the arena as it was at the checkpoint; a copy of it is kept until the restart point */
void keel_mpi_restart_begin(void);
/* after MPI_Barrier on MPI_COMM_WORLD: a checkpoint, where KEELMPI_BARRIER_SAVES says so and nothing is in its way */
void keel_mpi_restart_barrier(void);
/* whether a variable is not of a call that a jump to the restart point has left */
int keel_mpi_is_live_variable(const void *variable);
/* at MPI_Finalize */
void keel_mpi_restart_end(void);

#endif
