/* Completion of requests: tests, waits and callbacks. */
#ifndef KEEL_ORDER_COMPLETION_H_
#define KEEL_ORDER_COMPLETION_H_

#include "engine/context.h"

/*
 * Called when a get is issued. If test results of this request will be logged, the call must return
 * a request in every re-execution, even if the get is already complete.
 */
void keel_req_begin_looks(struct keel_req *req, uint32_t rank, size_t length);
/*
 * KEEL_HOOK_CALL_BACK: runs pending completion callbacks. Not from within progress: an access in a
 * callback may wait.
 */
void keel_requests_call_back(keel_context_h ctx);
/*
 * Drops the issuer's reference. Returns KEEL_INPROGRESS and hands out the request if pieces are
 * pending, or if test results are logged: a re-execution must see a request, too.
 */
keel_status_t keel_request_finish(struct keel_req *req, keel_status_t status, keel_req_h *req_p);

#endif
