/* Files of several ranks: each has it open through the system's MPI, for itself. */
#ifndef KEEL_MPI_FILE_H_
#define KEEL_MPI_FILE_H_

/* as of communicators */
void keel_mpi_file_end_closed(void);
void keel_mpi_file_unmake(void);
int keel_mpi_file_is_late(void);
void keel_mpi_file_drop_late(void);
void keel_mpi_file_revive(void);

#endif
