/* Requests and pieces: pools that grow in chunks, so that accesses allocate nothing in the steady state. */
#ifndef KEEL_API_REQUEST_H_
#define KEEL_API_REQUEST_H_

#include "api/context.h"

keel_status_t keel_requests_init(keel_context_h ctx);
void keel_requests_release(keel_context_h ctx);
struct keel_req *keel_req_obtain(keel_context_h ctx, const keel_rma_params_t *params);
/* a get of it is issued at @a rank: where what is said of it will be recorded it is given to the program in each life, complete or not */
void keel_req_begin_looks(struct keel_req *req, uint32_t rank, size_t length);
keel_piece_t *keel_piece_obtain(keel_context_h ctx);
void keel_piece_release(keel_piece_t *piece);
void keel_req_piece_done(struct keel_req *req, keel_status_t status);
/* calls the callbacks that are due: not from within progress, whose caller may not be called again by an access that waits */
void keel_requests_call_back(keel_context_h ctx);

#endif
