/* Requests and fragments: pools with growth in chunks, so accesses allocate nothing in the steady
 * state. */
#ifndef KEEL_ENGINE_REQUEST_H_
#define KEEL_ENGINE_REQUEST_H_

#include "engine/context.h"

struct keel_req {
    keel_context_h ctx;
    keel_status_t status;
    uint32_t fragments; /* fragments under way */
    uint8_t is_released;
    uint8_t is_due; /* complete, with its callback still to be called */
    /* of a replacement, for an access without a record: see keel_wait_catch_up() */
    uint8_t is_new;
    /* 1 + (rollback << 32 | phase) in which records say that the request is in progress; 0: none */
    uint64_t looked;
    keel_send_cb_t cb;
    void *user;
    /* result of an atomic, or clock of a poll, in a program that waits */
    keel_fetched_t fetched;
    struct keel_req *next; /* in the list of free or completed requests */
};

keel_status_t keel_requests_init(keel_context_h ctx);
void keel_requests_release(keel_context_h ctx);
struct keel_req *keel_req_obtain(keel_context_h ctx, const keel_rma_params_t *params);
keel_fragment_t *keel_fragment_obtain(keel_context_h ctx);
void keel_fragment_release(keel_fragment_t *fragment);
/* Returns a complete and released request to the pool. */
void keel_req_recycle(struct keel_req *req);
void keel_req_fragment_done(struct keel_req *req, keel_status_t status);

#endif
