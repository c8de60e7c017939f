/*
 * Service side of the served lane: receives requests and sends replies on its own thread, while the
 * program computes.
 *
 * The two threads share no lock. The other thread publishes the connected and the dead incarnation
 * of each rank in the atomic words current[] and dead[] and increments changes. The service thread
 * acts on changes between messages, and drops messages of a dead incarnation as soon as the word is
 * written. The first message of a rank is its greeting with its address, so it can be answered
 * before this process connects to the rank. The greeting of a new incarnation waits while its
 * predecessor counts as connected.
 */
#include "ucp_transport.h"

#include "base/memory.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>

enum {
    SMALL_COPY = 512, /* larger replies are copied to large messages */
    BUSY_SLEEP_MS = 10,
    DRAIN_MS = 2000
};

/* ---- greetings ---- */

static int is_dead(keel_ucp_t *ucp, uint32_t rank, uint64_t instance)
{
    return atomic_load(&ucp->dead[rank]) == instance;
}

static void forget(keel_ucp_t *ucp, uint32_t rank)
{
    if (ucp->service.links[rank] != NULL) {
        keel_ucp_link_retire(ucp->service.links[rank], 0);
        ucp->service.links[rank] = NULL;
    }
}

/* May the greeting incarnation replace the one that greeted before? */
static int may_enter(keel_ucp_t *ucp, uint32_t rank, uint64_t instance)
{
    const keel_ucp_link_t *link = ucp->service.links[rank];
    const uint64_t current = atomic_load(&ucp->current[rank]);

    if (current != 0) {
        return current == instance;
    }
    return (link == NULL) || is_dead(ucp, rank, link->instance);
}

/* A greeting that cannot be answered is dropped: the sender will suspect this process. */
static void welcome(keel_ucp_t *ucp, const keel_ucp_address_blob_t *address, uint64_t sequence)
{
    keel_ucp_service_t *service = &ucp->service;
    keel_ucp_link_t *link;

    forget(ucp, address->rank);
    if (keel_ucp_link_make(&service->port, address->rank, address->head.instance, keel_ucp_address_main(address),
                           &link) != KEEL_OK) {
        return;
    }
    link->in.sequence = sequence;
    keel_ucp_link_greet(link, KEEL_SERVICE_WIRE_WELCOME, NULL, 0);
    service->links[address->rank] = link;
}

void keel_ucp_refuse_message(keel_ucp_t *ucp, uint32_t rank, const char *why)
{
    char from[64];

    snprintf(from, sizeof(from), "a process that claims to be rank %u", rank);
    keel_service_refuse(&ucp->refused, &ucp->params, from, why);
}

/* An incarnation greets once. A second greeting is a captured copy, and would end the
 * connection. */
static int has_greeted(keel_ucp_t *ucp, uint32_t rank, uint64_t instance)
{
    const keel_ucp_link_t *link = ucp->service.links[rank];
    keel_ucp_held_hello_t *held;

    ucs_list_for_each(held, &ucp->service.held, link)
    {
        if (held->blob->head.instance == instance) {
            return 1;
        }
    }
    return (link != NULL) && (link->instance == instance);
}

static void hold(keel_ucp_t *ucp, const void *blob, size_t length, uint64_t sequence)
{
    keel_ucp_held_hello_t *held = keel_alloc(sizeof(*held) + length, "greeting");

    if (held != NULL) {
        held->sequence = sequence;
        held->length = length;
        memcpy(held->blob, blob, length);
        ucs_list_add_tail(&ucp->service.held, &held->link);
    }
}

static void on_hello(keel_ucp_t *ucp, const keel_service_received_t *received, const void *data, size_t data_len)
{
    const keel_service_wire_t *wire = &received->wire;
    const keel_service_end_t own = {.instance = ucp->shm.instance, .rank = ucp->params.rank};
    const keel_service_end_t other = {.instance = wire->instance, .rank = wire->rank};
    keel_ucp_address_blob_t head;
    keel_service_seal_t seal;
    const char *why;

    if (keel_ucp_address_check(data, data_len) != KEEL_OK) {
        return;
    }
    memcpy(&head, data, sizeof(head));
    if ((head.rank != wire->rank) || (head.head.instance != wire->instance) ||
        is_dead(ucp, wire->rank, wire->instance)) {
        return;
    }
    keel_service_seal_init(&seal, ucp->params.auth, KEEL_SERVICE_REQUESTS, &other, &own);
    why = keel_service_seal_open(&seal, received, data, data_len);
    if ((why == NULL) && has_greeted(ucp, wire->rank, wire->instance)) {
        why = "that process has greeted before";
    }
    if (why != NULL) {
        keel_ucp_refuse_message(ucp, wire->rank, why);
        return;
    }
    /* always deferred by the list: endpoints are not created inside a callback, and the copy is
     * aligned */
    hold(ucp, data, data_len, wire->sequence);
}

static void admit_held(keel_ucp_t *ucp)
{
    keel_ucp_held_hello_t *held, *next;
    uint64_t instance;
    uint32_t rank;

    ucs_list_for_each_safe(held, next, &ucp->service.held, link)
    {
        rank = held->blob->rank;
        instance = held->blob->head.instance;
        if (!is_dead(ucp, rank, instance)) {
            if (!may_enter(ucp, rank, instance)) {
                continue;
            }
            welcome(ucp, held->blob, held->sequence);
        }
        ucs_list_del(&held->link);
        keel_free(held);
    }
}

static void act_on_changes(keel_ucp_t *ucp)
{
    keel_ucp_service_t *service = &ucp->service;
    uint32_t rank;

    service->changes_seen = atomic_load(&service->changes);
    for (rank = 0; rank < ucp->params.size; rank++) {
        if ((service->links[rank] != NULL) && is_dead(ucp, rank, service->links[rank]->instance)) {
            forget(ucp, rank);
        }
    }
}

/* ---- requests in, replies out ---- */

static ucs_status_t on_message(void *arg, const void *message, size_t message_len, void *data, size_t data_len,
                               const ucp_am_recv_param_t *param)
{
    keel_ucp_t *ucp = arg;
    keel_ucp_service_t *service = &ucp->service;
    const keel_service_wire_t *wire;
    keel_service_received_t received;
    keel_ucp_link_t *link;
    const char *why;

    if ((param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) ||
        (keel_service_wire_check(message, message_len, ucp->params.size, &received) != KEEL_OK)) {
        return UCS_OK;
    }
    wire = &received.wire;
    if (wire->kind == KEEL_SERVICE_WIRE_HELLO) {
        on_hello(ucp, &received, data, data_len);
        return UCS_OK;
    }
    link = service->links[wire->rank];
    if ((link == NULL) || (link->instance != wire->instance) || is_dead(ucp, wire->rank, wire->instance)) {
        return UCS_OK;
    }
    why = keel_service_seal_open(&link->in, &received, data, data_len);
    if (why != NULL) {
        keel_ucp_refuse_message(ucp, wire->rank, why);
        return UCS_OK;
    }
    if (wire->kind == KEEL_SERVICE_WIRE_PING) {
        keel_ucp_link_greet(link, KEEL_SERVICE_WIRE_PONG, NULL, 0);
        keel_ucp_link_open_up(link);
    } else if (wire->kind == KEEL_SERVICE_WIRE_BYE) {
        (void)keel_ucp_link_send(link, KEEL_SERVICE_WIRE_FAREWELL, NULL, 0, NULL, 0, 0);
    } else if (wire->kind == KEEL_SERVICE_WIRE_REQUEST) {
        keel_service_loop_request(&service->loop, received.header, wire->header_len, data, data_len);
    }
    return UCS_OK;
}

/* the link to the requester; NULL: dead, or it has never greeted */
static keel_ucp_link_t *requester_link(keel_ucp_t *ucp, uint32_t rank)
{
    keel_ucp_link_t *link = (rank < ucp->params.size) ? ucp->service.links[rank] : NULL;

    return ((link == NULL) || is_dead(ucp, rank, link->instance)) ? NULL : link;
}

keel_status_t keel_ucp_service_reply_room(keel_transport_t *transport, uint32_t rank, size_t data_len, void **room_p)
{
    keel_ucp_service_t *service = &keel_ucp_of(transport)->service;

    keel_service_room_drop(&service->room);
    if (requester_link(keel_ucp_of(transport), rank) == NULL) {
        return KEEL_ERR_UNREACHABLE;
    }
    return keel_service_room_make(&service->room, &service->port.pools, data_len, room_p);
}

keel_status_t keel_ucp_service_reply(keel_transport_t *transport, uint32_t rank, const void *header, size_t header_len,
                                     const void *data, size_t data_len)
{
    keel_ucp_t *ucp = keel_ucp_of(transport);
    keel_ucp_service_t *service = &ucp->service;
    keel_ucp_link_t *link = requester_link(ucp, rank);
    keel_service_message_t *message;

    if (link == NULL) {
        return KEEL_ERR_UNREACHABLE;
    }
    message = keel_service_room_take(&service->room, data);
    if (message != NULL) {
        return keel_ucp_link_send_made(link, message, KEEL_SERVICE_WIRE_REPLY, header, header_len, data_len);
    }
    return keel_ucp_link_send(link, KEEL_SERVICE_WIRE_REPLY, header, header_len, data, data_len, 1);
}

/* A broken link keeps its place until the rank is disconnected, so that replies are refused. */
static void on_broken(void *arg, keel_ucp_link_t *link)
{
}

/* ---- the thread ---- */

static unsigned service_progress(void *arg)
{
    keel_ucp_t *ucp = arg;
    keel_ucp_service_t *service = &ucp->service;
    unsigned events;

    events = keel_ucp_port_progress(&service->port);
    if (atomic_load_explicit(&service->changes, memory_order_acquire) != service->changes_seen) {
        act_on_changes(ucp);
        events++;
    }
    if (!ucs_list_is_empty(&service->held)) {
        admit_held(ucp);
    }
    return events;
}

static void service_sleep(void *arg, int bell, int timeout_ms)
{
    keel_ucp_service_t *service = &((keel_ucp_t *)arg)->service;
    struct pollfd fds[2] = {{.fd = service->worker_fd, .events = POLLIN}, {.fd = bell, .events = POLLIN}};

    if (ucp_worker_arm(service->port.worker) != UCS_OK) {
        return;
    }
    poll(fds, 2, keel_ucp_port_is_busy(&service->port) ? BUSY_SLEEP_MS : timeout_ms);
    if (fds[1].revents & POLLIN) {
        keel_shm_bell_clear(bell);
    }
}

static void service_drain(void *arg)
{
    keel_ucp_port_drain(&((keel_ucp_t *)arg)->service.port, KEEL_SERVICE_WIRE_FILLER, DRAIN_MS);
}

static const keel_service_loop_ops_t loop_ops = {
    .progress = service_progress, .sleep = service_sleep, .drain = service_drain};

keel_status_t keel_ucp_service_open(keel_ucp_t *ucp)
{
    const keel_ucp_port_params_t params = {.context = ucp->context,
                                           .rank = ucp->params.rank,
                                           .instance = ucp->shm.instance,
                                           .lane = KEEL_SERVICE_REPLIES,
                                           .small_copy = SMALL_COPY,
                                           .large_copy = KEEL_MESSAGE_DATA_MAX,
                                           .on_message = on_message,
                                           .on_broken = on_broken,
                                           .arg = ucp,
                                           .transport = &ucp->params};
    keel_ucp_service_t *service = &ucp->service;
    keel_status_t status;

    ucs_list_head_init(&service->held);
    service->links = keel_alloc(ucp->params.size * sizeof(*service->links), "links");
    if (service->links == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    status = keel_ucp_port_open(&service->port, &params);
    if (status != KEEL_OK) {
        goto err_free;
    }
    if (ucp_worker_get_efd(service->port.worker, &service->worker_fd) != UCS_OK) {
        status = KEEL_ERR_TRANSPORT;
        goto err_port;
    }
    status = keel_service_loop_open(&service->loop, &loop_ops, ucp, &ucp->params, &ucp->wait);
    if (status != KEEL_OK) {
        goto err_port;
    }
    return KEEL_OK;

err_port:
    keel_ucp_port_close(&service->port);
err_free:
    keel_free(service->links);
    return status;
}

void keel_ucp_service_wake(keel_ucp_t *ucp)
{
    atomic_fetch_add(&ucp->service.changes, 1);
    keel_shm_bell_ring(ucp->service.loop.bell);
}

void keel_ucp_service_close(keel_ucp_t *ucp)
{
    keel_ucp_service_t *service = &ucp->service;

    keel_service_room_drop(&service->room);
    keel_ucp_port_close(&service->port);
    while (!ucs_list_is_empty(&service->held)) {
        keel_free(ucs_list_extract_head(&service->held, keel_ucp_held_hello_t, link));
    }
    keel_service_loop_close(&service->loop);
    keel_free(service->links);
}
