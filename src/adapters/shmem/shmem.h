/*
 * OpenSHMEM 1.5 on Keel: programs that survive the death of PEs. Names and semantics follow the
 * specification. Symmetric objects are the symmetric heap and the program's global variables,
 * except variables of shared libraries. Each function shmem_x() also has the name pshmem_x(). In
 * C11, names without a type are generic; C++ has the typed names.
 *
 * A death rolls all PEs back to the newest shmemx_checkpoint(). Without a checkpoint, or in a
 * program without SHMEMX_RESTART_POINT(), the job ends with status 75, and oshrun restarts it once.
 * With the promise of shmemx_init_attr(), only the dead PE is executed again, where possible. A
 * call that cannot be carried out ends the job with a message.
 *
 * Threads: one at a time may call; with SHMEM_THREAD_MULTIPLE any thread may. Then the promise does
 * not hold. A death is a rollback only if, in each PE, the thread that set the restart point is the
 * first to learn of the death, and no other thread with earlier calls calls again; else the job is
 * restarted.
 */
#ifndef KEEL_SHMEM_H_
#define KEEL_SHMEM_H_

#include "shmem_amo.h"
#include "shmem_def.h"
#include "shmem_generic.h"
#include "shmem_old.h"
#include "shmem_rma.h"
#include "shmem_survive.h"
#include "shmem_sync.h"
#include "shmem_teams.h"

#include <setjmp.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- set-up ---- */

SHMEM_FUNCTION(void, init, (void))
/** @a provided is SHMEM_THREAD_SERIALIZED, or SHMEM_THREAD_MULTIPLE if requested. */
SHMEM_FUNCTION(int, init_thread, (int requested, int *provided))
SHMEM_FUNCTION(void, query_thread, (int *provided))
SHMEM_FUNCTION(void, finalize, (void))
SHMEM_FUNCTION(void, global_exit, (int status) __attribute__((noreturn)))
SHMEM_FUNCTION(int, my_pe, (void))
SHMEM_FUNCTION(int, n_pes, (void))
SHMEM_FUNCTION(int, pe_accessible, (int pe))
SHMEM_FUNCTION(int, addr_accessible, (const void *addr, int pe))
/**
 * Address of another PE's memory if mapped here: the PE runs on the same node, and KEEL_LANES is
 * not served. Otherwise NULL; also NULL with the promise of shmemx_init_attr(), since no log
 * records direct stores, and in a replacement before its restart point. After a rollback the
 * address refers to the memory of the PE's new process if that process runs on this node; if not,
 * the address is invalid, and the call returns NULL.
 */
SHMEM_FUNCTION(void *, ptr, (const void *dest, int pe))
SHMEM_FUNCTION(void, info_get_version, (int *major, int *minor))
SHMEM_FUNCTION(void, info_get_name, (char *name))
/** Does nothing; tools may intercept the call. */
SHMEM_FUNCTION(void, pcontrol, (int level, ...))

/* ---- memory: SHMEM_SYMMETRIC_SIZE bytes, 64 MiB; collective ---- */

SHMEM_FUNCTION(void *, malloc, (size_t size))
SHMEM_FUNCTION(void *, calloc, (size_t count, size_t size))
SHMEM_FUNCTION(void *, align, (size_t alignment, size_t size))
SHMEM_FUNCTION(void *, realloc, (void *ptr, size_t size))
SHMEM_FUNCTION(void *, malloc_with_hints, (size_t size, long hints))
SHMEM_FUNCTION(void, free, (void *ptr))

/* ---- survival ---- */

/**
 * Adds private memory to checkpoints. Each @a id once, at the same place in all PEs, before the
 * first checkpoint.
 */
SHMEM_API void shmemx_protect(unsigned id, void *address, size_t bytes);
/**
 * Collective, with a barrier: copies the used symmetric heap and the protected memory to other PEs'
 * memory.
 */
SHMEM_API void shmemx_checkpoint(void);
/**
 * Point at which all PEs continue after a death; a replacement arrives from main(). The rules of
 * setjmp() apply. Before this point a replacement skips puts and barriers, which its predecessor
 * has done: so a program must neither read other PEs' data there nor depend on data that they put.
 *
 *     SHMEMX_RESTART_POINT();
 *     if (shmemx_restarted()) {
 *         shmemx_restore();
 *     }
 */
#define SHMEMX_RESTART_POINT() (void)setjmp(*shmemx_restart_buffer())
/** For SHMEMX_RESTART_POINT() and shmem_checkpoint_all(). */
SHMEM_API jmp_buf *shmemx_restart_buffer(void);
/** Returns 1 if a death is to be answered by shmemx_restore(), else 0. */
SHMEM_API int shmemx_restarted(void);
/** Count of earlier processes of this PE. */
SHMEM_API unsigned shmemx_incarnation(void);
/** Restores the newest checkpoint. Without a checkpoint the job ends with status 75. */
SHMEM_API void shmemx_restore(void);

#ifdef __cplusplus
}
#endif

#endif
