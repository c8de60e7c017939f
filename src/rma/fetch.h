/*
 * Values fetched from others in programs that wait: each orders what comes after it behind all that its source found, as a wait does.
 * Such a fetch is over when the call returns.
 */
#ifndef KEEL_RMA_FETCH_H_
#define KEEL_RMA_FETCH_H_

#include "rma/atomic.h"

/* it is one of these: all number what they do in this phase. The same in a re-execution */
int keel_fetch_is_ordered(const keel_context_h ctx, uint32_t rank, const keel_record_atomic_t *atomic);
/* a target that is stored to: the operation, with its record there. *fetched_p: what was found */
void keel_fetch_stored(keel_context_h ctx, uint32_t rank, uint64_t where, char *target,
                       const keel_record_atomic_t *atomic, keel_fetched_t *fetched_p);
/* issued, or answered from a record: waits for it, and this process's clock goes beyond what was found */
keel_status_t keel_fetch_end(struct keel_req *req, size_t size, void *result);

/* this process's own memory: what is found has a record at another rank */
int keel_fetch_is_own(const keel_context_h ctx, const keel_record_atomic_t *atomic);
keel_status_t keel_fetch_own(keel_win_h win, uint64_t offset, const keel_record_atomic_t *atomic, void *result);
/* or, before not all know that the program waits, none: where it fetches, what others did there is in place */
keel_status_t keel_fetch_own_first(keel_context_h ctx, const keel_record_atomic_t *atomic);

#endif
