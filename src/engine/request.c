/* Requests and fragments: pools with growth in chunks, so accesses allocate nothing in the steady
 * state. */
#include "engine/request.h"
#include "engine/threads.h"
#include "engine/context.h"
#include "engine/refuse.h"

#include "base/memory.h"

#define PER_CHUNK 512

typedef struct request_chunk {
    struct request_chunk *next;
    struct keel_req reqs[PER_CHUNK];
    keel_fragment_t fragments[PER_CHUNK];
} request_chunk_t;

static keel_status_t requests_grow(keel_context_h ctx)
{
    request_chunk_t *chunk = keel_alloc(sizeof(*chunk), "requests");

    if (chunk == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    chunk->next = ctx->chunks;
    ctx->chunks = chunk;
    for (unsigned i = 0; i < PER_CHUNK; i++) {
        chunk->reqs[i].ctx = ctx;
        chunk->reqs[i].next = ctx->requests.free;
        ctx->requests.free = &chunk->reqs[i];
        chunk->fragments[i].ctx = ctx;
        ucs_list_add_tail(&ctx->fragments.free, &chunk->fragments[i].list);
    }
    return KEEL_OK;
}

keel_status_t keel_requests_init(keel_context_h ctx)
{
    ucs_list_head_init(&ctx->fragments.free);
    ucs_list_head_init(&ctx->fragments.deferred);
    return requests_grow(ctx);
}

void keel_requests_release(keel_context_h ctx)
{
    request_chunk_t *chunk, *next;

    for (chunk = ctx->chunks; chunk != NULL; chunk = next) {
        next = chunk->next;
        keel_free(chunk);
    }
}

struct keel_req *keel_req_obtain(keel_context_h ctx, const keel_rma_params_t *params)
{
    struct keel_req *req;

    if (ctx->requests.free == NULL && requests_grow(ctx) != KEEL_OK) {
        return NULL;
    }
    req = ctx->requests.free;
    ctx->requests.free = req->next;
    req->status = KEEL_OK;
    req->fragments = 1; /* held by the issuing call */
    req->is_released = req->is_due = req->is_new = 0;
    req->looked = 0;
    req->cb = NULL;
    if (params != NULL && (params->field_mask & KEEL_RMA_PARAM_FIELD_CB)) {
        req->cb = params->cb;
        req->user = params->user;
    }
    return req;
}

void keel_req_recycle(struct keel_req *req)
{
    req->next = req->ctx->requests.free;
    req->ctx->requests.free = req;
}

void keel_req_fragment_done(struct keel_req *req, keel_status_t status)
{
    keel_context_h ctx = req->ctx;

    if (status != KEEL_OK) {
        req->status = status;
    }
    if (--req->fragments > 0) {
        return;
    }
    if (req->cb != NULL) {
        req->is_due = 1;
        req->next = NULL;
        if (ctx->requests.due == NULL) {
            ctx->requests.due = req;
        } else {
            ctx->requests.due_last->next = req;
        }
        ctx->requests.due_last = req;
    } else if (req->is_released) {
        keel_req_recycle(req);
    }
}

keel_fragment_t *keel_fragment_obtain(keel_context_h ctx)
{
    keel_fragment_t *fragment;

    if (ucs_list_is_empty(&ctx->fragments.free) && requests_grow(ctx) != KEEL_OK) {
        return NULL;
    }
    fragment = ucs_list_extract_head(&ctx->fragments.free, keel_fragment_t, list);
    fragment->ops = NULL;
    fragment->logged = NULL;
    return fragment;
}

void keel_fragment_release(keel_fragment_t *fragment)
{
    if (fragment->ops != NULL) {
        keel_free(fragment->buffer);
    }
    ucs_list_add_head(&fragment->ctx->fragments.free, &fragment->list);
}

void keel_req_free(keel_req_h req)
{
    KEEL_INSIDE((req != NULL) ? req->ctx : NULL);

    if (req == NULL) {
        return;
    }
    if (req->fragments == 0 && !req->is_due) {
        keel_req_recycle(req);
    } else {
        req->is_released = 1;
    }
}
