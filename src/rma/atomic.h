/* Atomics: combining puts [F 2.1]; fetching atomics are also gets. */
#ifndef KEEL_RMA_ATOMIC_H_
#define KEEL_RMA_ATOMIC_H_

#include "engine/context.h"

#include <string.h>

/* stores the fetched value, if the caller wants it */
static inline void keel_atomic_store_result(void *result, size_t size, uint64_t old)
{
    if (result == NULL) {
        return;
    }
    if (size == sizeof(old)) {
        memcpy(result, &old, sizeof(old));
    } else {
        memcpy(result, &old, sizeof(uint32_t)); /* little-endian */
    }
}

/* an issued atomic */
typedef struct keel_atomic_call {
    keel_win_h win;
    uint32_t rank;
    uint64_t where;
    const keel_record_atomic_t *atomic;
    void *result; /* NULL: nothing is fetched */
    struct keel_req *req;
    int is_ordered; /* the request takes the fetched value (rma/fetch) */
    /* adjacent elements, each such an atomic, none fetched; NULL: one atomic */
    const keel_record_accumulate_t *many;
    const char *values; /* operands of the elements */
} keel_atomic_call_t;

#endif
