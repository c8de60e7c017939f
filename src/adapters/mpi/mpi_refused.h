/* Functions that the adapter refuses with an error that names the function (mpi_functions.h). */
#ifndef KEEL_MPI_REFUSED_H_
#define KEEL_MPI_REFUSED_H_

/* Reports the call, and returns the code of MPI_COMM_WORLD's error handler if the handler
 * returns. */
int keel_mpi_refused(const char *call);

#endif
