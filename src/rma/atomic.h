/* Atomics: combining puts [F 2.1], the fetching ones also gets. */
#ifndef KEEL_RMA_ATOMIC_H_
#define KEEL_RMA_ATOMIC_H_

#include "engine/context.h"

#include <string.h>

/* the value fetched goes where the caller wants it */
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

/* one that is issued */
typedef struct keel_atomic_call {
    keel_win_h win;
    uint32_t rank;
    uint64_t where;
    const keel_record_atomic_t *atomic;
    void *result; /* NULL: nothing is fetched */
    struct keel_req *req;
    int is_ordered; /* what is fetched goes to the request (rma/fetch) */
    const keel_record_accumulate_t
        *many;          /* NULL: it is one; else elements side by side, each such an atomic, and nothing is fetched */
    const char *values; /* of these */
} keel_atomic_call_t;

#endif
