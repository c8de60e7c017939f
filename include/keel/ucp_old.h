/*
 * The older calls of UCP on Keel's windows, for ucp.h, which includes this header: runtimes still
 * use them. UCP declares most of them deprecated. They differ from UCP as the calls of ucp.h do.
 */
#ifndef KEEL_UCP_OLD_H_
#define KEEL_UCP_OLD_H_

#ifndef KEEL_UCP_H_
#include <keel/ucp.h>
#else

#ifdef __cplusplus
extern "C" {
#endif

/** Completion callback of an access that returned a request: keel_ucp_send_nbx_callback_t without
 *  the user data. */
typedef void (*keel_ucp_send_callback_t)(void *request, keel_ucs_status_t status);

typedef enum keel_ucp_atomic_post_op {
    KEEL_UCP_ATOMIC_POST_OP_ADD,
    KEEL_UCP_ATOMIC_POST_OP_AND,
    KEEL_UCP_ATOMIC_POST_OP_OR,
    KEEL_UCP_ATOMIC_POST_OP_XOR,
    KEEL_UCP_ATOMIC_POST_OP_LAST
} keel_ucp_atomic_post_op_t;

typedef enum keel_ucp_atomic_fetch_op {
    KEEL_UCP_ATOMIC_FETCH_OP_FADD,
    KEEL_UCP_ATOMIC_FETCH_OP_SWAP,
    KEEL_UCP_ATOMIC_FETCH_OP_CSWAP,
    KEEL_UCP_ATOMIC_FETCH_OP_FAND,
    KEEL_UCP_ATOMIC_FETCH_OP_FOR,
    KEEL_UCP_ATOMIC_FETCH_OP_FXOR,
    KEEL_UCP_ATOMIC_FETCH_OP_LAST
} keel_ucp_atomic_fetch_op_t;

/* Stores a callback of the older form as user data. */
union keel_ucp_old_callback {
    keel_ucp_send_callback_t send;
    void *user_data;
};

static inline void keel_ucp_on_old_completion(void *request, keel_ucs_status_t status, void *user_data)
{
    union keel_ucp_old_callback callback;

    callback.user_data = user_data;
    callback.send(request, status);
}

static inline void keel_ucp_old_param(keel_ucp_request_param_t *param, keel_ucp_send_callback_t cb)
{
    union keel_ucp_old_callback callback;

    callback.send = cb;
    param->op_attr_mask = (cb != NULL) ? KEEL_UCP_OP_ATTR_FIELD_CALLBACK | KEEL_UCP_OP_ATTR_FIELD_USER_DATA : 0;
    param->cb.send = keel_ucp_on_old_completion;
    param->user_data = callback.user_data;
}

/** ucp_put_nb(): keel_ucp_put_nbx() of @a length bytes. */
static inline keel_ucs_status_ptr_t keel_ucp_put_nb(keel_ucp_ep_h ep, const void *buffer, size_t length,
                                                    uint64_t remote_addr, keel_ucp_rkey_h rkey,
                                                    keel_ucp_send_callback_t cb)
{
    keel_ucp_request_param_t param;

    keel_ucp_old_param(&param, cb);
    return keel_ucp_put_nbx(ep, buffer, length, remote_addr, rkey, &param);
}

/** ucp_get_nb(): keel_ucp_get_nbx() of @a length bytes. */
static inline keel_ucs_status_ptr_t keel_ucp_get_nb(keel_ucp_ep_h ep, void *buffer, size_t length, uint64_t remote_addr,
                                                    keel_ucp_rkey_h rkey, keel_ucp_send_callback_t cb)
{
    keel_ucp_request_param_t param;

    keel_ucp_old_param(&param, cb);
    return keel_ucp_get_nbx(ep, buffer, length, remote_addr, rkey, &param);
}

/** ucp_put(): keel_put(). */
static inline keel_ucs_status_t keel_ucp_put(keel_ucp_ep_h ep, const void *buffer, size_t length, uint64_t remote_addr,
                                             keel_ucp_rkey_h rkey)
{
    return (ep->rank != rkey->rank)
               ? KEEL_UCS_ERR_INVALID_PARAM
               : keel_ucs_status(keel_put(rkey->win, rkey->rank, remote_addr - rkey->base, buffer, length));
}

/** ucp_get(): keel_get(). */
static inline keel_ucs_status_t keel_ucp_get(keel_ucp_ep_h ep, void *buffer, size_t length, uint64_t remote_addr,
                                             keel_ucp_rkey_h rkey)
{
    return (ep->rank != rkey->rank)
               ? KEEL_UCS_ERR_INVALID_PARAM
               : keel_ucs_status(keel_get(rkey->win, rkey->rank, remote_addr - rkey->base, buffer, length));
}

/**
 * ucp_atomic_post(): keel_atomic_nbx() without a result; a flush completes the atomic.
 * @param [in] op_size  1, 2, 4 or 8 bytes.
 * @return KEEL_UCS_OK, or an error.
 */
static inline keel_ucs_status_t keel_ucp_atomic_post(keel_ucp_ep_h ep, keel_ucp_atomic_post_op_t opcode, uint64_t value,
                                                     size_t op_size, uint64_t remote_addr, keel_ucp_rkey_h rkey)
{
    static const keel_atomic_op_t ops[] = {KEEL_ATOMIC_ADD, KEEL_ATOMIC_AND, KEEL_ATOMIC_OR, KEEL_ATOMIC_XOR};
    keel_status_t status;

    if (ep->rank != rkey->rank || (unsigned)opcode >= KEEL_UCP_ATOMIC_POST_OP_LAST) {
        return KEEL_UCS_ERR_INVALID_PARAM;
    }
    status = keel_atomic_nbx(rkey->win, ops[opcode], rkey->rank, remote_addr - rkey->base, op_size, value, 0, NULL,
                             NULL, NULL);
    return (status == KEEL_INPROGRESS) ? KEEL_UCS_OK : keel_ucs_status(status);
}

/**
 * ucp_atomic_fetch_nb(): keel_ucp_atomic_op_nbx() with @a result as reply buffer. CSWAP compares
 * with @a value and writes what @a result holds.
 * @return as for keel_ucp_put_nbx().
 */
static inline keel_ucs_status_ptr_t keel_ucp_atomic_fetch_nb(keel_ucp_ep_h ep, keel_ucp_atomic_fetch_op_t opcode,
                                                             uint64_t value, void *result, size_t op_size,
                                                             uint64_t remote_addr, keel_ucp_rkey_h rkey,
                                                             keel_ucp_send_callback_t cb)
{
    static const keel_ucp_atomic_op_t ops[] = {KEEL_UCP_ATOMIC_OP_ADD,   KEEL_UCP_ATOMIC_OP_SWAP,
                                               KEEL_UCP_ATOMIC_OP_CSWAP, KEEL_UCP_ATOMIC_OP_AND,
                                               KEEL_UCP_ATOMIC_OP_OR,    KEEL_UCP_ATOMIC_OP_XOR};
    const uint32_t u32 = (uint32_t)value;
    const uint16_t u16 = (uint16_t)value;
    const uint8_t u8 = (uint8_t)value;
    const void *word = (op_size == 4)   ? (const void *)&u32
                       : (op_size == 2) ? (const void *)&u16
                       : (op_size == 1) ? (const void *)&u8
                                        : (const void *)&value;
    keel_ucp_request_param_t param;

    if ((unsigned)opcode >= KEEL_UCP_ATOMIC_FETCH_OP_LAST) {
        return KEEL_UCS_STATUS_PTR(KEEL_UCS_ERR_INVALID_PARAM);
    }
    keel_ucp_old_param(&param, cb);
    param.op_attr_mask |= KEEL_UCP_OP_ATTR_FIELD_DATATYPE | KEEL_UCP_OP_ATTR_FIELD_REPLY_BUFFER;
    param.datatype = keel_ucp_dt_make_contig(op_size);
    param.reply_buffer = result;
    return keel_ucp_atomic_op_nbx(ep, ops[opcode], word, 1, remote_addr, rkey, &param);
}

/** ucp_ep_flush(): keel_flush(). */
static inline keel_ucs_status_t keel_ucp_ep_flush(keel_ucp_ep_h ep)
{
    return keel_ucs_status(keel_flush(ep->ctx, ep->rank));
}

/** ucp_worker_flush(): keel_flush_all(). */
static inline keel_ucs_status_t keel_ucp_worker_flush(keel_ucp_worker_h worker)
{
    return keel_ucs_status(keel_flush_all(worker));
}

/** ucp_ep_flush_nb(): keel_flush(). Blocks; no callback runs.
 *  @return NULL or an error. */
static inline keel_ucs_status_ptr_t keel_ucp_ep_flush_nb(keel_ucp_ep_h ep, unsigned flags, keel_ucp_send_callback_t cb)
{
    (void)flags;
    (void)cb;
    return KEEL_UCS_STATUS_PTR(keel_ucp_ep_flush(ep));
}

/** ucp_worker_flush_nb(): keel_flush_all(). Blocks; no callback runs.
 *  @return NULL or an error. */
static inline keel_ucs_status_ptr_t keel_ucp_worker_flush_nb(keel_ucp_worker_h worker, unsigned flags,
                                                             keel_ucp_send_callback_t cb)
{
    (void)flags;
    (void)cb;
    return KEEL_UCS_STATUS_PTR(keel_ucp_worker_flush(worker));
}

/** ucp_rkey_ptr(): keel_win_ptr() plus the offset. For another rank's part each later death is a
 *  rollback. */
static inline keel_ucs_status_t keel_ucp_rkey_ptr(keel_ucp_rkey_h rkey, uint64_t raddr, void **addr_p)
{
    void *base;
    const keel_status_t status = keel_win_ptr(rkey->win, rkey->rank, &base);

    if (status == KEEL_OK) {
        *addr_p = (char *)base + (raddr - rkey->base);
    }
    return keel_ucs_status(status);
}

/** ucp_request_release(): keel_ucp_request_free(). */
static inline void keel_ucp_request_release(void *request)
{
    keel_ucp_request_free(request);
}

#ifdef __cplusplus
}
#endif

#endif
#endif
