/* Active sets: PEs at a stride of a power of two, with work arrays given by the program. */
#ifndef KEEL_SHMEM_ACTIVE_H_
#define KEEL_SHMEM_ACTIVE_H_

#include "teams/shmem_reduce.h"

typedef struct keel_shmem_active {
    int start, log_stride, size;
    long *sync; /* pSync */
    const char *call;
} keel_shmem_active_t;

/* @a work: pWrk */
void keel_shmem_active_reduce(const keel_shmem_active_t *active, void *dest, const void *source,
                              const keel_shmem_numbers_t *numbers, void *work);

#endif
