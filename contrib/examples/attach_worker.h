/* The runtime's own UCP worker in attach.c, beside Keel's: tagged messages to the right neighbour.
 * After a death of the neighbour the endpoint is made again. */
#ifndef ATTACH_WORKER_H_
#define ATTACH_WORKER_H_

#include "attach_board.h"

#include <string.h>
#include <ucp/api/ucp.h>

static ucp_context_h ucp;
static ucp_worker_h worker;
static ucp_ep_h ep;
static uint32_t ep_incarnation, ep_is_broken; /* of the neighbour of ep */
static unsigned long own_sent, own_received;

static void on_error(void *arg, ucp_ep_h broken, ucs_status_t status)
{
    (void)arg, (void)broken, (void)status;
    ep_is_broken = 1;
}

static void on_sent(void *request, ucs_status_t status, void *arg)
{
    (void)status, (void)arg;
    ucp_request_free(request);
}

static inline int own_open(board_t *board, uint32_t rank, uint32_t incarnation)
{
    ucp_params_t params;
    ucp_worker_params_t worker_params;
    ucp_config_t *config;
    ucp_address_t *address;
    size_t length;

    memset(&params, 0, sizeof(params));
    memset(&worker_params, 0, sizeof(worker_params));
    params.field_mask = UCP_PARAM_FIELD_FEATURES;
    params.features = UCP_FEATURE_TAG;
    if (ucp_config_read(NULL, NULL, &config) != UCS_OK || ucp_init(&params, config, &ucp) != UCS_OK ||
        ucp_worker_create(ucp, &worker_params, &worker) != UCS_OK ||
        ucp_worker_get_address(worker, &address, &length) != UCS_OK || length > GATHER_MAX) {
        return 0;
    }
    ucp_config_release(config);
    memcpy(board->worker[rank][incarnation].bytes, address, length);
    __atomic_store_n(&board->worker[rank][incarnation].length, (uint32_t)length, __ATOMIC_RELEASE);
    ucp_worker_release_address(worker, address);
    return 1;
}

static inline void own_drop(void)
{
    ucp_request_param_t force;
    ucs_status_ptr_t closing;

    memset(&force, 0, sizeof(force));
    force.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
    force.flags = UCP_EP_CLOSE_FLAG_FORCE;
    closing = ucp_ep_close_nbx(ep, &force);
    while (UCS_PTR_IS_PTR(closing) && ucp_request_check_status(closing) == UCS_INPROGRESS) {
        (void)ucp_worker_progress(worker);
    }
    if (UCS_PTR_IS_PTR(closing)) {
        ucp_request_free(closing);
    }
    ep = NULL;
}

/* After a death the neighbour has a new worker: drops the old endpoint and makes a new one. */
static inline void own_connect(board_t *board, uint32_t to, uint32_t to_incarnation)
{
    const board_address_t *address = &board->worker[to][to_incarnation];
    ucp_ep_params_t params;

    if (ep != NULL && (ep_is_broken || ep_incarnation != to_incarnation)) {
        own_drop();
    }
    if (ep != NULL || __atomic_load_n(&address->length, __ATOMIC_ACQUIRE) == 0) {
        return;
    }
    memset(&params, 0, sizeof(params));
    params.field_mask =
        UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE | UCP_EP_PARAM_FIELD_ERR_HANDLER;
    params.address = (const ucp_address_t *)address->bytes;
    params.err_mode = UCP_ERR_HANDLING_MODE_PEER;
    params.err_handler.cb = on_error;
    ep_is_broken = 0;
    ep_incarnation = to_incarnation;
    if (ucp_ep_create(worker, &params, &ep) != UCS_OK) {
        ep = NULL;
    }
}

static inline void own_send(void)
{
    static const char text[] = "from the left";
    ucp_request_param_t param;

    memset(&param, 0, sizeof(param));
    param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK;
    param.cb.send = on_sent;
    if (ep != NULL && !ep_is_broken) {
        (void)ucp_tag_send_nbx(ep, text, sizeof(text), 7, &param);
        own_sent++;
    }
}

/* keel_params_t.progress: Keel calls it whenever one of its calls waits. */
static inline void own_progress(void *arg)
{
    ucp_tag_recv_info_t info;
    ucp_tag_message_h message;

    (void)arg;
    (void)ucp_worker_progress(worker);
    while ((message = ucp_tag_probe_nb(worker, 7, UINT64_MAX, 1, &info)) != NULL) {
        static char buffer[64];
        ucp_request_param_t param;
        ucs_status_ptr_t request;

        memset(&param, 0, sizeof(param));
        request = ucp_tag_msg_recv_nbx(worker, buffer, sizeof(buffer), message, &param);
        while (UCS_PTR_IS_PTR(request) && ucp_request_check_status(request) == UCS_INPROGRESS) {
            (void)ucp_worker_progress(worker);
        }
        if (UCS_PTR_IS_PTR(request)) {
            ucp_request_free(request);
        }
        own_received++;
    }
}

static inline void own_close(void)
{
    if (ep != NULL) {
        own_drop();
    }
    ucp_worker_destroy(worker);
    ucp_cleanup(ucp);
}

#endif
