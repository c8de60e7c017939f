/*
 * Copies of a PE's present memory for a PE that keeps it through a restore: heap, global variables,
 * protected memory.
 */
#ifndef KEEL_SHMEM_SNAPSHOT_H_
#define KEEL_SHMEM_SNAPSHOT_H_

#include <stddef.h>

/* Adds a region to the kept memory. */
void keel_shmem_snapshot_add(void *address, size_t bytes);
/* Copies the kept memory. Returns 0 if memory is short. */
int keel_shmem_snapshot_take(void);
/* True if the heap has the same blocks as at the copy, so the copy fits. */
int keel_shmem_snapshot_fits(void);
void keel_shmem_snapshot_restore(void);
/* Frees the copy. */
void keel_shmem_snapshot_drop(void);

#endif
