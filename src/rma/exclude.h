/*
 * Exclusion of accumulates of many elements and single atomics on mapped memory
 * (peer/combine/combine_area.h).
 *
 * Plain loads and stores are allowed while every rank that may change the elements takes part in
 * the exclusion: all ranks of the job reach the memory by stores, and no survivor hands atomics
 * over to a replacement. Otherwise an accumulate uses locked instructions. It owns the area then,
 * too, because another rank may not know of a death yet. A replacement accesses no memory before
 * all survivors have adopted the decision, and a survivor does not adopt amid an accumulate.
 *
 * Without logs there is no exclusion, because no rollback follows a death amid the stores.
 */
#ifndef KEEL_RMA_EXCLUDE_H_
#define KEEL_RMA_EXCLUDE_H_

#include "peer/access.h"
#include "rma/atomic.h"

/* Fast path, with logs: true if single atomics on the element are settled. */
static inline __attribute__((always_inline)) int keel_exclude_is_settled(const keel_context_h ctx, uint32_t rank,
                                                                         unsigned region, uint64_t offset)
{
    const keel_lock_area_t *area = (const keel_lock_area_t *)keel_access_mapped(&ctx->lane, rank, KEEL_REGION_LOCKS);

    return area != NULL && keel_combine_is_set(area->combine.settled, keel_combine_block(region, offset));
}

/* Begins an atomic on own or mapped memory, immediately before the atomic; 0: try again after a
 * round of progress. A call of many elements then owns the area and must not wait until
 * keel_exclude_end(). A single atomic stays settled. */
int keel_exclude_begin(const keel_atomic_call_t *call);
void keel_exclude_end(const keel_atomic_call_t *call);
/* Combines the elements of the call, between the two. */
void keel_exclude_combine(const keel_atomic_call_t *call, char *target, char *found);

/* The same for an accumulate without a log, by locked instructions. */
int keel_exclude_begin_unlogged(keel_context_h ctx, uint32_t rank);
void keel_exclude_end_unlogged(keel_context_h ctx, uint32_t rank);

#endif
