/*
 * Global variables as symmetric objects. The end of the adapter's window is mapped a second time, over the pages of the program that
 * hold them, so loads and stores of the program and accesses of others meet there. It is filled with what the program had there, which all
 * PEs do before a gsync, and a replacement does again after keel_restore() has emptied it.
 */
#ifndef KEEL_SHMEM_GLOBALS_H_
#define KEEL_SHMEM_GLOBALS_H_

#include "shmem_program.h"

#include <keel/keel.h>

typedef struct keel_shmem_globals {
    const char *why;  /* they are not symmetric; NULL: they are */
    uintptr_t begin;  /* of their pages; 0: not looked for */
    size_t bytes;     /* of them */
    uint64_t offset;  /* in the window */
    int are_restored; /* they are part of checkpoints; below 0: the program has not said it */
    int are_used;     /* as symmetric objects */
    keel_shmem_program_t program;
} keel_shmem_globals_t;

extern keel_shmem_globals_t keel_shmem_globals;

/* how many bytes of a window they take, 0 where they cannot be symmetric */
size_t keel_shmem_globals_find(void);
/* moves them into the window, of which they are the part at @a offset; 0: that failed, and @a why is set */
int keel_shmem_globals_map(void *base, uint64_t offset);
/* says whether they are part of checkpoints; refuses where a replacement has them at other addresses */
void keel_shmem_globals_restore(int are_restored, const char *call);
/* all of it is global variables of the program */
int keel_shmem_globals_have(const void *address, size_t bytes);
/* what of them a checkpoint has: so many; @a extents NULL: counted only */
unsigned keel_shmem_globals_extents(keel_extent_t *extents);

#endif
