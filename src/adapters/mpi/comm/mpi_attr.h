/* Attributes of communicators. */
#ifndef KEEL_MPI_ATTR_H_
#define KEEL_MPI_ATTR_H_

/* deletes those of MPI_COMM_SELF, with what the program has to be done then: MPI is there still */
void keel_mpi_attr_finalize(void);

#endif
