/* Requests and fragments: pools with growth in chunks, so accesses allocate nothing in the steady
 * state. */
#ifndef KEEL_ENGINE_REQUEST_H_
#define KEEL_ENGINE_REQUEST_H_

#include "engine/context.h"

keel_status_t keel_requests_init(keel_context_h ctx);
void keel_requests_release(keel_context_h ctx);
struct keel_req *keel_req_obtain(keel_context_h ctx, const keel_rma_params_t *params);
keel_fragment_t *keel_fragment_obtain(keel_context_h ctx);
void keel_fragment_release(keel_fragment_t *fragment);
/* Returns a complete and released request to the pool. */
void keel_req_recycle(struct keel_req *req);
void keel_req_fragment_done(struct keel_req *req, keel_status_t status);

#endif
