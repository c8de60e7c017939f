/* Collectives that move data, of a set of PEs. Addresses are symmetric, bytes those of one PE's block. */
#ifndef KEEL_SHMEM_COLLECT_H_
#define KEEL_SHMEM_COLLECT_H_

#include "shmem_set.h"

/* to the others of the set; the root keeps what it has */
void keel_shmem_broadcast(keel_shmem_set_t *set, void *dest, const void *source, size_t bytes, int root);
/* blocks of equal sizes, in order */
void keel_shmem_fcollect(keel_shmem_set_t *set, void *dest, const void *source, size_t bytes);
/* blocks of any sizes */
void keel_shmem_collect(keel_shmem_set_t *set, void *dest, const void *source, size_t bytes);

typedef struct keel_shmem_elements {
    size_t count, size; /* of a block; bytes of an element */
    ptrdiff_t dst, sst; /* elements from one to the next */
} keel_shmem_elements_t;

/* a block to each */
void keel_shmem_alltoall(keel_shmem_set_t *set, void *dest, const void *source, const keel_shmem_elements_t *elements);

#endif
