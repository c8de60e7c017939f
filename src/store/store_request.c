/* Pending loads. */
#include "store/store_request.h"
#include "store/store_read.h"
#include "store/store_sizes.h"

#include "base/memory.h"
#include "engine/refuse.h"
#include "engine/request.h"
#include "engine/threads.h"
#include "recovery/recovery_status.h"

typedef struct keel_store_pending {
    ucs_list_link_t list;
    struct keel_req *req;
    keel_store_reading_t reading;
    keel_store_part_t *parts, *reads; /* reads: of blocks of different sizes; NULL: equal blocks */
    unsigned count;
    keel_status_t first; /* of the directory */
} keel_store_pending_t;

static void pending_free(keel_store_pending_t *pending)
{
    keel_store_reading_end(&pending->reading);
    keel_free(pending->reads);
    keel_free(pending);
}

static void pending_end(keel_store_h store, keel_store_pending_t *pending, keel_status_t status)
{
    struct keel_req *req = pending->req;

    if (pending->reads != NULL) {
        keel_store_sized_end(pending->parts, pending->reads, pending->count, status);
        status = (status == KEEL_OK) ? pending->first : status;
    }
    ucs_list_del(&pending->list);
    pending_free(pending);
    keel_store_end_load(store);
    keel_req_fragment_done(req, status);
}

void keel_store_requests_progress(keel_store_h store)
{
    keel_store_pending_t *pending, *next;

    ucs_list_for_each_safe(pending, next, &store->pending, list)
    {
        const keel_status_t status = keel_store_reading_step(&pending->reading);

        if (status != KEEL_INPROGRESS) {
            pending_end(store, pending, status);
        }
    }
}

void keel_store_requests_mute(keel_store_h store)
{
    const keel_status_t status = keel_recovery_status(&store->ctx->rec);

    while (status != KEEL_OK && !ucs_list_is_empty(&store->pending)) {
        pending_end(store, ucs_list_head(&store->pending, keel_store_pending_t, list), status);
    }
}

void keel_store_requests_release(keel_store_h store)
{
    while (!ucs_list_is_empty(&store->pending)) {
        keel_store_pending_t *pending = ucs_list_head(&store->pending, keel_store_pending_t, list);

        ucs_list_del(&pending->list);
        pending_free(pending);
    }
}

/* Begins the load; the request belongs to the caller if that fails. */
static keel_status_t pending_begin(keel_store_h store, keel_store_part_t *parts, unsigned count, struct keel_req *req)
{
    keel_store_pending_t *pending = keel_alloc(sizeof(*pending), "load of a store");
    keel_status_t status = KEEL_OK;

    if (pending == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    pending->req = req;
    pending->parts = parts;
    pending->count = count;
    if (store->block_bytes == 0) {
        pending->first = status = keel_store_sized_begin(store, parts, count, &pending->reads);
        status = (status == KEEL_ERR_LOST) ? KEEL_OK : status;
    }
    if (status == KEEL_OK) {
        status = (pending->reads != NULL)
                     ? keel_store_reading_begin(&pending->reading, store, 1, pending->reads, count)
                     : keel_store_reading_begin(&pending->reading, store, store->block_bytes, parts, count);
    }
    if (status != KEEL_OK) {
        pending_free(pending);
        return status;
    }
    ucs_list_add_tail(&store->pending, &pending->list);
    return KEEL_OK;
}

keel_status_t keel_store_load_nbx(keel_store_h store, keel_store_part_t *parts, unsigned count,
                                  const keel_rma_params_t *params, keel_req_h *req_p)
{
    KEEL_INSIDE((store != NULL) ? store->ctx : NULL);
    struct keel_req *req;
    keel_status_t status;

    if (store == NULL || (parts == NULL && count > 0)) {
        return keel_refuse_null(store == NULL ? "the store" : "keel_store_load_nbx: the parts");
    }
    status = keel_store_begin_load(store, "keel_store_load_nbx");
    if (status != KEEL_OK) {
        return keel_context_end(store->ctx, status);
    }
    req = keel_req_obtain(store->ctx, params);
    status = (req == NULL) ? KEEL_ERR_NO_MEMORY : pending_begin(store, parts, count, req);
    if (status != KEEL_OK) {
        keel_store_end_load(store);
        if (req != NULL) {
            req->fragments = 0;
            keel_req_recycle(req);
        }
        return keel_context_end(store->ctx, status);
    }
    if (req_p != NULL) {
        *req_p = req;
    } else {
        req->is_released = 1;
    }
    return KEEL_INPROGRESS;
}
