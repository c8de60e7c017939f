/*
 * Global variables as symmetric objects. The end of the adapter's window is mapped a second time, over the pages of the program that
 * hold them, so loads and stores of the program and accesses of others meet there. It is filled with what the program had there, which all
 * PEs do before a gsync, and a replacement does again after keel_restore() has emptied it.
 *
 * Where nobody can tell which of those pages are the program's, or of a processor that is not known, they stay where they are, and others'
 * accesses are messages: a window of its own. Nothing there may be put back as it was, so a death starts the job anew.
 */
#ifndef KEEL_SHMEM_GLOBALS_H_
#define KEEL_SHMEM_GLOBALS_H_

#include "shmem_program.h"

#include <keel/keel.h>

/* why a death starts the job anew where they are served */
#define KEEL_SHMEM_GLOBALS_ARE_LOST "global variables are served here, which nobody can bring back"

typedef struct keel_shmem_globals {
    const char *why;  /* they are not symmetric; NULL: they are */
    uintptr_t begin;  /* of their pages; 0: not looked for */
    size_t bytes;     /* of them */
    uint64_t offset;  /* in the window */
    int are_restored; /* they are part of checkpoints; below 0: the program has not said it */
    int are_used;     /* as symmetric objects */
    keel_shmem_program_t program;
    keel_win_h served; /* of those that are not mapped; NULL: there is none */
    uintptr_t served_begin;
    size_t served_bytes;
} keel_shmem_globals_t;

extern keel_shmem_globals_t keel_shmem_globals;

/* how many bytes of a window they take, 0 where they cannot be symmetric */
size_t keel_shmem_globals_find(void);
/* moves them into the window, of which they are the part at @a offset; 0: that failed, and @a why is set */
int keel_shmem_globals_map(void *base, uint64_t offset);
/* where they cannot be found: a window of them for messages, collective. A replacement, which has none, starts the job anew. */
void keel_shmem_globals_serve(keel_context_h ctx, const char *call);
/* all of it is in that window */
int keel_shmem_globals_serves(const void *address, size_t bytes);
/* says whether they are part of checkpoints; refuses where a replacement has them at other addresses */
void keel_shmem_globals_restore(int are_restored, const char *call);
/* all of it is global variables of the program */
int keel_shmem_globals_have(const void *address, size_t bytes);
/* what of them a checkpoint has: so many; @a extents NULL: counted only */
unsigned keel_shmem_globals_extents(keel_extent_t *extents);

#endif
