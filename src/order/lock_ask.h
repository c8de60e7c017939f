/* Asking for a lock at another rank. */
#ifndef KEEL_ORDER_LOCK_ASK_H_
#define KEEL_ORDER_LOCK_ASK_H_

#include "engine/context.h"

/* KEEL_ERR_LIMIT, said: the numbers of sections at @a rank have come to their end */
keel_status_t keel_lock_refuse_spent(keel_context_h ctx, uint32_t rank);
/* asks, and waits for the answer. KEEL_ERR_UNREACHABLE: the target died */
keel_status_t keel_lock_ask(keel_context_h ctx, uint32_t rank, const keel_lock_request_t *request, uint64_t *value_p);
/* asks until it is granted, of the target's replacement too; *value_p: the number of the section */
keel_status_t keel_lock_until_granted(keel_context_h ctx, uint32_t rank, keel_lock_request_t *request,
                                      uint64_t *value_p);
/* asks once; should the target die meanwhile, two are lost: waits for what is decided */
keel_status_t keel_lock_ask_once(keel_context_h ctx, uint32_t rank, keel_lock_request_t *request, uint64_t *value_p);

#endif
