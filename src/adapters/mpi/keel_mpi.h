/*
 * Keel: MPI programs that survive the death of processes. A program that has a restart point, protected memory and checkpoints goes on
 * from its newest checkpoint when a rank dies, in all ranks:
 *
 *     MPI_Init(&argc, &argv);
 *     MPI_Win_allocate(..., &win);
 *     keel_mpi_protect(1, &at, sizeof(at));
 *     KEEL_MPI_RESTART_POINT();
 *     while (at.step < steps) {
 *         ...
 *         at.step++;
 *         keel_mpi_checkpoint();
 *     }
 *
 * Windows' memory is state and comes back by itself. A replacement runs the program from main to the restart point again; what its
 * predecessor got from others on that way it is given from a record, and what it did to others is not done again. So on that way it has to do the
 * same, and does not read what others put into its windows. A program without a restart point, or one that has not come to it, is
 * started anew when a rank dies, once.
 *
 * MPI handles are not restored: those that outlive a checkpoint are made before the restart point, where each process makes its own;
 * those made after it are freed before the next checkpoint.
 */
#ifndef KEEL_MPI_H_
#define KEEL_MPI_H_

#include <setjmp.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Adds memory to what comes back. Before the restart point, each @a id once, in the same order in every life. Not collective.
 * Ends the job when the id is in use or it is memory of the arena; the restart point does when a communicator or window stands in it.
 */
void keel_mpi_protect(unsigned id, void *address, size_t bytes);

/**
 * The place where the program goes on after a rollback, of which it has one; collective over MPI_COMM_WORLD. When it is first reached it takes a
 * checkpoint. The rules of setjmp() hold: the function must not return while MPI is in use, and its local variables that changed since are lost
 * unless protected or volatile.
 */
#define KEEL_MPI_RESTART_POINT() ((void)setjmp(*keel_mpi_restart_buffer()), keel_mpi_resume())

/** Collective over MPI_COMM_WORLD: a checkpoint. No request may be open, nor an epoch of MPI_Win_post or MPI_Win_start; locks
 *  may be held. Messages that were sent and not received yet are part of it. Ends the job where that does not hold. */
void keel_mpi_checkpoint(void);

/** 1 when the program went on from a checkpoint at its restart point, after a death; 0 when it came to it for the first time. */
int keel_mpi_restarted(void);
/** 0 in the first process of a rank, larger in each later one. */
unsigned keel_mpi_incarnation(void);

jmp_buf *keel_mpi_restart_buffer(void); /**< for KEEL_MPI_RESTART_POINT() */
void keel_mpi_resume(void);             /**< for KEEL_MPI_RESTART_POINT() */

#ifdef __cplusplus
}
#endif
#endif
