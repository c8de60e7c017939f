/* What a PE has now, for one that keeps it through a restore: its heap, its global variables, what it protects. */
#ifndef KEEL_SHMEM_KEEP_H_
#define KEEL_SHMEM_KEEP_H_

#include <stddef.h>

/* belongs to what is kept from here on */
void keel_shmem_keep_region(void *address, size_t bytes);
/* copies it all; 0: no memory for that */
int keel_shmem_keep_take(void);
/* the heap has the same blocks as when it was taken: what was taken has its places */
int keel_shmem_keep_fits(void);
void keel_shmem_keep_put_back(void);
/* of no use any more */
void keel_shmem_keep_drop(void);

#endif
