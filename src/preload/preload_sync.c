/* Flushes and fences, ucp_rkey_ptr() and active messages. */
#include "preload/preload_call.h"

/* programs use all generations of calls */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

/* Accesses that follow belong to the next interval between two flushes. */
static void ep_flush_count(preload_thread_t *thread, const void *ep)
{
    preload_target_t *target;

    if (thread != NULL) {
        preload_thread_call(thread, PRELOAD_FLUSH);
        target = preload_targets_find(ep);
        if (target != NULL) {
            __atomic_fetch_add(&target->flushes, 1, __ATOMIC_RELAXED);
        }
    }
}

static void worker_flush_count(preload_thread_t *thread, const void *handle)
{
    preload_worker_t *worker;

    if (thread != NULL) {
        preload_thread_call(thread, PRELOAD_FLUSH);
        worker = preload_targets_worker(handle);
        if (worker != NULL) {
            __atomic_fetch_add(&worker->flushes, 1, __ATOMIC_RELAXED);
        }
    }
}

PRELOAD_API ucs_status_ptr_t ucp_ep_flush_nbx(ucp_ep_h ep, const ucp_request_param_t *param)
{
    preload_thread_t *thread = preload_begin(PRELOAD_FLUSH, __builtin_return_address(0));
    ucs_status_ptr_t result;
    PRELOAD_NEXT(ucp_ep_flush_nbx)

    ep_flush_count(thread, ep);
    result = next(ep, param);
    preload_end(thread, PRELOAD_FLUSH, preload_status(result));
    return result;
}

PRELOAD_API ucs_status_ptr_t ucp_ep_flush_nb(ucp_ep_h ep, unsigned flags, ucp_send_callback_t cb)
{
    preload_thread_t *thread = preload_begin(PRELOAD_FLUSH, __builtin_return_address(0));
    ucs_status_ptr_t result;
    PRELOAD_NEXT(ucp_ep_flush_nb)

    ep_flush_count(thread, ep);
    result = next(ep, flags, cb);
    preload_end(thread, PRELOAD_FLUSH, preload_status(result));
    return result;
}

PRELOAD_API ucs_status_t ucp_ep_flush(ucp_ep_h ep)
{
    preload_thread_t *thread = preload_begin(PRELOAD_FLUSH, __builtin_return_address(0));
    ucs_status_t status;
    PRELOAD_NEXT(ucp_ep_flush)

    ep_flush_count(thread, ep);
    status = next(ep);
    preload_end(thread, PRELOAD_FLUSH, status);
    return status;
}

PRELOAD_API ucs_status_ptr_t ucp_worker_flush_nbx(ucp_worker_h worker, const ucp_request_param_t *param)
{
    preload_thread_t *thread = preload_begin(PRELOAD_FLUSH, __builtin_return_address(0));
    ucs_status_ptr_t result;
    PRELOAD_NEXT(ucp_worker_flush_nbx)

    worker_flush_count(thread, worker);
    result = next(worker, param);
    preload_end(thread, PRELOAD_FLUSH, preload_status(result));
    return result;
}

PRELOAD_API ucs_status_ptr_t ucp_worker_flush_nb(ucp_worker_h worker, unsigned flags, ucp_send_callback_t cb)
{
    preload_thread_t *thread = preload_begin(PRELOAD_FLUSH, __builtin_return_address(0));
    ucs_status_ptr_t result;
    PRELOAD_NEXT(ucp_worker_flush_nb)

    worker_flush_count(thread, worker);
    result = next(worker, flags, cb);
    preload_end(thread, PRELOAD_FLUSH, preload_status(result));
    return result;
}

PRELOAD_API ucs_status_t ucp_worker_flush(ucp_worker_h worker)
{
    preload_thread_t *thread = preload_begin(PRELOAD_FLUSH, __builtin_return_address(0));
    ucs_status_t status;
    PRELOAD_NEXT(ucp_worker_flush)

    worker_flush_count(thread, worker);
    status = next(worker);
    preload_end(thread, PRELOAD_FLUSH, status);
    return status;
}

/* calls of which only the number is of interest */
static void call_count(preload_thread_t *thread, preload_kind_t kind)
{
    if (thread != NULL) {
        preload_thread_call(thread, kind);
    }
}

PRELOAD_API ucs_status_t ucp_worker_fence(ucp_worker_h worker)
{
    preload_thread_t *thread = preload_begin(PRELOAD_FENCE, __builtin_return_address(0));
    ucs_status_t status;
    PRELOAD_NEXT(ucp_worker_fence)

    call_count(thread, PRELOAD_FENCE);
    status = next(worker);
    preload_end(thread, PRELOAD_FENCE, status);
    return status;
}

PRELOAD_API ucs_status_t ucp_rkey_ptr(ucp_rkey_h rkey, uint64_t raddr, void **addr_p)
{
    preload_thread_t *thread = preload_begin(PRELOAD_POINTER, __builtin_return_address(0));
    ucs_status_t status;
    PRELOAD_NEXT(ucp_rkey_ptr)

    status = next(rkey, raddr, addr_p);
    if (status == UCS_OK) {
        call_count(thread, PRELOAD_POINTER);
    }
    preload_end(thread, PRELOAD_POINTER, UCS_OK);
    return status;
}

PRELOAD_API ucs_status_ptr_t ucp_am_send_nb(ucp_ep_h ep, uint16_t id, const void *buffer, size_t count,
                                            ucp_datatype_t datatype, ucp_send_callback_t cb, unsigned flags)
{
    preload_thread_t *thread = preload_begin(PRELOAD_MESSAGE, __builtin_return_address(0));
    ucs_status_ptr_t result;
    PRELOAD_NEXT(ucp_am_send_nb)

    call_count(thread, PRELOAD_MESSAGE);
    result = next(ep, id, buffer, count, datatype, cb, flags);
    preload_end(thread, PRELOAD_MESSAGE, preload_status(result));
    return result;
}

PRELOAD_API ucs_status_ptr_t ucp_am_send_nbx(ucp_ep_h ep, unsigned id, const void *header, size_t header_length,
                                             const void *buffer, size_t count, const ucp_request_param_t *param)
{
    preload_thread_t *thread = preload_begin(PRELOAD_MESSAGE, __builtin_return_address(0));
    ucs_status_ptr_t result;
    PRELOAD_NEXT(ucp_am_send_nbx)

    call_count(thread, PRELOAD_MESSAGE);
    result = next(ep, id, header, header_length, buffer, count, param);
    preload_end(thread, PRELOAD_MESSAGE, preload_status(result));
    return result;
}
