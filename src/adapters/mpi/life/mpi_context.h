/*
 * Programs that call Keel beside MPI (keel_mpi_context()), and may have stores or windows of their
 * own. An image has these objects, too, and a replacement makes them again between MPI_Init and the
 * restart point. So such a replacement restores its memory at the restart point only.
 */
#ifndef KEEL_MPI_CONTEXT_H_
#define KEEL_MPI_CONTEXT_H_

/* In a replacement before its restore: true if the program of the image has asked for the
 * context. */
int keel_mpi_context_is_in_image(void);

#endif
