/* ucp_atomic_*(). Keel logs operation and operands of an atomic and, once known, the old value. */
#include "preload/preload_call.h"

/* programs use all generations of calls */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

static void fetch_count(preload_thread_t *thread)
{
    if (thread != NULL) {
        preload_add(&thread->fetches, 1);
    }
}

PRELOAD_API ucs_status_ptr_t ucp_atomic_op_nbx(ucp_ep_h ep, ucp_atomic_op_t opcode, const void *buffer, size_t count,
                                               uint64_t remote_addr, ucp_rkey_h rkey, const ucp_request_param_t *param)
{
    preload_thread_t *thread = preload_begin(PRELOAD_ATOMIC, __builtin_return_address(0));
    preload_access_t access = preload_access_of(PRELOAD_ATOMIC, ep, remote_addr, buffer, 0);
    ucs_status_ptr_t result;
    PRELOAD_NEXT(ucp_atomic_op_nbx)

    if (thread != NULL) {
        preload_access_nbx(thread, &access, buffer, count, param);
        if ((param->op_attr_mask & UCP_OP_ATTR_FIELD_REPLY_BUFFER) != 0) {
            fetch_count(thread);
        }
    }
    result = next(ep, opcode, buffer, count, remote_addr, rkey, param);
    preload_end(thread, PRELOAD_ATOMIC, preload_status(result));
    return result;
}

PRELOAD_API ucs_status_t ucp_atomic_post(ucp_ep_h ep, ucp_atomic_post_op_t opcode, uint64_t value, size_t op_size,
                                         uint64_t remote_addr, ucp_rkey_h rkey)
{
    preload_thread_t *thread = preload_begin(PRELOAD_ATOMIC, __builtin_return_address(0));
    ucs_status_t status;
    PRELOAD_NEXT(ucp_atomic_post)

    preload_access(thread, PRELOAD_ATOMIC, ep, remote_addr, &value, op_size);
    status = next(ep, opcode, value, op_size, remote_addr, rkey);
    preload_end(thread, PRELOAD_ATOMIC, status);
    return status;
}

PRELOAD_API ucs_status_ptr_t ucp_atomic_fetch_nb(ucp_ep_h ep, ucp_atomic_fetch_op_t opcode, uint64_t value,
                                                 void *result, size_t op_size, uint64_t remote_addr, ucp_rkey_h rkey,
                                                 ucp_send_callback_t cb)
{
    preload_thread_t *thread = preload_begin(PRELOAD_ATOMIC, __builtin_return_address(0));
    ucs_status_ptr_t request;
    PRELOAD_NEXT(ucp_atomic_fetch_nb)

    preload_access(thread, PRELOAD_ATOMIC, ep, remote_addr, &value, op_size);
    fetch_count(thread);
    request = next(ep, opcode, value, result, op_size, remote_addr, rkey, cb);
    preload_end(thread, PRELOAD_ATOMIC, preload_status(request));
    return request;
}

#define ADD(_name, _type)                                                                         \
    PRELOAD_API ucs_status_t _name(ucp_ep_h ep, _type add, uint64_t remote_addr, ucp_rkey_h rkey) \
    {                                                                                             \
        preload_thread_t *thread = preload_begin(PRELOAD_ATOMIC, __builtin_return_address(0));    \
        ucs_status_t status;                                                                      \
        PRELOAD_NEXT(_name)                                                                       \
                                                                                                  \
        preload_access(thread, PRELOAD_ATOMIC, ep, remote_addr, &add, sizeof(add));               \
        status = next(ep, add, remote_addr, rkey);                                                \
        preload_end(thread, PRELOAD_ATOMIC, status);                                              \
        return status;                                                                            \
    }

#define FETCH(_name, _type)                                                                                          \
    PRELOAD_API ucs_status_t _name(ucp_ep_h ep, _type operand, uint64_t remote_addr, ucp_rkey_h rkey, _type *result) \
    {                                                                                                                \
        preload_thread_t *thread = preload_begin(PRELOAD_ATOMIC, __builtin_return_address(0));                       \
        ucs_status_t status;                                                                                         \
        PRELOAD_NEXT(_name)                                                                                          \
                                                                                                                     \
        preload_access(thread, PRELOAD_ATOMIC, ep, remote_addr, &operand, sizeof(operand));                          \
        fetch_count(thread);                                                                                         \
        status = next(ep, operand, remote_addr, rkey, result);                                                       \
        preload_end(thread, PRELOAD_ATOMIC, status);                                                                 \
        return status;                                                                                               \
    }

#define COMPARE(_name, _type)                                                                                     \
    PRELOAD_API ucs_status_t _name(ucp_ep_h ep, _type compare, _type swap, uint64_t remote_addr, ucp_rkey_h rkey, \
                                   _type *result)                                                                 \
    {                                                                                                             \
        preload_thread_t *thread = preload_begin(PRELOAD_ATOMIC, __builtin_return_address(0));                    \
        ucs_status_t status;                                                                                      \
        PRELOAD_NEXT(_name)                                                                                       \
                                                                                                                  \
        preload_access(thread, PRELOAD_ATOMIC, ep, remote_addr, &swap, sizeof(swap));                             \
        fetch_count(thread);                                                                                      \
        status = next(ep, compare, swap, remote_addr, rkey, result);                                              \
        preload_end(thread, PRELOAD_ATOMIC, status);                                                              \
        return status;                                                                                            \
    }

/* clang-format off: each line is a function */
ADD(ucp_atomic_add32, uint32_t)
ADD(ucp_atomic_add64, uint64_t)
FETCH(ucp_atomic_fadd32, uint32_t)
FETCH(ucp_atomic_fadd64, uint64_t)
FETCH(ucp_atomic_swap32, uint32_t)
FETCH(ucp_atomic_swap64, uint64_t)
COMPARE(ucp_atomic_cswap32, uint32_t)
COMPARE(ucp_atomic_cswap64, uint64_t)
/* clang-format on */
