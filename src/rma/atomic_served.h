/* Atomics over the served lane. */
#ifndef KEEL_RMA_ATOMIC_SERVED_H_
#define KEEL_RMA_ATOMIC_SERVED_H_

#include "rma/atomic.h"

/* keel_recovery_params_t.on_fetch */
int keel_atomic_again(void *arg, uint32_t rank, const keel_fetch_t *fetch, const keel_fetched_t *found);
/* replacement: on either lane, a value that is in a record; the target has applied it */
keel_status_t keel_atomic_replayed(const keel_atomic_call_t *call);
/* to a live target; a value comes to the result, or the request's, which then has one piece less */
keel_status_t keel_atomic_served(const keel_atomic_call_t *call);

#endif
