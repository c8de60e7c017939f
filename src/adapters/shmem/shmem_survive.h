/* OpenSHMEM on Keel: survival of PE deaths. Part of shmem.h, so a program needs no other header. */
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
     * The program is deterministic: given the same memory and the same results of its calls, the
     * program makes the same calls, and looks at its own memory, where other PEs put before the
     * next barrier, by waits alone. Then a dead PE is recovered alone, while the other PEs keep
     * their memory, wherever the actions determine the outcome: not after atomics, tests, locks, or
     * waits for any of several words. For programs that call shmem_init():
     * SHMEM_KEEL_DETERMINISTIC=y.
     */
    SHMEMX_INIT_DETERMINISTIC = 1,
    /**
     * In addition, the program waits for words of its memory, or calls collectives other than
     * barriers of all PEs. Without this flag the first wait reveals the fact, and a death before
     * the following barrier of all PEs is a rollback. With this flag a death is a rollback if,
     * since the checkpoint, the dead PE has called atomics, or other PEs have called them on it,
     * even if no PE ever waits. SHMEM_KEEL_DETERMINISTIC=waits sets both flags.
     */
    SHMEMX_INIT_WAITS = 2
};
typedef struct shmemx_init_attr {
    uint64_t field_mask; /**< mask of valid fields */
    uint64_t flags;      /**< shmemx_init_flags, equal on all PEs */
} shmemx_init_attr_t;

/**
 * shmem_init() with promises. Returns 0, or -1 without any effect for unknown fields or flags. @a
 * attr may be NULL.
 */
SHMEM_API int shmemx_init_attr(const shmemx_init_attr_t *attr);

/**
 * Sets whether global and static variables of the program are part of its checkpoints; the default
 * is no. Local, equal on all PEs, before the first checkpoint; a replacement repeats the call.
 * Never restored are variables of shared libraries, the targets of pointers other than the heap and
 * global variables, and variables declared so:
 *
 *     static shmemx_volatile FILE *trace;
 *
 * Link such programs with oshcc, or with -no-pie -Wl,-z,now: then a replacement has the variables
 * at the same addresses.
 */
SHMEM_API void shmemx_globals(int are_restored);
/**
 * Collective, with a barrier: takes a checkpoint at most every KEEL_CKPT_INTERVAL, for places where
 * a checkpoint at each call would cost too much.
 */
SHMEM_API void shmemx_safepoint(void);
/** Excludes a global or static variable from checkpoints: shmemx_globals(). */
#define shmemx_volatile __attribute__((section("keel_shmem_volatile")))

/* ---- the interface of Hao et al., Fault Tolerance for OpenSHMEM (OUG 2014), section 3 ---- */

/**
 * Collective: copies the used heap, global variables (unless shmemx_globals(0)) and protected
 * memory to other PEs' memory. Returns 0, or SHMEMX_FAULT: a PE died, and the program must call
 * shmem_restore_all().
 *
 * When a PE dies, all other PEs return to their last call of this function, out of any call in
 * progress, and it returns SHMEMX_FAULT. In the replacement of the dead PE, which arrives here from
 * main() by itself, the first call also returns SHMEMX_FAULT. The replacement skips its puts and
 * barriers before this call, since its predecessor has done them. The rules of setjmp() apply: the
 * function that calls it must not return before the next call, and local variables changed since
 * the call are lost, so a loop counter must be static. Under the promise of shmemx_init_attr() only
 * the replacement is notified, and the other PEs go on. A death before the first complete
 * checkpoint ends the job with status 75 (oshrun restarts it).
 */
SHMEM_FUNCTION(int, checkpoint_all, (void))
#define shmem_checkpoint_all() (setjmp(*shmemx_restart_buffer()), shmem_checkpoint_all())
enum { SHMEMX_FAULT = 1 /**< a PE died */ };

/**
 * Local: lists the PEs that died since the last query, in a new process since the program's start.
 * The library owns the lists, which are valid until the next call. @a pes_status has
 * SHMEMX_PE_RESTARTED for each: a new process takes its place, or will. Returns 0.
 */
SHMEM_FUNCTION(int, query_fault, (int **pes, int **pes_status, size_t *numpes))
enum { SHMEMX_PE_RESTARTED = 1 /**< status of a PE: a new process takes its place */ };

/**
 * Local. Does nothing, since launchers restart PEs by themselves. Returns -1 for invalid PEs. A PE
 * without a restart ends the job with a message.
 */
SHMEM_FUNCTION(int, restart_pes, (int *pes, size_t numpes))

/**
 * Collective: restores the newest checkpoint at all PEs, from their own copies except at the dead
 * PE [section 3.3, first]. Returns 0.
 */
SHMEM_FUNCTION(int, restore_all, (void))

enum {
    SHMEMX_RESTORE_CHECKPOINT, /**< as shmem_restore_all() */
    /**
     * Restores the dead PE alone, while the other PEs keep their present memory [section 3.3,
     * second]: for methods that converge from any state. A checkpoint follows. PEs may then be at
     * different steps and agree on one: shmem_int_max_reduce(). Words under a wait, locks and pSync
     * arrays in the kept memory must be reset before a barrier, since an interrupted call may have
     * changed them. Teams and contexts are those of the checkpoint, at all PEs.
     */
    SHMEMX_RESTORE_DEAD,
    /** returned: the heap has changed since, or memory was short, so all PEs have the checkpoint */
    SHMEMX_RESTORED_CHECKPOINT
};
/**
 * shmem_restore_all() with a choice of the memory that is restored. Returns 0, or
 * SHMEMX_RESTORED_CHECKPOINT.
 *
 * @param [in] option  SHMEMX_RESTORE_CHECKPOINT or SHMEMX_RESTORE_DEAD; equal on all PEs.
 */
SHMEM_API int shmemx_restore_all(int option);

#ifdef __cplusplus
}
#endif

#endif
