/*
 * Keel for MPI programs that survive the death of processes. A program with a restart point,
 * protected memory and checkpoints resumes, in all ranks, from its newest checkpoint when a rank
 * dies:
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
 * The memory of windows is part of checkpoints without further calls. A replacement runs the
 * program again from main to the restart point. Up to there it receives, from a record, the same
 * values from other ranks as its predecessor, and its effects on other ranks are not repeated. Up
 * to there a program must therefore repeat the same calls, and must not read what other ranks put
 * into its windows. If a rank dies before the restart point, or the program has none, the job is
 * launched again from the beginning, once.
 *
 * MPI handles are not restored. Make handles that outlive a checkpoint before the restart point,
 * where each process makes its own; free handles made after the restart point before the next
 * checkpoint.
 */
#ifndef KEEL_MPI_H_
#define KEEL_MPI_H_

#include <setjmp.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Adds memory to checkpoints. Call it before the restart point, once for each @a id, in the same
 * order in every life. Not collective. Ends the job if the id is in use or the memory belongs to
 * the arena; the restart point ends the job if the memory holds the handle of a communicator or
 * window.
 */
void keel_mpi_protect(unsigned id, void *address, size_t bytes);

/**
 * The place where the program resumes after a rollback; one per program, collective over
 * MPI_COMM_WORLD. The first pass takes a checkpoint. The rules of setjmp() hold: the function must
 * not return while MPI is in use, and local variables changed since are lost unless protected or
 * volatile.
 */
#define KEEL_MPI_RESTART_POINT() ((void)setjmp(*keel_mpi_restart_buffer()), keel_mpi_resume())

/** Takes a checkpoint; collective over MPI_COMM_WORLD. No request may be open, nor an epoch of
 * MPI_Win_post or MPI_Win_start; otherwise the job ends. Locks may be held. Messages sent and not
 * received yet are part of the checkpoint. */
void keel_mpi_checkpoint(void);

/** Returns 1 if the program has resumed from a checkpoint at its restart point after a death; 0 on
 * the first pass. */
int keel_mpi_restarted(void);
/** Returns 0 in the first process of a rank, and a larger number in each later one. */
unsigned keel_mpi_incarnation(void);

/**
 * The context of the job (keel_context_h), for calls of Keel beside MPI's, such as those of
 * keel/store.h; link with -lkeel. Make stores before the restart point. Call it before the restart
 * point, too: a replacement then restores its memory there. Ends the job in deterministic mode
 * (KEEL_DETERMINISTIC).
 */
struct keel_context *keel_mpi_context(void);

/** For KEEL_MPI_RESTART_POINT(). */
jmp_buf *keel_mpi_restart_buffer(void);
/** For KEEL_MPI_RESTART_POINT(). */
void keel_mpi_resume(void);

#ifdef __cplusplus
}
#endif
#endif
