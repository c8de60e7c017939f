/*
 * Global variables as symmetric objects. The end of the adapter's window is mapped a second time,
 * over the program's pages of global variables, so the program's loads and stores and other PEs'
 * accesses reach the same memory. The window is filled with the program's contents: by all PEs
 * before a gsync, and by a replacement again after keel_restore() has cleared the window.
 *
 * If the program's pages cannot be identified, or the processor is unknown, the pages stay in
 * place, and other PEs access them by messages, through a window of their own. Such memory cannot
 * be restored, so a death restarts the job.
 */
#ifndef KEEL_SHMEM_GLOBALS_H_
#define KEEL_SHMEM_GLOBALS_H_

#include "shmem_program.h"

#include <keel/keel.h>

/* reason of a restart if global variables are served */
#define KEEL_SHMEM_GLOBALS_ARE_LOST "global variables are served here, which nobody can bring back"

typedef struct keel_shmem_globals {
    const char *reason; /* why global variables are not symmetric; NULL: they are */
    uintptr_t begin;    /* start of the pages; 0: not looked for yet */
    size_t bytes;       /* length of the pages */
    uint64_t offset;    /* offset in the window */
    int are_restored;   /* part of checkpoints; below 0: not set by the program */
    int are_used;       /* accessed as symmetric objects */
    keel_shmem_program_t program;
    keel_win_h served; /* window of unmapped global variables; NULL: none */
    uintptr_t served_begin;
    size_t served_bytes;
} keel_shmem_globals_t;

extern keel_shmem_globals_t keel_shmem_globals;

/* Returns the bytes that global variables need in a window, 0 if they cannot be symmetric. */
size_t keel_shmem_globals_find(void);
/* Moves the global variables to @a offset of the window. Returns 0 on failure and sets reason. */
int keel_shmem_globals_map(void *base, uint64_t offset);
/*
 * Collective: creates a window of global variables for messages if their pages cannot be
 * identified. In a replacement, which has no such variables, restarts the job.
 */
void keel_shmem_globals_serve(keel_context_h ctx, const char *call);
/* True if the whole range lies in that window. */
int keel_shmem_globals_serves(const void *address, size_t bytes);
/*
 * Sets whether global variables are part of checkpoints. Refuses if a replacement has them at other
 * addresses.
 */
void keel_shmem_globals_restore(int are_restored, const char *call);
/* True if the whole range consists of the program's global variables. */
int keel_shmem_globals_contain(const void *address, size_t bytes);
/* Returns the count of extents in a checkpoint. @a extents NULL: counts only. */
unsigned keel_shmem_globals_extents(keel_extent_t *extents);

#endif
