/* Atomics over the served lane. */
#ifndef KEEL_RMA_ATOMIC_SERVED_H_
#define KEEL_RMA_ATOMIC_SERVED_H_

#include "rma/atomic.h"

/* keel_recovery_params_t.on_fetch */
int keel_atomic_again(void *arg, uint32_t rank, const keel_fetch_t *fetch, const keel_fetched_t *found);
/* Replacement, either lane: completes a fetch from its record. The target has applied the
 * atomic. */
keel_status_t keel_atomic_replayed(const keel_atomic_call_t *call);
/* Sends an atomic to a live target. The value arrives in the result or in the request, and
 * completes one fragment of the request. */
keel_status_t keel_atomic_served(const keel_atomic_call_t *call);

#endif
