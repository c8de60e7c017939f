/* Deterministic mode: the program promises to be deterministic, by KEEL_DETERMINISTIC or by the
 * info key keel_deterministic of a window. */
#ifndef KEEL_MPI_DETERMINISTIC_H_
#define KEEL_MPI_DETERMINISTIC_H_

#include "comm/mpi_comm.h"

/* Reads the environment and returns the flags for Keel. */
uint64_t keel_mpi_deterministic_flags(const char *call);
/* Records the promise in the image. Afterwards, if the image is a restored one: ends the job if the
 * image is of another promise, since the record of what precedes the restart point is then another
 * one. */
void keel_mpi_deterministic_note(const char *call);
/* Applies the info of a window of these ranks: asks for deterministic mode, which relaunches the
 * job, or withdraws the promise. */
void keel_mpi_deterministic_apply_info(MPI_Info info, const keel_mpi_comm_t *comm, const char *call);

#endif
