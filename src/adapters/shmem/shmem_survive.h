/* OpenSHMEM on Keel: surviving the death of PEs. A header of shmem.h, so that a program needs no other for it. */
#ifndef KEEL_SHMEM_SURVIVE_H_
#define KEEL_SHMEM_SURVIVE_H_

#include "shmem_def.h"

#include <setjmp.h>

#ifdef __cplusplus
extern "C" {
#endif

enum shmemx_init_field { SHMEMX_INIT_FIELD_FLAGS = 1 };
enum shmemx_init_flags {
    /**
     * The program is deterministic: given the same memory and the same answers of its calls it makes the same calls, and it looks at its
     * own memory, where others put to it before the next barrier, by waits alone. A dead PE is recovered alone then, while the others keep
     * what they have, where what was done determines what came of it: not after atomics, tests, locks and waits for any of several
     * words. SHMEM_KEEL_DETERMINISTIC=y is the same for a program that calls shmem_init().
     */
    SHMEMX_INIT_DETERMINISTIC = 1,
    /**
     * Beside that: the program waits for words of its memory, or calls collectives other than barriers of all. Without it that is found out
     * at its first wait, and a death before the barrier of all after that is a rollback; with it a death is a rollback wherever the dead PE
     * has called atomics, or others have at it, since the checkpoint, also in a program that never waits. SHMEM_KEEL_DETERMINISTIC=waits is both.
     */
    SHMEMX_INIT_WAITS = 2
};
typedef struct shmemx_init_attr {
    uint64_t field_mask; /**< which of the fields below are valid */
    uint64_t flags;      /**< shmemx_init_flags, the same on all PEs */
} shmemx_init_attr_t;

/** shmem_init(), with promises. 0, or -1 for fields or flags that are not known: then nothing was done. @a attr may be NULL. */
SHMEM_API int shmemx_init_attr(const shmemx_init_attr_t *attr);

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

/* ---- the interface of Hao et al., Fault Tolerance for OpenSHMEM (OUG 2014), section 3 ---- */

/**
 * Collective: keeps a copy of the heap in use, of global variables (but with shmemx_globals(0)) and of what is protected, in other PEs'
 * memory. 0, or SHMEMX_FAULT: a PE died, and shmem_restore_all() has to be called.
 *
 * When a PE dies, all others come back to the call of this that they were at last, out of whatever call they are in, and it returns
 * SHMEMX_FAULT; so it does, at its first call, in the process that takes the dead one's place, which has come here from main() by
 * itself. What it puts before its first call and its barriers there are left out, as they have been done. The rules of setjmp() hold:
 * the function that calls it must not return before its next call, and of its local variables those that changed since the call are lost: what
 * the loop counts is static. Where the promise of shmemx_init_attr() holds the new process alone is told, and the others go on.
 * A death before the first complete one ends the job with status 75 (oshrun starts it anew).
 */
SHMEM_FUNCTION(int, checkpoint_all, (void))
#define shmem_checkpoint_all() (setjmp(*shmemx_restart_buffer()), shmem_checkpoint_all())
enum { SHMEMX_FAULT = 1 };

/**
 * Local: which PEs died since this PE asked last, in a new process since the program began. The lists are the library's, valid
 * until the next call. @a pes_status says of each SHMEMX_PE_RESTARTED: a new process has its place, or will have. 0.
 */
SHMEM_FUNCTION(int, query_fault, (int **pes, int **pes_status, size_t *numpes))
enum { SHMEMX_PE_RESTARTED = 1 };

/** Launchers start PEs anew by themselves, so nothing is done. Local; -1: not PEs. Whom nobody restarts ends the job with a message. */
SHMEM_FUNCTION(int, restart_pes, (int *pes, size_t numpes))

/** Collective: all PEs get back what they had at the newest checkpoint, from copies of their own but for the dead [section 3.3, first]. 0. */
SHMEM_FUNCTION(int, restore_all, (void))

enum {
    SHMEMX_RESTORE_CHECKPOINT, /**< as shmem_restore_all() */
    /**
     * The dead PE alone gets back what it had then, the others keep what they have now [section 3.3, second]: for methods that converge from
     * any state. A checkpoint follows. PEs may be at different steps then, and agree on one: shmem_int_max_reduce(). Words that they wait for,
     * locks and pSync arrays among what is kept have to be set anew, before a barrier: they may be as a call amid left them.
     * Teams and contexts are those of the checkpoint, for all.
     */
    SHMEMX_RESTORE_DEAD,
    SHMEMX_RESTORED_CHECKPOINT /**< returned: a heap was allocated from since, or memory was short, so all have the checkpoint */
};
SHMEM_API int shmemx_restore_all(int option);

#ifdef __cplusplus
}
#endif

#endif
