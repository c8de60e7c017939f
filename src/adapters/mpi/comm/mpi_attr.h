/* Attributes of communicators. */
#ifndef KEEL_MPI_ATTR_H_
#define KEEL_MPI_ATTR_H_

/* Deletes the attributes of MPI_COMM_SELF and runs their callbacks, while MPI still works. */
void keel_mpi_attr_finalize(void);

#endif
