/*
 * Collectives that move data in a set of PEs. Addresses are symmetric; bytes are those of one PE's
 * block.
 */
#ifndef KEEL_SHMEM_COLLECT_H_
#define KEEL_SHMEM_COLLECT_H_

#include "teams/shmem_set.h"

/* Sends to the other PEs of the set; the root's dest is not written. */
void keel_shmem_broadcast(keel_shmem_set_t *set, void *dest, const void *source, size_t bytes, int root);
/* Collects blocks of equal sizes, in order. */
void keel_shmem_fcollect(keel_shmem_set_t *set, void *dest, const void *source, size_t bytes);
/* Collects blocks of any sizes. */
void keel_shmem_collect(keel_shmem_set_t *set, void *dest, const void *source, size_t bytes);

typedef struct keel_shmem_elements {
    size_t count, size; /* elements of a block; bytes of an element */
    ptrdiff_t dst, sst; /* strides in elements */
} keel_shmem_elements_t;

/* Sends one block to each PE. */
void keel_shmem_alltoall(keel_shmem_set_t *set, void *dest, const void *source, const keel_shmem_elements_t *elements);

#endif
