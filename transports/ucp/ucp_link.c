/* Links: queues of eager active messages that survive the death of their receiver. */
#include "ucp_link.h"

#include "base/memory.h"
#include "shm/shm_sleeper.h"

#include <sched.h>
#include <string.h>
#include <time.h>

enum {
    WINDOW = 16,             /* maximum number of sends of a link inside UCP */
    CALLBACK_WAIT_MS = 1000, /* wait for the error callback of a peer reported dead */
    CALLBACK_DRAIN_MS = 250, /* the same, while a caller waits */
    /* wait for sends to complete after their endpoint is closed: a bound, never needed */
    CLOSED_DRAIN_MS = 5000
};

static void make_busy(keel_ucp_link_t *link)
{
    if (!(link->flags & KEEL_UCP_LINK_BUSY)) {
        link->flags |= KEEL_UCP_LINK_BUSY;
        ucs_list_add_tail(&link->port->busy, &link->busy);
    }
}

void keel_ucp_link_break(keel_ucp_link_t *link)
{
    link->flags |= KEEL_UCP_LINK_BROKEN;
    make_busy(link);
}

static void on_error(void *arg, ucp_ep_h ep, ucs_status_t status)
{
    keel_ucp_link_break(arg);
}

static void on_sent(void *request, ucs_status_t status, void *user_data)
{
    keel_service_message_t *message = user_data;

    ((keel_ucp_link_t *)message->to)->under_way--;
    keel_service_message_put(message);
    ucp_request_free(request);
}

/* A failure here is followed by the endpoint's error callback; the link counts as broken from
 * now on. */
static void issue(keel_ucp_link_t *link, keel_service_message_t *message)
{
    const ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA |
                                                       UCP_OP_ATTR_FIELD_FLAGS,
                                       .flags = UCP_AM_SEND_FLAG_EAGER,
                                       .cb.send = on_sent,
                                       .user_data = message};
    ucs_status_ptr_t request;

    keel_service_seal_close(&link->out, &message->wire, NULL, 0);
    link->under_way++;
    request = ucp_am_send_nbx(link->ep, KEEL_AM_ID, &message->wire, sizeof(message->wire) + message->wire.header_len,
                              message->data, message->data_len, &param);
    if (UCS_PTR_IS_PTR(request)) {
        return;
    }
    link->under_way--;
    keel_service_message_put(message);
    if (UCS_PTR_IS_ERR(request)) {
        keel_ucp_link_break(link);
    }
}

static void on_greeted(void *request, ucs_status_t status, void *user_data)
{
    keel_ucp_link_t *link = user_data;

    link->under_way--;
    ucp_request_free(request);
}

static ucs_status_ptr_t send_greeting(keel_ucp_link_t *link, enum keel_service_wire_kind kind, unsigned attributes)
{
    const ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS | UCP_OP_ATTR_FIELD_CALLBACK |
                                                       UCP_OP_ATTR_FIELD_USER_DATA | attributes,
                                       .flags = UCP_AM_SEND_FLAG_EAGER,
                                       .cb.send = on_greeted,
                                       .user_data = link};
    const int has_data = (kind == (enum keel_service_wire_kind)link->greeting);

    link->wire = link->port->wire;
    link->wire.kind = (uint8_t)kind;
    keel_service_seal_close(&link->out, &link->wire, link->greeting_data, has_data ? link->greeting_len : 0);
    return ucp_am_send_nbx(link->ep, KEEL_AM_ID, &link->wire, sizeof(link->wire), link->greeting_data,
                           has_data ? link->greeting_len : 0, &param);
}

/*
 * A greeting leaves at once or stays here: UCP queues nothing and starts no handshake. Two
 * greetings are exceptions. PING makes UCP complete the handshake first. A HELLO longer than the
 * immediate size of the transport (over InfiniBand) is sent normally if a message without data has
 * just left: the connection is up then, and with such a transport the handshake is part of
 * connecting.
 */
static void greet(keel_ucp_link_t *link)
{
    const int is_ping = (link->greeting == KEEL_SERVICE_WIRE_PING);
    ucs_status_ptr_t request;

    request =
        send_greeting(link, link->greeting, is_ping ? UCP_OP_ATTR_FLAG_NO_IMM_CMPL : UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL);
    if ((UCS_PTR_STATUS(request) == UCS_ERR_NO_RESOURCE) && (link->greeting_len > 0)) {
        request = send_greeting(link, KEEL_SERVICE_WIRE_FILLER, UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL);
        if (request == NULL) {
            request = send_greeting(link, link->greeting, 0);
        }
    }
    if (UCS_PTR_STATUS(request) == UCS_ERR_NO_RESOURCE) {
        return; /* not connected yet */
    }
    link->greeting = 0;
    if (UCS_PTR_IS_PTR(request)) {
        link->under_way++;
    } else if (UCS_PTR_IS_ERR(request)) {
        link->flags |= KEEL_UCP_LINK_BROKEN;
    }
}

static void pump(keel_ucp_link_t *link)
{
    while (!ucs_list_is_empty(&link->queue) && (link->under_way < WINDOW) && !(link->flags & KEEL_UCP_LINK_BROKEN)) {
        issue(link, ucs_list_extract_head(&link->queue, keel_service_message_t, link));
    }
}

void keel_ucp_link_purge(keel_ucp_link_t *link)
{
    while (!ucs_list_is_empty(&link->queue)) {
        keel_service_message_put(ucs_list_extract_head(&link->queue, keel_service_message_t, link));
    }
}

void keel_ucp_link_close(keel_ucp_link_t *link)
{
    const ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS, .flags = UCP_EP_CLOSE_FLAG_FORCE};
    ucs_status_ptr_t request;

    link->flags |= KEEL_UCP_LINK_CLOSED;
    if (link->ep == NULL) {
        return;
    }
    request = ucp_ep_close_nbx(link->ep, &param);
    if (UCS_PTR_IS_PTR(request)) {
        ucp_request_free(request);
    }
}

void keel_ucp_link_free(keel_ucp_link_t *link)
{
    if (link->flags & KEEL_UCP_LINK_BUSY) {
        ucs_list_del(&link->busy);
    }
    ucs_list_del(&link->link);
    keel_free(link);
}

int keel_ucp_link_advance(keel_ucp_link_t *link, uint64_t now_ns)
{
    keel_ucp_port_t *port = link->port;

    if ((link->flags & KEEL_UCP_LINK_BROKEN) && !(link->flags & KEEL_UCP_LINK_CLOSED)) {
        keel_ucp_link_purge(link);
        keel_ucp_link_close(link);
        if (!(link->flags & KEEL_UCP_LINK_RETIRED)) {
            port->on_broken(port->arg, link);
        }
    }
    if (!(link->flags & (KEEL_UCP_LINK_RETIRED | KEEL_UCP_LINK_CLOSED))) {
        if (link->greeting != 0) {
            greet(link);
        }
        if (link->flags & KEEL_UCP_LINK_OPEN) {
            pump(link);
        }
        return (link->flags & KEEL_UCP_LINK_BROKEN) || (link->greeting != 0) ||
               ((link->flags & KEEL_UCP_LINK_OPEN) && !ucs_list_is_empty(&link->queue));
    }
    if (!(link->flags & KEEL_UCP_LINK_RETIRED)) {
        return 0;
    }
    if (!(link->flags & KEEL_UCP_LINK_CLOSED) && (now_ns >= link->deadline_ns)) {
        keel_ucp_link_close(link);
    }
    return 1;
}

static void make_seals(keel_ucp_link_t *link)
{
    const keel_ucp_port_t *port = link->port;
    const keel_service_end_t own = {.instance = port->wire.instance, .rank = port->wire.rank};
    const keel_service_end_t other = {.instance = link->instance, .rank = link->peer};
    const keel_service_lane_t back =
        (port->lane == KEEL_SERVICE_REQUESTS) ? KEEL_SERVICE_REPLIES : KEEL_SERVICE_REQUESTS;

    keel_service_seal_init(&link->out, port->auth, port->lane, &own, &other);
    keel_service_seal_init(&link->in, port->auth, back, &other, &own);
}

keel_status_t keel_ucp_link_make(keel_ucp_port_t *port, uint32_t peer, uint64_t instance, const void *address,
                                 keel_ucp_link_t **link_p)
{
    ucp_ep_params_t params = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                                            UCP_EP_PARAM_FIELD_ERR_HANDLER,
                              .address = address,
                              .err_mode = UCP_ERR_HANDLING_MODE_PEER,
                              .err_handler.cb = on_error};
    keel_ucp_link_t *link;

    link = keel_alloc(sizeof(*link), "link");
    if (link == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    params.err_handler.arg = link;
    link->port = port;
    link->peer = peer;
    link->instance = instance;
    make_seals(link);
    ucs_list_head_init(&link->queue);
    ucs_list_add_tail(&port->links, &link->link);
    link->made = ucp_ep_create(port->worker, &params, &link->ep);
    if (link->made != UCS_OK) {
        link->flags = KEEL_UCP_LINK_BROKEN;
        link->ep = NULL;
        make_busy(link);
    }
    *link_p = link;
    return KEEL_OK;
}

static void compose(keel_service_message_t *message, keel_ucp_link_t *link, enum keel_service_wire_kind kind,
                    const void *header, size_t header_len, const void *data, size_t data_len)
{
    message->to = link;
    message->wire = link->port->wire;
    message->wire.kind = (uint8_t)kind;
    message->wire.header_len = (uint16_t)header_len;
    message->data = data;
    message->data_len = data_len;
    if (header_len > 0) {
        memcpy(message->header, header, header_len);
    }
}

void keel_ucp_link_greet(keel_ucp_link_t *link, enum keel_service_wire_kind kind, const void *data, size_t data_len)
{
    link->greeting = kind;
    link->greeting_data = data;
    link->greeting_len = data_len;
    make_busy(link);
}

void keel_ucp_link_open_up(keel_ucp_link_t *link)
{
    link->flags |= KEEL_UCP_LINK_OPEN;
    make_busy(link);
}

static keel_status_t may_send(const keel_ucp_link_t *link, enum keel_service_wire_kind kind, size_t header_len,
                              size_t data_len)
{
    const size_t data_max = (kind == KEEL_SERVICE_WIRE_REQUEST || kind == KEEL_SERVICE_WIRE_REPLY)
                                ? KEEL_MESSAGE_DATA_MAX
                                : KEEL_UCP_ZCOPY_MIN;

    if ((header_len > KEEL_TRANSPORT_HEADER_MAX) || (data_len > data_max)) {
        return KEEL_ERR_INVALID_PARAM;
    }
    return (link->flags & (KEEL_UCP_LINK_BROKEN | KEEL_UCP_LINK_CLOSED)) ? KEEL_ERR_UNREACHABLE : KEEL_OK;
}

static void enqueue(keel_ucp_link_t *link, keel_service_message_t *message)
{
    if ((link->flags & KEEL_UCP_LINK_OPEN) && ucs_list_is_empty(&link->queue) && (link->under_way < WINDOW) &&
        !link->port->is_in_progress) {
        issue(link, message);
        return;
    }
    ucs_list_add_tail(&link->queue, &message->link);
    if (link->flags & KEEL_UCP_LINK_OPEN) {
        make_busy(link);
    }
}

keel_status_t keel_ucp_link_send(keel_ucp_link_t *link, enum keel_service_wire_kind kind, const void *header,
                                 size_t header_len, const void *data, size_t data_len, int is_copied)
{
    const keel_status_t status = may_send(link, kind, header_len, data_len);
    keel_service_message_t *message;

    if (status != KEEL_OK) {
        return status;
    }
    message = keel_service_message_get(&link->port->pools, is_copied ? data_len : 0);
    if (message == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    if (is_copied && (data_len > 0)) {
        data = memcpy(message->copy, data, data_len);
    }
    compose(message, link, kind, header, header_len, data, data_len);
    enqueue(link, message);
    return KEEL_OK;
}

keel_status_t keel_ucp_link_send_made(keel_ucp_link_t *link, keel_service_message_t *message,
                                      enum keel_service_wire_kind kind, const void *header, size_t header_len,
                                      size_t data_len)
{
    const keel_status_t status = may_send(link, kind, header_len, data_len);

    if (status != KEEL_OK) {
        keel_service_message_put(message);
        return status;
    }
    compose(message, link, kind, header, header_len, message->copy, data_len);
    enqueue(link, message);
    return KEEL_OK;
}

static void progress_until_drained(keel_ucp_link_t *link, unsigned give_up_flags, unsigned timeout_ms)
{
    const uint64_t deadline_ns = keel_shm_now_ns() + timeout_ms * 1000000ull;

    while ((link->under_way > 0) && !(link->flags & give_up_flags) && (keel_shm_now_ns() < deadline_ns)) {
        if (keel_ucp_port_poll(link->port) == 0) {
            sched_yield();
        }
    }
}

void keel_ucp_link_retire(keel_ucp_link_t *link, int must_drain)
{
    keel_ucp_link_purge(link);
    link->flags |= KEEL_UCP_LINK_RETIRED;
    link->deadline_ns = keel_shm_now_ns() + CALLBACK_WAIT_MS * 1000000ull;
    make_busy(link);
    /* not open: only the greeting was sent */
    if (!must_drain || !(link->flags & KEEL_UCP_LINK_OPEN)) {
        return;
    }
    progress_until_drained(link, KEEL_UCP_LINK_BROKEN | KEEL_UCP_LINK_CLOSED, CALLBACK_DRAIN_MS);
    if ((link->under_way > 0) && !(link->flags & KEEL_UCP_LINK_CLOSED)) {
        keel_ucp_link_close(link);
    }
    progress_until_drained(link, 0, CLOSED_DRAIN_MS);
}
