/* Functions that are not there, each an error that names it: mpi_functions.h lists them. */
#ifndef KEEL_MPI_REFUSED_H_
#define KEEL_MPI_REFUSED_H_

/* says so, and gives the code of the error handler of MPI_COMM_WORLD, where that returns */
int keel_mpi_refused(const char *call);

#endif
