/* ucp_put*(). The record is written before the put is issued, as in Keel. */
#include "preload/preload_call.h"

/* programs use all generations of calls */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

PRELOAD_API ucs_status_ptr_t ucp_put_nbx(ucp_ep_h ep, const void *buffer, size_t count, uint64_t remote_addr,
                                         ucp_rkey_h rkey, const ucp_request_param_t *param)
{
    preload_thread_t *thread = preload_begin(PRELOAD_PUT, __builtin_return_address(0));
    preload_access_t access = preload_access_of(PRELOAD_PUT, ep, remote_addr, buffer, 0);
    ucs_status_ptr_t result;
    PRELOAD_NEXT(ucp_put_nbx)

    if (thread != NULL) {
        preload_access_nbx(thread, &access, buffer, count, param);
    }
    result = next(ep, buffer, count, remote_addr, rkey, param);
    preload_end(thread, PRELOAD_PUT, preload_status(result));
    return result;
}

PRELOAD_API ucs_status_ptr_t ucp_put_nb(ucp_ep_h ep, const void *buffer, size_t length, uint64_t remote_addr,
                                        ucp_rkey_h rkey, ucp_send_callback_t cb)
{
    preload_thread_t *thread = preload_begin(PRELOAD_PUT, __builtin_return_address(0));
    ucs_status_ptr_t result;
    PRELOAD_NEXT(ucp_put_nb)

    preload_access(thread, PRELOAD_PUT, ep, remote_addr, buffer, length);
    result = next(ep, buffer, length, remote_addr, rkey, cb);
    preload_end(thread, PRELOAD_PUT, preload_status(result));
    return result;
}

PRELOAD_API ucs_status_t ucp_put_nbi(ucp_ep_h ep, const void *buffer, size_t length, uint64_t remote_addr,
                                     ucp_rkey_h rkey)
{
    preload_thread_t *thread = preload_begin(PRELOAD_PUT, __builtin_return_address(0));
    ucs_status_t status;
    PRELOAD_NEXT(ucp_put_nbi)

    preload_access(thread, PRELOAD_PUT, ep, remote_addr, buffer, length);
    status = next(ep, buffer, length, remote_addr, rkey);
    preload_end(thread, PRELOAD_PUT, status);
    return status;
}

PRELOAD_API ucs_status_t ucp_put(ucp_ep_h ep, const void *buffer, size_t length, uint64_t remote_addr, ucp_rkey_h rkey)
{
    preload_thread_t *thread = preload_begin(PRELOAD_PUT, __builtin_return_address(0));
    ucs_status_t status;
    PRELOAD_NEXT(ucp_put)

    preload_access(thread, PRELOAD_PUT, ep, remote_addr, buffer, length);
    status = next(ep, buffer, length, remote_addr, rkey);
    preload_end(thread, PRELOAD_PUT, status);
    return status;
}
