/* What Keel has beyond OpenSHMEM 1.5: surviving the death of PEs. */
#ifndef KEEL_SHMEMX_H_
#define KEEL_SHMEMX_H_

#include "shmem.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Whether global and static variables of the program are part of its checkpoints; at first they are not. Local, the same on all PEs, ahead of
 * the first checkpoint; a replacement calls it again. Not restored are those of shared libraries, what pointers point to beside the heap and
 * global variables, and what is declared so:
 *
 *     static shmemx_volatile FILE *trace;
 *
 * Programs are linked for this by oshcc, or with -no-pie -Wl,-z,now: in a replacement they are at the same addresses then.
 */
SHMEM_API void shmemx_globals(int are_restored);
/** A checkpoint at each of these would be too much: collective, a barrier, at which one may be taken (every KEEL_CKPT_INTERVAL). */
SHMEM_API void shmemx_safepoint(void);
#define shmemx_volatile __attribute__((section("keel_shmem_volatile")))

#ifdef __cplusplus
}
#endif

#endif
