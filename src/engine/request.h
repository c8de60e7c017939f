/* Requests and pieces: pools with growth in chunks, so accesses allocate nothing in the steady
 * state. */
#ifndef KEEL_ENGINE_REQUEST_H_
#define KEEL_ENGINE_REQUEST_H_

#include "engine/context.h"

keel_status_t keel_requests_init(keel_context_h ctx);
void keel_requests_release(keel_context_h ctx);
struct keel_req *keel_req_obtain(keel_context_h ctx, const keel_rma_params_t *params);
keel_piece_t *keel_piece_obtain(keel_context_h ctx);
void keel_piece_release(keel_piece_t *piece);
/* Returns a complete and released request to the pool. */
void keel_req_recycle(struct keel_req *req);
void keel_req_piece_done(struct keel_req *req, keel_status_t status);

#endif
