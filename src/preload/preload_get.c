/*
 * ucp_get*(). The record holds the value, so the record is written when the call returns. A value
 * that arrives later is not copied: the program may free the buffer upon completion.
 */
#include "preload/preload_call.h"

/* programs use all generations of calls */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

/* the bytes to copy behind a call with that status */
static const void *value_of(preload_thread_t *thread, const void *buffer, ucs_status_t status)
{
    if (status == UCS_INPROGRESS && thread != NULL) {
        preload_add(&thread->late_gets, 1);
    }
    return status == UCS_OK ? buffer : NULL;
}

PRELOAD_API ucs_status_ptr_t ucp_get_nbx(ucp_ep_h ep, void *buffer, size_t count, uint64_t remote_addr, ucp_rkey_h rkey,
                                         const ucp_request_param_t *param)
{
    preload_thread_t *thread = preload_begin(PRELOAD_GET, __builtin_return_address(0));
    preload_access_t access = preload_access_of(PRELOAD_GET, ep, remote_addr, NULL, 0);
    ucs_status_ptr_t result;
    PRELOAD_NEXT(ucp_get_nbx)

    result = next(ep, buffer, count, remote_addr, rkey, param);
    if (thread != NULL) {
        access.data = value_of(thread, buffer, preload_status(result));
        preload_access_nbx(thread, &access, buffer, count, param);
    }
    preload_end(thread, PRELOAD_GET, preload_status(result));
    return result;
}

PRELOAD_API ucs_status_ptr_t ucp_get_nb(ucp_ep_h ep, void *buffer, size_t length, uint64_t remote_addr, ucp_rkey_h rkey,
                                        ucp_send_callback_t cb)
{
    preload_thread_t *thread = preload_begin(PRELOAD_GET, __builtin_return_address(0));
    ucs_status_ptr_t result;
    PRELOAD_NEXT(ucp_get_nb)

    result = next(ep, buffer, length, remote_addr, rkey, cb);
    preload_access(thread, PRELOAD_GET, ep, remote_addr, value_of(thread, buffer, preload_status(result)), length);
    preload_end(thread, PRELOAD_GET, preload_status(result));
    return result;
}

PRELOAD_API ucs_status_t ucp_get_nbi(ucp_ep_h ep, void *buffer, size_t length, uint64_t remote_addr, ucp_rkey_h rkey)
{
    preload_thread_t *thread = preload_begin(PRELOAD_GET, __builtin_return_address(0));
    ucs_status_t status;
    PRELOAD_NEXT(ucp_get_nbi)

    status = next(ep, buffer, length, remote_addr, rkey);
    preload_access(thread, PRELOAD_GET, ep, remote_addr, value_of(thread, buffer, status), length);
    preload_end(thread, PRELOAD_GET, status);
    return status;
}

PRELOAD_API ucs_status_t ucp_get(ucp_ep_h ep, void *buffer, size_t length, uint64_t remote_addr, ucp_rkey_h rkey)
{
    preload_thread_t *thread = preload_begin(PRELOAD_GET, __builtin_return_address(0));
    ucs_status_t status;
    PRELOAD_NEXT(ucp_get)

    status = next(ep, buffer, length, remote_addr, rkey);
    preload_access(thread, PRELOAD_GET, ep, remote_addr, value_of(thread, buffer, status), length);
    preload_end(thread, PRELOAD_GET, status);
    return status;
}
