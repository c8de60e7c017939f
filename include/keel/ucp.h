/*
 * UCP's calls on Keel's windows: puts, gets, atomics, flushes and requests of a program written for
 * UCP, ported by search and replace. A name of UCP has the prefix keel_ here. A file that defines
 * KEEL_UCP_NAMES first keeps UCP's own names, and must not include headers of UCP.
 *
 * Objects. A worker is a context of Keel. An endpoint is a rank of a context and outlives the
 * process of the rank. A remote key is a rank's part of a window. The program creates endpoints and
 * keys by keel_ucp_ep_create() and keel_ucp_rkey_create(), in each process, replacements too. A
 * window that is gone after a rollback takes its keys with it: the program creates them anew with
 * the window.
 * Setup, bootstrap, tags, streams and active messages of UCP have no counterpart and do not
 * compile. The same holds for the fields and flags of ucp_request_param_t that are not declared
 * here.
 *
 * Differs from UCP. Flushes block and return NULL or an error. An atomic may also have a word of 1
 * or 2 bytes, and SWAP no reply buffer. Own memory: loads in a loop have no order that a
 * replacement could repeat; use keel_wait_until().
 * Death: as for the call of Keel that each call stands for. KEEL_UCS_ERR_CANCELED means
 * KEEL_ERR_ROLLED_BACK: call keel_restore(). With KEEL_RESTART_POINT() no call returns this
 * status.
 */
#ifndef KEEL_UCP_H_
#define KEEL_UCP_H_

#include <keel/keel.h>

#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Values of ucs_status_t, with the same numbers, as far as calls here return them. A status that
 *  UCS lacks is the nearest one. Texts: keel_ucs_status_string(). */
typedef enum keel_ucs_status {
    KEEL_UCS_OK = 0,                     /**< KEEL_OK */
    KEEL_UCS_INPROGRESS = 1,             /**< KEEL_INPROGRESS */
    KEEL_UCS_ERR_NO_RESOURCE = -2,       /**< KEEL_ERR_BUDGET, KEEL_ERR_GROUPS */
    KEEL_UCS_ERR_IO_ERROR = -3,          /**< KEEL_ERR_TRANSPORT, KEEL_ERR_RUNTIME, KEEL_ERR_IO */
    KEEL_UCS_ERR_NO_MEMORY = -4,         /**< KEEL_ERR_NO_MEMORY */
    KEEL_UCS_ERR_INVALID_PARAM = -5,     /**< KEEL_ERR_INVALID_PARAM, KEEL_ERR_ALIGNMENT */
    KEEL_UCS_ERR_UNREACHABLE = -6,       /**< KEEL_ERR_UNREACHABLE */
    KEEL_UCS_ERR_INVALID_ADDR = -7,      /**< KEEL_ERR_RANK */
    KEEL_UCS_ERR_MESSAGE_TRUNCATED = -9, /**< KEEL_ERR_CORRUPT */
    KEEL_UCS_ERR_CANCELED = -16,         /**< KEEL_ERR_ROLLED_BACK */
    KEEL_UCS_ERR_OUT_OF_RANGE = -19,     /**< KEEL_ERR_RANGE */
    KEEL_UCS_ERR_EXCEEDS_LIMIT = -21,    /**< KEEL_ERR_LIMIT */
    KEEL_UCS_ERR_UNSUPPORTED = -22,      /**< KEEL_ERR_UNSUPPORTED */
    KEEL_UCS_ERR_REJECTED = -23,         /**< KEEL_ERR_STATE, KEEL_ERR_CHECKSUM */
    KEEL_UCS_ERR_NOT_CONNECTED = -24,    /**< KEEL_ERR_ISOLATED */
    KEEL_UCS_ERR_CONNECTION_RESET = -25, /**< KEEL_ERR_CATASTROPHIC, KEEL_ERR_LOST */
    KEEL_UCS_ERR_LAST = -100
} keel_ucs_status_t;

/** NULL: complete. An error: KEEL_UCS_PTR_IS_ERR(). Otherwise a request. */
typedef void *keel_ucs_status_ptr_t;

#define KEEL_UCS_PTR_IS_ERR(_ptr)       ((uintptr_t)(_ptr) >= (uintptr_t)KEEL_UCS_ERR_LAST)
#define KEEL_UCS_PTR_IS_PTR(_ptr)       ((uintptr_t)(_ptr)-1 < (uintptr_t)KEEL_UCS_ERR_LAST - 1)
#define KEEL_UCS_PTR_RAW_STATUS(_ptr)   ((keel_ucs_status_t)(intptr_t)(_ptr))
#define KEEL_UCS_PTR_STATUS(_ptr)       (KEEL_UCS_PTR_IS_PTR(_ptr) ? KEEL_UCS_INPROGRESS : KEEL_UCS_PTR_RAW_STATUS(_ptr))
#define KEEL_UCS_STATUS_PTR(_status)    ((void *)(intptr_t)(_status))
#define KEEL_UCS_STATUS_IS_ERR(_status) ((_status) < 0)

typedef keel_context_h keel_ucp_worker_h;      /**< one context */
typedef struct keel_ucp_ep *keel_ucp_ep_h;     /**< a rank of a context */
typedef struct keel_ucp_rkey *keel_ucp_rkey_h; /**< a rank's part of a window */
typedef uint64_t keel_ucp_datatype_t;

/* An element of _bytes bytes. */
#define keel_ucp_dt_make_contig(_bytes) ((keel_ucp_datatype_t)(_bytes) << 3)

/** Completion callback of an access that returned a request; runs in a later call. Conditions and
 *  deaths: keel_rma_params_t.cb. */
typedef void (*keel_ucp_send_nbx_callback_t)(void *request, keel_ucs_status_t status, void *user_data);

typedef enum keel_ucp_op_attr {
    KEEL_UCP_OP_ATTR_FIELD_CALLBACK = 1 << 1,
    KEEL_UCP_OP_ATTR_FIELD_USER_DATA = 1 << 2,
    KEEL_UCP_OP_ATTR_FIELD_DATATYPE = 1 << 3,
    KEEL_UCP_OP_ATTR_FIELD_REPLY_BUFFER = 1 << 5,
    KEEL_UCP_OP_ATTR_FLAG_FAST_CMPL = 1 << 17, /**< a hint; ignored */
    KEEL_UCP_OP_ATTR_FLAG_MULTI_SEND = 1 << 19 /**< a hint; ignored */
} keel_ucp_op_attr_t;

/** Parameters of an access. */
typedef struct keel_ucp_request_param {
    uint32_t op_attr_mask; /**< bits of keel_ucp_op_attr_t: the valid fields below */
    union {
        keel_ucp_send_nbx_callback_t send;
    } cb;                         /**< completion callback */
    keel_ucp_datatype_t datatype; /**< keel_ucp_dt_make_contig(bytes); default: 1 byte */
    void *user_data;              /**< argument of cb */
    void *reply_buffer;           /**< of a fetching atomic: one element */
} keel_ucp_request_param_t;

typedef enum keel_ucp_atomic_op {
    KEEL_UCP_ATOMIC_OP_ADD,
    KEEL_UCP_ATOMIC_OP_SWAP,
    KEEL_UCP_ATOMIC_OP_CSWAP,
    KEEL_UCP_ATOMIC_OP_AND,
    KEEL_UCP_ATOMIC_OP_OR,
    KEEL_UCP_ATOMIC_OP_XOR,
    KEEL_UCP_ATOMIC_OP_LAST
} keel_ucp_atomic_op_t;

struct keel_ucp_ep {
    keel_context_h ctx;
    uint32_t rank;
};

struct keel_ucp_rkey {
    keel_win_h win;
    uint32_t rank;
    uint64_t base; /* remote address of the part's first byte */
};

/* An access with a callback. uses: the issuing call and the callback; the last one frees. */
struct keel_ucp_pending {
    keel_ucp_send_nbx_callback_t send;
    void *user_data;
    keel_req_h req;
    int uses;
};

/** Converts a status of Keel. */
static inline keel_ucs_status_t keel_ucs_status(keel_status_t status)
{
    switch (status) {
    case KEEL_OK:
        return KEEL_UCS_OK;
    case KEEL_INPROGRESS:
        return KEEL_UCS_INPROGRESS;
    case KEEL_ERR_BUDGET:
    case KEEL_ERR_GROUPS:
        return KEEL_UCS_ERR_NO_RESOURCE;
    case KEEL_ERR_NO_MEMORY:
        return KEEL_UCS_ERR_NO_MEMORY;
    case KEEL_ERR_INVALID_PARAM:
    case KEEL_ERR_ALIGNMENT:
        return KEEL_UCS_ERR_INVALID_PARAM;
    case KEEL_ERR_UNREACHABLE:
        return KEEL_UCS_ERR_UNREACHABLE;
    case KEEL_ERR_RANK:
        return KEEL_UCS_ERR_INVALID_ADDR;
    case KEEL_ERR_CORRUPT:
        return KEEL_UCS_ERR_MESSAGE_TRUNCATED;
    case KEEL_ERR_ROLLED_BACK:
        return KEEL_UCS_ERR_CANCELED;
    case KEEL_ERR_RANGE:
        return KEEL_UCS_ERR_OUT_OF_RANGE;
    case KEEL_ERR_LIMIT:
        return KEEL_UCS_ERR_EXCEEDS_LIMIT;
    case KEEL_ERR_UNSUPPORTED:
        return KEEL_UCS_ERR_UNSUPPORTED;
    case KEEL_ERR_STATE:
    case KEEL_ERR_CHECKSUM:
        return KEEL_UCS_ERR_REJECTED;
    case KEEL_ERR_ISOLATED:
        return KEEL_UCS_ERR_NOT_CONNECTED;
    case KEEL_ERR_CATASTROPHIC:
    case KEEL_ERR_LOST:
        return KEEL_UCS_ERR_CONNECTION_RESET;
    case KEEL_ERR_TRANSPORT:
    case KEEL_ERR_RUNTIME:
    case KEEL_ERR_IO:
    case KEEL_ERR_LAST:
        break;
    }
    return KEEL_UCS_ERR_IO_ERROR;
}

/** The text of keel_status_string() for the first status of Keel that converts to @a status. */
static inline const char *keel_ucs_status_string(keel_ucs_status_t status)
{
    int s = KEEL_INPROGRESS;

    while (s > KEEL_ERR_LAST && keel_ucs_status((keel_status_t)s) != status) {
        s--;
    }
    return keel_status_string((keel_status_t)s);
}

/**
 * Creates an endpoint of @a rank. Local, in any phase.
 * @param [in]  worker  the context.
 * @param [out] ep_p    freed by keel_ucp_ep_close_nbx() or keel_ucp_ep_destroy().
 * @return KEEL_UCS_OK, KEEL_UCS_ERR_INVALID_ADDR: no such rank; KEEL_UCS_ERR_NO_MEMORY.
 */
static inline keel_ucs_status_t keel_ucp_ep_create(keel_ucp_worker_h worker, uint32_t rank, keel_ucp_ep_h *ep_p)
{
    keel_ucp_ep_h ep;

    if (rank >= keel_size(worker)) {
        return KEEL_UCS_ERR_INVALID_ADDR;
    }
    ep = (keel_ucp_ep_h)malloc(sizeof(*ep));
    if (ep == NULL) {
        return KEEL_UCS_ERR_NO_MEMORY;
    }
    ep->ctx = worker;
    ep->rank = rank;
    *ep_p = ep;
    return KEEL_UCS_OK;
}

/**
 * Creates the remote key of @a rank's part of a window. Local, in any phase.
 *
 * Addresses: a remote address is @a base plus the offset in the part. Let @a base be the address
 * that the program computes with: keel_win_base() of @a rank if ranks exchange their addresses,
 * the caller's own keel_win_base() if remote addresses are local ones (a symmetric heap), or 0 if
 * they are offsets. A program that exchanges addresses keeps them in protected memory: in a
 * replacement with keel_win_create() the window may be elsewhere, while @a base and the addresses
 * of other ranks stay as they were.
 * @param [out] rkey_p  freed by keel_ucp_rkey_destroy(); not used after its window is freed.
 * @return KEEL_UCS_OK, KEEL_UCS_ERR_NO_MEMORY.
 */
static inline keel_ucs_status_t keel_ucp_rkey_create(keel_win_h win, uint32_t rank, uint64_t base,
                                                     keel_ucp_rkey_h *rkey_p)
{
    keel_ucp_rkey_h rkey = (keel_ucp_rkey_h)malloc(sizeof(*rkey));

    if (rkey == NULL) {
        return KEEL_UCS_ERR_NO_MEMORY;
    }
    rkey->win = win;
    rkey->rank = rank;
    rkey->base = base;
    *rkey_p = rkey;
    return KEEL_UCS_OK;
}

/** Frees a remote key. */
static inline void keel_ucp_rkey_destroy(keel_ucp_rkey_h rkey)
{
    free(rkey);
}

static inline void keel_ucp_pending_drop(struct keel_ucp_pending *pending)
{
    if (pending != NULL && __atomic_sub_fetch(&pending->uses, 1, __ATOMIC_ACQ_REL) == 0) {
        free(pending);
    }
}

static inline void keel_ucp_on_completion(void *user, keel_status_t status)
{
    struct keel_ucp_pending *pending = (struct keel_ucp_pending *)user;

    pending->send(pending->req, keel_ucs_status(status), pending->user_data);
    keel_ucp_pending_drop(pending);
}

/* Checks the arguments of an access. With a callback, sets *pending_p and @a rma. */
static inline keel_status_t keel_ucp_begin(keel_ucp_ep_h ep, keel_ucp_rkey_h rkey,
                                           const keel_ucp_request_param_t *param, keel_rma_params_t *rma,
                                           struct keel_ucp_pending **pending_p)
{
    const uint32_t known = KEEL_UCP_OP_ATTR_FIELD_CALLBACK | KEEL_UCP_OP_ATTR_FIELD_USER_DATA |
                           KEEL_UCP_OP_ATTR_FIELD_DATATYPE | KEEL_UCP_OP_ATTR_FIELD_REPLY_BUFFER |
                           KEEL_UCP_OP_ATTR_FLAG_FAST_CMPL | KEEL_UCP_OP_ATTR_FLAG_MULTI_SEND;
    struct keel_ucp_pending *pending;

    *pending_p = NULL;
    rma->field_mask = 0;
    if (ep->rank != rkey->rank || (param->op_attr_mask & ~known) != 0 ||
        ((param->op_attr_mask & KEEL_UCP_OP_ATTR_FIELD_DATATYPE) && (param->datatype & 7) != 0)) {
        return KEEL_ERR_INVALID_PARAM;
    }
    if (!(param->op_attr_mask & KEEL_UCP_OP_ATTR_FIELD_CALLBACK)) {
        return KEEL_OK;
    }
    pending = (struct keel_ucp_pending *)malloc(sizeof(*pending));
    if (pending == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    pending->send = param->cb.send;
    pending->user_data = (param->op_attr_mask & KEEL_UCP_OP_ATTR_FIELD_USER_DATA) ? param->user_data : NULL;
    pending->req = NULL;
    pending->uses = 2;
    rma->field_mask = KEEL_RMA_PARAM_FIELD_CB;
    rma->cb = keel_ucp_on_completion;
    rma->user = pending;
    *pending_p = pending;
    return KEEL_OK;
}

/* The result of an access that returned @a status and, in @a req or *pending, its request. */
static inline keel_ucs_status_ptr_t keel_ucp_end(keel_status_t status, keel_req_h req, struct keel_ucp_pending *pending)
{
    keel_ucs_status_ptr_t result = KEEL_UCS_STATUS_PTR(keel_ucs_status(status));

    if (status == KEEL_INPROGRESS) {
        result = (pending != NULL) ? pending->req : req;
    } else {
        keel_ucp_pending_drop(pending); /* the callback will not run */
    }
    keel_ucp_pending_drop(pending);
    return result;
}

/* Bytes of @a count elements. More than a size_t holds: SIZE_MAX, which leaves every window. */
static inline size_t keel_ucp_bytes(const keel_ucp_request_param_t *param, size_t count)
{
    const size_t element = (param->op_attr_mask & KEEL_UCP_OP_ATTR_FIELD_DATATYPE) ? (size_t)(param->datatype >> 3) : 1;

    return (element != 0 && count > SIZE_MAX / element) ? SIZE_MAX : count * element;
}

/**
 * ucp_put_nbx(): keel_put_nbx() of @a count elements.
 * @param [in] remote_addr  base of the remote key plus the offset.
 * @return NULL, an error or a request; free the request with keel_ucp_request_free().
 */
static inline keel_ucs_status_ptr_t keel_ucp_put_nbx(keel_ucp_ep_h ep, const void *buffer, size_t count,
                                                     uint64_t remote_addr, keel_ucp_rkey_h rkey,
                                                     const keel_ucp_request_param_t *param)
{
    struct keel_ucp_pending *pending;
    keel_rma_params_t rma;
    keel_req_h req = NULL;
    keel_status_t status = keel_ucp_begin(ep, rkey, param, &rma, &pending);

    if (status == KEEL_OK) {
        status = keel_put_nbx(rkey->win, rkey->rank, remote_addr - rkey->base, buffer, keel_ucp_bytes(param, count),
                              &rma, (pending != NULL) ? &pending->req : &req);
    }
    return keel_ucp_end(status, req, pending);
}

/** ucp_get_nbx(): keel_get_nbx(). Parameters and result as for keel_ucp_put_nbx(). */
static inline keel_ucs_status_ptr_t keel_ucp_get_nbx(keel_ucp_ep_h ep, void *buffer, size_t count, uint64_t remote_addr,
                                                     keel_ucp_rkey_h rkey, const keel_ucp_request_param_t *param)
{
    struct keel_ucp_pending *pending;
    keel_rma_params_t rma;
    keel_req_h req = NULL;
    keel_status_t status = keel_ucp_begin(ep, rkey, param, &rma, &pending);

    if (status == KEEL_OK) {
        status = keel_get_nbx(rkey->win, rkey->rank, remote_addr - rkey->base, buffer, keel_ucp_bytes(param, count),
                              &rma, (pending != NULL) ? &pending->req : &req);
    }
    return keel_ucp_end(status, req, pending);
}

/** ucp_put_nbi(): as keel_ucp_put_nbx(), without a request; a flush completes the put.
 *  @return as for keel_ucp_put_nbx(), with KEEL_UCS_INPROGRESS for a request. */
static inline keel_ucs_status_t keel_ucp_put_nbi(keel_ucp_ep_h ep, const void *buffer, size_t length,
                                                 uint64_t remote_addr, keel_ucp_rkey_h rkey)
{
    return (ep->rank != rkey->rank) ? KEEL_UCS_ERR_INVALID_PARAM
                                    : keel_ucs_status(keel_put_nbx(rkey->win, rkey->rank, remote_addr - rkey->base,
                                                                   buffer, length, NULL, NULL));
}

/** ucp_get_nbi(): as keel_ucp_get_nbx(), without a request; a flush completes the get. */
static inline keel_ucs_status_t keel_ucp_get_nbi(keel_ucp_ep_h ep, void *buffer, size_t length, uint64_t remote_addr,
                                                 keel_ucp_rkey_h rkey)
{
    return (ep->rank != rkey->rank) ? KEEL_UCS_ERR_INVALID_PARAM
                                    : keel_ucs_status(keel_get_nbx(rkey->win, rkey->rank, remote_addr - rkey->base,
                                                                   buffer, length, NULL, NULL));
}

/* An operand of @a size bytes; 0 for a size that keel_atomic_nbx() will refuse. */
static inline uint64_t keel_ucp_word(const void *word, size_t size)
{
    uint8_t u8;
    uint16_t u16;
    uint32_t u32;
    uint64_t u64 = 0;

    switch (size) {
    case 1:
        memcpy(&u8, word, size);
        return u8;
    case 2:
        memcpy(&u16, word, size);
        return u16;
    case 4:
        memcpy(&u32, word, size);
        return u32;
    case 8:
        memcpy(&u64, word, size);
        return u64;
    default:
        return 0;
    }
}

/**
 * ucp_atomic_op_nbx(): keel_atomic_nbx() of one word. With a reply buffer the old value is
 * fetched. CSWAP compares with @a buffer and writes what the reply buffer holds.
 * @param [in] count        number of words: 1.
 * @param [in] remote_addr  of a word, aligned to its size.
 * @param [in] param        datatype: an element of 1, 2, 4 or 8 bytes.
 * @return as for keel_ucp_put_nbx().
 */
static inline keel_ucs_status_ptr_t keel_ucp_atomic_op_nbx(keel_ucp_ep_h ep, keel_ucp_atomic_op_t opcode,
                                                           const void *buffer, size_t count, uint64_t remote_addr,
                                                           keel_ucp_rkey_h rkey, const keel_ucp_request_param_t *param)
{
    static const keel_atomic_op_t ops[] = {KEEL_ATOMIC_ADD, KEEL_ATOMIC_SWAP, KEEL_ATOMIC_CSWAP,
                                           KEEL_ATOMIC_AND, KEEL_ATOMIC_OR,   KEEL_ATOMIC_XOR};
    const size_t size = keel_ucp_bytes(param, 1);
    const int is_cswap = opcode == KEEL_UCP_ATOMIC_OP_CSWAP;
    void *reply = (param->op_attr_mask & KEEL_UCP_OP_ATTR_FIELD_REPLY_BUFFER) ? param->reply_buffer : NULL;
    struct keel_ucp_pending *pending;
    keel_rma_params_t rma;
    keel_req_h req = NULL;
    keel_status_t status;
    uint64_t operand;

    if (count != 1 || (unsigned)opcode >= KEEL_UCP_ATOMIC_OP_LAST || (is_cswap && reply == NULL)) {
        return KEEL_UCS_STATUS_PTR(KEEL_UCS_ERR_INVALID_PARAM);
    }
    status = keel_ucp_begin(ep, rkey, param, &rma, &pending);
    if (status == KEEL_OK) {
        operand = keel_ucp_word(is_cswap ? reply : buffer, size);
        status = keel_atomic_nbx(rkey->win, ops[opcode], rkey->rank, remote_addr - rkey->base, size, operand,
                                 is_cswap ? keel_ucp_word(buffer, size) : 0, reply, &rma,
                                 (pending != NULL) ? &pending->req : &req);
    }
    return keel_ucp_end(status, req, pending);
}

/** ucp_ep_flush_nbx(): keel_flush(). Blocks. No callback runs for the flush.
 *  @return NULL or an error. */
static inline keel_ucs_status_ptr_t keel_ucp_ep_flush_nbx(keel_ucp_ep_h ep, const keel_ucp_request_param_t *param)
{
    (void)param;
    return KEEL_UCS_STATUS_PTR(keel_ucs_status(keel_flush(ep->ctx, ep->rank)));
}

/** ucp_worker_flush_nbx(): keel_flush_all(). Blocks. No callback runs for the flush.
 *  @return NULL or an error. */
static inline keel_ucs_status_ptr_t keel_ucp_worker_flush_nbx(keel_ucp_worker_h worker,
                                                              const keel_ucp_request_param_t *param)
{
    (void)param;
    return KEEL_UCS_STATUS_PTR(keel_ucs_status(keel_flush_all(worker)));
}

/** ucp_worker_fence(): keel_fence(). */
static inline keel_ucs_status_t keel_ucp_worker_fence(keel_ucp_worker_h worker)
{
    return keel_ucs_status(keel_fence(worker));
}

/** ucp_ep_destroy(): frees an endpoint. Local; also after keel_finalize(). */
static inline void keel_ucp_ep_destroy(keel_ucp_ep_h ep)
{
    free(ep);
}

/** ucp_ep_close_nbx(): keel_flush(), then frees the endpoint, after an error too. Blocks.
 *  @return NULL or an error. */
static inline keel_ucs_status_ptr_t keel_ucp_ep_close_nbx(keel_ucp_ep_h ep, const keel_ucp_request_param_t *param)
{
    const keel_ucs_status_ptr_t result = keel_ucp_ep_flush_nbx(ep, param);

    keel_ucp_ep_destroy(ep);
    return result;
}

/** ucp_request_check_status(): keel_req_test(). */
static inline keel_ucs_status_t keel_ucp_request_check_status(void *request)
{
    return keel_ucs_status(keel_req_test((keel_req_h)request));
}

/** ucp_request_free(): keel_req_free(). */
static inline void keel_ucp_request_free(void *request)
{
    keel_req_free((keel_req_h)request);
}

/** ucp_worker_progress(): keel_progress(). An error appears in the status of the next call.
 *  @return 0, so that a loop until nothing is left to do ends. */
static inline unsigned keel_ucp_worker_progress(keel_ucp_worker_h worker)
{
    (void)keel_progress(worker);
    return 0;
}

#ifdef __cplusplus
}
#endif

#include <keel/ucp_old.h>

#ifdef KEEL_UCP_NAMES
#ifdef UCP_H_
#error "KEEL_UCP_NAMES: leave out <ucp/api/ucp.h>, so that calls without a counterpart do not compile"
#endif
#include <keel/ucp_names.h>
#endif
#endif
