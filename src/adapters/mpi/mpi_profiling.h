/* Calls by profiling names (PMPI_) reach the functions of this library. */
#ifndef KEEL_MPI_PROFILING_H_
#define KEEL_MPI_PROFILING_H_

/* Redirects the calls of all objects loaded so far. */
void keel_mpi_profiling_redirect(void);

#endif
