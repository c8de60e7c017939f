/* Atomics on mapped memory: the caller applies them. */
#ifndef KEEL_RMA_ATOMIC_STORED_H_
#define KEEL_RMA_ATOMIC_STORED_H_

#include "rma/atomic.h"
#include "check/plant.h"
#include "oplog/get_log.h"
#include "peer/access.h"
#include "peer/apply.h"

#include <string.h>

/*
 * Applies an atomic after its put record was written, and records a fetched value. The get record
 * is reserved first: no load passes the locked instruction, so independent work comes before it.
 * @a pushes: stores the record at the target, too, where that is short; see keel_atomic_push().
 */
static inline __attribute__((always_inline)) uint64_t keel_atomic_do(keel_context_h ctx, uint32_t rank, uint64_t where,
                                                                     char *target, const keel_record_atomic_t *atomic,
                                                                     void *result, int pushes)
{
    keel_get_record_t *record = NULL;
    uint32_t index = 0;
    uint64_t old;

    if (atomic->fetches) {
        record = keel_get_log_reserve(&ctx->gets, rank, where, atomic->size, &index);
    }
    KEEL_MOMENT();
    old = keel_apply_atomic(target, atomic);
    if (atomic->fetches || keel_atomic_may_change(atomic->op)) {
        keel_access_find(&ctx->lane, rank);
    }
    KEEL_MOMENT();
    if (record != NULL) {
        memcpy(record + 1, &old, sizeof(old)); /* padded to 8 bytes */
        keel_get_record_end(record);
        if (pushes && !KEEL_PLANT(atomic_stored_unpushed)) {
            keel_get_log_push_word(&ctx->gets, rank, record, where, index, atomic->size, old);
        }
    }
    keel_atomic_store_result(result, atomic->size, old);
    return old;
}

/* Call before the atomic is closed: the record then answers a replacement, or the target knows
 * that there is none. */
static inline void keel_atomic_push(keel_context_h ctx, uint32_t rank, const keel_record_atomic_t *atomic)
{
    if (atomic->fetches && !KEEL_PLANT(atomic_stored_unpushed) && !keel_get_log_is_pushed(&ctx->gets, rank)) {
        keel_get_log_push(&ctx->gets, rank);
    }
}

/* carries out an atomic at a live, mapped target */
keel_status_t keel_atomic_stored(const keel_atomic_call_t *call);

#endif
