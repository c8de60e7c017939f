/* Atomics over the served lane. */
#ifndef KEEL_API_ATOMIC_SERVED_H_
#define KEEL_API_ATOMIC_SERVED_H_

#include "api/context.h"

/* keel_recovery_params_t.on_fetch */
int keel_atomic_again(void *arg, uint32_t rank, const keel_fetch_t *fetch, const uint64_t *old);
/* to a live target; a value comes to @a result, and then @a req has one piece less */
keel_status_t keel_atomic_served(keel_win_h win, uint32_t rank, uint64_t where, const keel_record_atomic_t *atomic,
                                 void *result, struct keel_req *req);

#endif
