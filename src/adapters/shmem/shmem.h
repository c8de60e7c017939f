/*
 * OpenSHMEM 1.5 on Keel: programs that survive the death of PEs. Names and meaning are the specification's. Symmetric are the symmetric heap and
 * the program's global variables, but for those of shared libraries. Each function shmem_x() is known as pshmem_x() too. In C11 names
 * without a type in them are generic; in C++ there are the typed names.
 *
 * A death is a rollback of all PEs to the newest shmemx_checkpoint(); without one, or in a program that has no
 * SHMEMX_RESTART_POINT(), the job ends with status 75, and oshrun starts it anew, once. With the promise of shmemx_init_attr() the
 * dead PE alone is run again, where that is possible. A call that cannot be carried out ends the job with a message.
 *
 * Threads. One at a time may call, or with SHMEM_THREAD_MULTIPLE any: then the promise does not hold, and a death is a rollback where the thread
 * that set the restart point is the first of its PE to learn of it and no other calls from then on that has called before; else the job
 * is started anew.
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
/** @a provided is SHMEM_THREAD_SERIALIZED, or SHMEM_THREAD_MULTIPLE where that is asked for. */
SHMEM_FUNCTION(int, init_thread, (int requested, int *provided))
SHMEM_FUNCTION(void, query_thread, (int *provided))
SHMEM_FUNCTION(void, finalize, (void))
SHMEM_FUNCTION(void, global_exit, (int status) __attribute__((noreturn)))
SHMEM_FUNCTION(int, my_pe, (void))
SHMEM_FUNCTION(int, n_pes, (void))
SHMEM_FUNCTION(int, pe_accessible, (int pe))
SHMEM_FUNCTION(int, addr_accessible, (const void *addr, int pe))
/**
 * Another PE's memory where it is mapped here: of a PE on the same node, without KEEL_LANES=served. NULL otherwise, with the promise of
 * shmemx_init_attr(), since what is stored there is not logged, and in a replacement before its restart point. Behind a rollback the address
 * leads to the memory of the PE's new process if that is on this node; if not, to none, and this gives NULL.
 */
SHMEM_FUNCTION(void *, ptr, (const void *dest, int pe))
SHMEM_FUNCTION(void, info_get_version, (int *major, int *minor))
SHMEM_FUNCTION(void, info_get_name, (char *name))
/** Does nothing: for tools that put themselves before it. */
SHMEM_FUNCTION(void, pcontrol, (int level, ...))

/* ---- memory: SHMEM_SYMMETRIC_SIZE bytes, 64 MiB; collective ---- */

SHMEM_FUNCTION(void *, malloc, (size_t size))
SHMEM_FUNCTION(void *, calloc, (size_t count, size_t size))
SHMEM_FUNCTION(void *, align, (size_t alignment, size_t size))
SHMEM_FUNCTION(void *, realloc, (void *ptr, size_t size))
SHMEM_FUNCTION(void *, malloc_with_hints, (size_t size, long hints))
SHMEM_FUNCTION(void, free, (void *ptr))

/* ---- surviving ---- */

/** Adds private memory to what a checkpoint has; each @a id once, at the same place in all PEs, before the first checkpoint. */
SHMEM_API void shmemx_protect(unsigned id, void *address, size_t bytes);
/** Collective, a barrier: memory in use of the symmetric heap, and what is protected, are kept in other PEs' memory. */
SHMEM_API void shmemx_checkpoint(void);
/**
 * Where the program goes on after a death, in all PEs; a replacement comes here from main(). The rules of setjmp() hold. What a
 * replacement puts before this, and its barriers there, are left out, for they have been done: before this a program must neither
 * read what others have nor depend on what they put.
 *
 *     SHMEMX_RESTART_POINT();
 *     if (shmemx_restarted()) {
 *         shmemx_restore();
 *     }
 */
#define SHMEMX_RESTART_POINT() (void)setjmp(*shmemx_restart_buffer())
SHMEM_API jmp_buf *shmemx_restart_buffer(void);
SHMEM_API int shmemx_restarted(void);
/** How many processes this PE had before. */
SHMEM_API unsigned shmemx_incarnation(void);
/** Puts the newest checkpoint back. Where there is none yet the job ends with status 75. */
SHMEM_API void shmemx_restore(void);

#ifdef __cplusplus
}
#endif

#endif
