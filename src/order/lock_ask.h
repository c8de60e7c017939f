/* Lock requests to another rank. */
#ifndef KEEL_ORDER_LOCK_ASK_H_
#define KEEL_ORDER_LOCK_ASK_H_

#include "engine/context.h"

/*
 * Reports that the numbers of critical sections at @a rank are exhausted, and returns
 * KEEL_ERR_LIMIT.
 */
keel_status_t keel_lock_refuse_spent(keel_context_h ctx, uint32_t rank);
/* Sends a request and waits for the reply. KEEL_ERR_UNREACHABLE: the target died. */
keel_status_t keel_lock_ask(keel_context_h ctx, uint32_t rank, const keel_lock_request_t *request, uint64_t *value_p);
/*
 * Repeats the request until the lock is granted, also at the target's replacement. *value_p: the
 * number of the critical section.
 */
keel_status_t keel_lock_until_granted(keel_context_h ctx, uint32_t rank, keel_lock_request_t *request,
                                      uint64_t *value_p);
/*
 * Sends the request once. If the target dies meanwhile, two ranks are lost: waits for the decision.
 */
keel_status_t keel_lock_ask_once(keel_context_h ctx, uint32_t rank, keel_lock_request_t *request, uint64_t *value_p);

#endif
