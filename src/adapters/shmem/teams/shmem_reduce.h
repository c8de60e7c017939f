/* Reductions and scans of a set of PEs. */
#ifndef KEEL_SHMEM_REDUCE_H_
#define KEEL_SHMEM_REDUCE_H_

#include "teams/shmem_set.h"

/* sum[i] = sum[i] op other[i] */
typedef void (*keel_shmem_combine_t)(void *sum, const void *other, size_t count);

typedef struct keel_shmem_numbers {
    size_t count, size; /* size: bytes of an element */
    keel_shmem_combine_t combine;
} keel_shmem_numbers_t;

/* The result has the same bits at all PEs of the set. */
void keel_shmem_reduce(keel_shmem_set_t *set, void *dest, const void *source, const keel_shmem_numbers_t *numbers);
/* Reduces one word, which need not be symmetric. */
void keel_shmem_reduce_and(keel_shmem_set_t *set, uint64_t *word);
/*
 * Combines the numbers of the PEs up to the caller, inclusively or exclusively; @a dest is all 0 if
 * there are none. Teams only.
 */
void keel_shmem_scan(keel_shmem_set_t *set, void *dest, const void *source, const keel_shmem_numbers_t *numbers,
                     int is_inclusive);

#endif
