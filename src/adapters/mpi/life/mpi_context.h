/*
 * Programs with calls of Keel beside MPI (keel_mpi_context()) may have stores or windows of their
 * own. An image has these objects, too, and a replacement makes the objects again between MPI_Init
 * and the restart point. So the replacement restores memory at the restart point only.
 */
#ifndef KEEL_MPI_CONTEXT_H_
#define KEEL_MPI_CONTEXT_H_

/* In a replacement before its restore: true if the program of the image has asked for the
 * context. */
int keel_mpi_context_is_in_image(void);

#endif
