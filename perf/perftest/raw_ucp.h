/*
 * Raw UCX as a peer: a UCP context over one transport, memory allocated by UCP (so that its puts
 * are one-sided on shared memory), and an endpoint and a remote key for each target.
 */
#ifndef KEEL_PERF_RAW_UCP_H_
#define KEEL_PERF_RAW_UCP_H_

#include <ucp/api/ucp.h>

#define RAW_UCP_CARD   1024        /* bytes of a card, with which another rank writes here */
#define RAW_UCP_OPTION 64          /* largest name of an option */
#define RAW_UCP_TRY    "--try-ucx" /* the only argument of a process that tries an option */

typedef struct raw_target {
    ucp_ep_h ep;
    ucp_rkey_h rkey;
    uint64_t base;
} raw_target_t;

typedef struct raw_ucp {
    ucp_context_h context;
    ucp_worker_h worker;
    ucp_mem_h memory;
    void *base;
    raw_target_t *targets; /* by rank; without an endpoint if not connected */
    unsigned ranks;
    uint64_t accesses; /* puts, gets and atomics given to UCP */
} raw_ucp_t;

/*
 * Returns -1 after a message if UCX has no variable of the option's name. Call before the process
 * starts a thread or opens UCX: a child process tries the option, since UCX has no call that lists
 * the settings of its transports.
 */
int raw_ucp_option_check(const char *option);
/* main() of the child process, which ends here. */
void raw_ucp_try_environment(void);
/*
 * @a tls: as UCX_TLS; @a option: "NAME=VALUE" without UCX_, or empty. Returns 0, or -1 after a
 * message on stderr; raw_ucp_close() closes in either case.
 */
int raw_ucp_open(raw_ucp_t *raw, const char *tls, const char *option, size_t bytes, unsigned ranks);
/* Endpoints are closed first, while the targets make progress: closing over tcp needs them. */
void raw_ucp_disconnect(raw_ucp_t *raw);
void raw_ucp_close(raw_ucp_t *raw);
int raw_ucp_card(raw_ucp_t *raw, void *card);
int raw_ucp_connect(raw_ucp_t *raw, unsigned index, const void *card);
/* Waits until a request of UCP, or NULL, is complete. */
int raw_ucp_wait(raw_ucp_t *raw, ucs_status_ptr_t request);

static inline int raw_ucp_get(raw_ucp_t *raw, unsigned target, void *buffer, size_t length, uint64_t offset)
{
    static const ucp_request_param_t none = {0};
    const raw_target_t *t = &raw->targets[target];
    ucs_status_ptr_t request = ucp_get_nbx(t->ep, buffer, length, t->base + offset, t->rkey, &none);

    raw->accesses++;
    return (request == NULL) ? 0 : raw_ucp_wait(raw, request);
}

/* Issued, and completed by the next flush; frees requests at once. */
static inline int raw_ucp_started(ucs_status_ptr_t request)
{
    if (UCS_PTR_IS_PTR(request)) {
        ucp_request_free(request);
        return 0;
    }
    return (request == NULL) ? 0 : -1;
}

static inline int raw_ucp_put_nbx(raw_ucp_t *raw, unsigned target, const void *buffer, size_t length, uint64_t offset)
{
    static const ucp_request_param_t none = {0};
    const raw_target_t *t = &raw->targets[target];

    raw->accesses++;
    return raw_ucp_started(ucp_put_nbx(t->ep, buffer, length, t->base + offset, t->rkey, &none));
}

static inline int raw_ucp_get_nbx(raw_ucp_t *raw, unsigned target, void *buffer, size_t length, uint64_t offset)
{
    static const ucp_request_param_t none = {0};
    const raw_target_t *t = &raw->targets[target];

    raw->accesses++;
    return raw_ucp_started(ucp_get_nbx(t->ep, buffer, length, t->base + offset, t->rkey, &none));
}

/* Posted: without a result. */
static inline int raw_ucp_add_nbx(raw_ucp_t *raw, unsigned target, const void *operand, size_t size, uint64_t offset)
{
    const ucp_request_param_t params = {.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE,
                                        .datatype = ucp_dt_make_contig(size)};
    const raw_target_t *t = &raw->targets[target];

    raw->accesses++;
    return raw_ucp_started(ucp_atomic_op_nbx(t->ep, UCP_ATOMIC_OP_ADD, operand, 1, t->base + offset, t->rkey, &params));
}

/*
 * Blocking. CSWAP: @a operand is the expected value, @a result the new value, replaced by the old
 * value.
 */
static inline int raw_ucp_fetch(raw_ucp_t *raw, unsigned target, ucp_atomic_op_t op, const void *operand, void *result,
                                size_t size, uint64_t offset)
{
    const ucp_request_param_t params = {.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE | UCP_OP_ATTR_FIELD_REPLY_BUFFER,
                                        .datatype = ucp_dt_make_contig(size),
                                        .reply_buffer = result};
    const raw_target_t *t = &raw->targets[target];
    ucs_status_ptr_t request = ucp_atomic_op_nbx(t->ep, op, operand, 1, t->base + offset, t->rkey, &params);

    raw->accesses++;
    return (request == NULL) ? 0 : raw_ucp_wait(raw, request);
}

static inline int raw_ucp_flush(raw_ucp_t *raw, unsigned target)
{
    static const ucp_request_param_t none = {0};

    return raw_ucp_wait(raw, ucp_ep_flush_nbx(raw->targets[target].ep, &none));
}

static inline int raw_ucp_flush_all(raw_ucp_t *raw)
{
    static const ucp_request_param_t none = {0};

    return raw_ucp_wait(raw, ucp_worker_flush_nbx(raw->worker, &none));
}

#endif
