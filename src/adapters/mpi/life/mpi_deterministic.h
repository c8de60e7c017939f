/* The promise that the program is deterministic: by KEEL_DETERMINISTIC, or the info key keel_deterministic of a window. */
#ifndef KEEL_MPI_DETERMINISTIC_H_
#define KEEL_MPI_DETERMINISTIC_H_

#include "comm/mpi_comm.h"

/* what the environment promises, as Keel's flags */
uint64_t keel_mpi_deterministic_flags(const char *call);
/* what the info of a window of these ranks says of it: gives it, for which the job is started anew, or takes it back */
void keel_mpi_deterministic_apply_info(MPI_Info info, const keel_mpi_comm_t *comm, const char *call);

#endif
