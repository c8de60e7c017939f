/* What Keel has beyond OpenSHMEM 1.5: surviving the death of PEs. */
#ifndef KEEL_SHMEMX_H_
#define KEEL_SHMEMX_H_

#include "shmem.h"

#ifdef __cplusplus
extern "C" {
#endif

enum shmemx_init_field { SHMEMX_INIT_FIELD_FLAGS = 1 };
enum shmemx_init_flags {
    /**
     * The program is deterministic: given the same memory and the same answers of its calls it makes the same calls, and it looks at its
     * own memory, where others put to it ahead of the next barrier, by waits alone. A dead PE is recovered alone then, while the others keep
     * what they have, where what was done determines what came of it: not behind atomics, tests, locks and waits for any of several
     * words. SHMEM_KEEL_DETERMINISTIC=y is the same for a program that calls shmem_init().
     */
    SHMEMX_INIT_DETERMINISTIC = 1
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

#ifdef __cplusplus
}
#endif

#endif
