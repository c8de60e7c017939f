/*
 * The service side. The thread inside Keel publishes the connected and the dead incarnation of each
 * rank in the atomic words current[] and dead[]. The service thread drops messages of a dead
 * incarnation as soon as the word is written.
 *
 * Safety. The queue pair to a dead incarnation is destroyed before disconnect() returns. Queue
 * pairs are created inside the gate, after a check of dead[], and disconnect() searches for one
 * inside the gate, after writing dead[]: either disconnect() finds the queue pair, or it is never
 * created.
 */
#include "verbs_service.h"
#include "verbs_transport.h"
#include "verbs_out.h"

#include "base/memory.h"
#include "base/message.h"

#include <sched.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

enum {
    SMALL_COPY = 512, /* larger replies are copied to large messages */
    DRAIN_MS = 2000,
    CHECK_EVERY = 64, /* calls of progress() between two checks if the thread does not sleep */
    EVENTS = 16
};

/* ---- incoming connections ---- */

static int is_dead(keel_verbs_t *verbs, uint32_t rank, uint64_t instance)
{
    return atomic_load(&verbs->dead[rank]) == instance;
}

static void forget(keel_verbs_t *verbs, uint32_t rank)
{
    keel_verbs_link_t *link = verbs->service.links[rank];

    pthread_mutex_lock(&verbs->service.gate);
    verbs->service.links[rank] = NULL;
    pthread_mutex_unlock(&verbs->service.gate);
    if (link != NULL) {
        keel_verbs_link_free(link);
    }
}

/* May the greeting incarnation replace the one that greeted before? */
static int may_enter(keel_verbs_t *verbs, uint32_t rank, uint64_t instance)
{
    const keel_verbs_link_t *link = verbs->service.links[rank];
    const uint64_t current = atomic_load(&verbs->current[rank]);

    if (current != 0) {
        return current == instance;
    }
    return link == NULL || is_dead(verbs, rank, link->instance);
}

static void watch(keel_verbs_t *verbs, int operation, int fd, uint64_t what)
{
    struct epoll_event event = {.events = EPOLLIN, .data = {.u64 = what}};

    (void)epoll_ctl(verbs->service.port.sockets, operation, fd, &event);
}

/* sources of file events: a guest that connects or sends its greeting, the device, or 1 + the
 * rank of an ended process */
enum { OF_A_GUEST = 0 };
#define OF_THE_DEVICE UINT64_MAX

/* No completion may arrive any more: breaks each connection, here and by a notification on the
 * other thread. The file stays ready and would prevent sleep, so it is no longer watched. */
static void break_links(keel_verbs_t *verbs)
{
    watch(verbs, EPOLL_CTL_DEL, verbs->device.context->async_fd, 0);
    for (uint32_t rank = 0; rank < verbs->params.size; rank++) {
        if (verbs->service.links[rank] != NULL) {
            keel_verbs_link_break(verbs->service.links[rank], "the device has failed");
        }
    }
    if (verbs->params.on_notify != NULL) {
        verbs->params.on_notify(verbs->params.arg);
    }
    keel_shm_wait_end(&verbs->wait);
}

/* a live peer that connects would wait forever, and so would all that wait for the peer */
static void fail_connection(keel_verbs_t *verbs, uint32_t rank)
{
    if (verbs->params.message != NULL) {
        keel_error(verbs->params.message,
                   "%s: a connection that rank %u asks for cannot be made; this process is of no use any more",
                   verbs->device.name, rank);
    }
    keel_verbs_device_mark_lost(&verbs->device);
    break_links(verbs);
}

static keel_status_t make_link(keel_verbs_t *verbs, const keel_verbs_greeting_t *hello, keel_verbs_link_t **link_p)
{
    keel_verbs_service_t *service = &verbs->service;
    keel_status_t status = KEEL_ERR_UNREACHABLE;

    pthread_mutex_lock(&service->gate);
    if (!is_dead(verbs, hello->rank, hello->head.instance) && !keel_verbs_device_is_lost(&verbs->device)) {
        status = keel_verbs_link_make(&service->port, hello->rank, hello->head.instance, NULL, 1, link_p);
    }
    if (status == KEEL_OK) {
        status = keel_verbs_link_connect(*link_p, &hello->end);
        service->links[hello->rank] = *link_p;
    }
    pthread_mutex_unlock(&service->gate);
    return status;
}

/* A greeting that cannot be answered is dropped: the sender will suspect this process. */
static void welcome(keel_verbs_t *verbs, keel_verbs_guest_t *guest)
{
    const keel_verbs_greeting_t *hello = &guest->talk.in;
    keel_verbs_greeting_t *answer = &guest->talk.out;
    const uint32_t rank = hello->rank;
    keel_verbs_link_t *link;
    keel_status_t status;

    forget(verbs, rank);
    status = make_link(verbs, hello, &link);
    if (status != KEEL_OK) {
        if (status != KEEL_ERR_UNREACHABLE && verbs->service.links[rank] == NULL) {
            fail_connection(verbs, rank);
        }
        forget(verbs, rank);
        return;
    }
    *answer = (keel_verbs_greeting_t){.instance = hello->head.instance, .rank = verbs->params.rank};
    pthread_mutex_lock(&verbs->service.posts);
    if (link->qp != NULL) {
        keel_verbs_link_end(link, &answer->end);
    }
    pthread_mutex_unlock(&verbs->service.posts);
    answer->sum = keel_verbs_greeting_sum(&link->seal_out, answer);
    keel_shm_blob_seal(answer, KEEL_VERBS_BLOB_WELCOME, sizeof(*answer), verbs->shm.instance);
    if (keel_verbs_talk_send(&guest->talk) != KEEL_OK) { /* the message fits in any live socket */
        forget(verbs, rank);
        return;
    }
    link->socket = guest->talk.socket;
    guest->talk.socket = -1;
    watch(verbs, EPOLL_CTL_MOD, link->socket, 1ull + rank);
}

/* NULL, or the reason to refuse a greeting: a captured greeting would end the connection */
static const char *refuse(keel_verbs_t *verbs, const keel_verbs_greeting_t *hello)
{
    const keel_service_end_t other = {.instance = hello->head.instance, .rank = hello->rank};
    const keel_verbs_link_t *link = verbs->service.links[hello->rank];
    keel_service_seal_t out, in;

    keel_verbs_seals(&verbs->service.port, &other, &out, &in);
    if (in.state == KEEL_AUTH_AWAITED) {
        return "this process has no secret yet";
    }
    if (hello->sum != keel_verbs_greeting_sum(&in, hello)) {
        return "it was not made with the secret of this job";
    }
    return (link != NULL && link->instance == hello->head.instance && !keel_verbs_has_ended(link->socket))
               ? "that process has greeted before"
               : NULL;
}

static int is_refused(keel_verbs_t *verbs, const keel_verbs_guest_t *guest)
{
    const char *why = refuse(verbs, &guest->talk.in);
    char from[96];

    if (why == NULL) {
        return 0;
    }
    keel_verbs_name(guest->talk.socket, from, sizeof(from));
    keel_service_refuse(&verbs->refused, &verbs->params, from, why);
    return 1;
}

static void guest_free(keel_verbs_guest_t *guest)
{
    ucs_list_del(&guest->link);
    if (guest->talk.socket >= 0) {
        close(guest->talk.socket);
    }
    keel_free(guest);
}

static void admit(keel_verbs_t *verbs, keel_verbs_guest_t *guest)
{
    const keel_verbs_greeting_t *hello = &guest->talk.in;
    const int is_received = guest->talk.received == sizeof(*hello);
    const keel_status_t status = !is_received
                                     ? keel_verbs_talk_receive(&guest->talk, KEEL_VERBS_BLOB_HELLO)
                                     : (keel_verbs_has_ended(guest->talk.socket) ? KEEL_ERR_UNREACHABLE : KEEL_OK);

    if (status == KEEL_INPROGRESS) {
        return;
    }
    if (status == KEEL_OK && hello->rank < verbs->params.size && hello->instance == verbs->shm.instance &&
        !is_dead(verbs, hello->rank, hello->head.instance) && !is_refused(verbs, guest)) {
        if (!may_enter(verbs, hello->rank, hello->head.instance)) {
            return;
        }
        welcome(verbs, guest);
    }
    guest_free(guest);
}

static void admit_guests(keel_verbs_t *verbs)
{
    keel_verbs_guest_t *guest, *next;

    ucs_list_for_each_safe(guest, next, &verbs->service.guests, link)
    {
        admit(verbs, guest);
    }
}

static void accept_guests(keel_verbs_t *verbs)
{
    keel_verbs_guest_t *guest;
    int fd;

    while ((fd = keel_verbs_accept(verbs->service.listener)) >= 0) {
        guest = keel_alloc(sizeof(*guest), "greeting");
        if (guest == NULL) {
            close(fd);
            return;
        }
        guest->talk.socket = fd;
        ucs_list_add_tail(&verbs->service.guests, &guest->link);
        watch(verbs, EPOLL_CTL_ADD, fd, OF_A_GUEST);
    }
}

static void handle_device_events(keel_verbs_t *verbs)
{
    keel_verbs_device_take_events(&verbs->device, &verbs->params);
    if (keel_verbs_device_is_lost(&verbs->device)) {
        break_links(verbs);
    }
}

/* The launcher reports ended processes. Messages that such a process has sent are still
 * received. */
static void check_sockets(keel_verbs_t *verbs)
{
    struct epoll_event events[EVENTS];
    const int count = epoll_wait(verbs->service.port.sockets, events, EVENTS, 0);

    for (int i = 0; i < count; i++) {
        if (events[i].data.u64 == OF_THE_DEVICE) {
            handle_device_events(verbs);
        } else if (events[i].data.u64 != OF_A_GUEST) {
            const keel_verbs_link_t *link = verbs->service.links[events[i].data.u64 - 1];

            if (link != NULL && keel_verbs_has_ended(link->socket)) {
                (void)epoll_ctl(verbs->service.port.sockets, EPOLL_CTL_DEL, link->socket, NULL);
            }
        }
    }
    if (count > 0) {
        accept_guests(verbs);
        admit_guests(verbs);
    }
}

static void act_on_changes(keel_verbs_t *verbs)
{
    keel_verbs_service_t *service = &verbs->service;

    service->changes_seen = atomic_load(&service->changes);
    for (uint32_t rank = 0; rank < verbs->params.size; rank++) {
        if (service->links[rank] != NULL && is_dead(verbs, rank, service->links[rank]->instance)) {
            forget(verbs, rank);
        }
    }
    admit_guests(verbs);
}

void keel_verbs_service_wake(keel_verbs_t *verbs)
{
    atomic_fetch_add(&verbs->service.changes, 1);
    keel_shm_bell_ring(verbs->service.loop.bell);
}

void keel_verbs_service_fence(keel_verbs_t *verbs, uint32_t rank, uint64_t instance)
{
    keel_verbs_service_t *service = &verbs->service;

    pthread_mutex_lock(&service->gate);
    if (service->links[rank] != NULL && service->links[rank]->instance == instance) {
        pthread_mutex_lock(&service->posts);
        keel_verbs_link_fence(service->links[rank]);
        pthread_mutex_unlock(&service->posts);
    }
    pthread_mutex_unlock(&service->gate);
}

/* ---- requests in, replies out ---- */

static void on_message(void *arg, keel_verbs_link_t *link, const keel_service_wire_t *wire, const void *header,
                       const void *data, size_t data_len)
{
    keel_verbs_t *verbs = arg;

    if (is_dead(verbs, link->peer, link->instance)) {
        return;
    }
    if (wire->kind == KEEL_SERVICE_WIRE_REQUEST) {
        keel_service_loop_request(&verbs->service.loop, header, wire->header_len, data, data_len);
    } else if (wire->kind == KEEL_SERVICE_WIRE_BYE) {
        (void)keel_verbs_out_send(link, KEEL_SERVICE_WIRE_FAREWELL, NULL, 0, NULL, 0, 0);
    }
}

/* A broken link keeps its place until the rank is disconnected, so that replies are refused. */
static void on_broken(void *arg, keel_verbs_link_t *link)
{
}

/* the link to the requester; NULL: dead, or it has never greeted */
static keel_verbs_link_t *requester_link(keel_verbs_t *verbs, uint32_t rank)
{
    keel_verbs_link_t *link = (rank < verbs->params.size) ? verbs->service.links[rank] : NULL;

    return (link == NULL || is_dead(verbs, rank, link->instance)) ? NULL : link;
}

keel_status_t keel_verbs_service_reply_room(keel_transport_t *transport, uint32_t rank, size_t data_len, void **room_p)
{
    keel_verbs_service_t *service = &keel_verbs_of(transport)->service;

    keel_service_room_drop(&service->room);
    if (requester_link(keel_verbs_of(transport), rank) == NULL) {
        return KEEL_ERR_UNREACHABLE;
    }
    return keel_service_room_make(&service->room, &service->port.pools, data_len, room_p);
}

keel_status_t keel_verbs_service_reply(keel_transport_t *transport, uint32_t rank, const void *header,
                                       size_t header_len, const void *data, size_t data_len)
{
    keel_verbs_t *verbs = keel_verbs_of(transport);
    keel_verbs_service_t *service = &verbs->service;
    keel_verbs_link_t *link = requester_link(verbs, rank);
    keel_service_message_t *message;

    if (link == NULL) {
        return KEEL_ERR_UNREACHABLE;
    }
    message = keel_service_room_take(&service->room, data);
    if (message != NULL) {
        return keel_verbs_out_send_made(link, message, KEEL_SERVICE_WIRE_REPLY, header, header_len, data_len);
    }
    return keel_verbs_out_send(link, KEEL_SERVICE_WIRE_REPLY, header, header_len, data, data_len, 1);
}

/* ---- the thread ---- */

static unsigned service_progress(void *arg)
{
    keel_verbs_t *verbs = arg;
    keel_verbs_service_t *service = &verbs->service;
    unsigned events = keel_verbs_port_progress(&service->port);

    if (++service->unchecked >= CHECK_EVERY) {
        service->unchecked = 0;
        check_sockets(verbs);
    }
    if (atomic_load_explicit(&service->changes, memory_order_acquire) != service->changes_seen) {
        act_on_changes(verbs);
        events++;
    }
    return events;
}

static void service_sleep(void *arg, int bell, int timeout_ms)
{
    keel_verbs_service_t *service = &((keel_verbs_t *)arg)->service;
    const struct timespec timeout = {.tv_sec = timeout_ms / 1000, .tv_nsec = (timeout_ms % 1000) * 1000000l};

    keel_verbs_port_sleep(&service->port, bell, (timeout_ms < 0) ? NULL : &timeout);
    service->unchecked = CHECK_EVERY;
}

/* is something in flight that a completion will report? */
static int is_pending(keel_verbs_link_t *link)
{
    if ((link->flags & KEEL_VERBS_LINK_BROKEN) || !(link->flags & KEEL_VERBS_LINK_OPEN) || link->qp == NULL) {
        return 0;
    }
    if (ucs_list_is_empty(&link->queue) && !(link->flags & KEEL_VERBS_LINK_LEAVING)) {
        link->flags |= KEEL_VERBS_LINK_LEAVING;
        keel_verbs_out_ask(link);
    }
    return !ucs_list_is_empty(&link->queue) || link->built != link->done;
}

static void service_drain(void *arg)
{
    const uint64_t deadline_ns = keel_shm_now_ns() + DRAIN_MS * 1000000ull;
    keel_verbs_t *verbs = arg;

    for (uint32_t rank = 0; rank < verbs->params.size; rank++) {
        while (verbs->service.links[rank] != NULL && is_pending(verbs->service.links[rank]) &&
               keel_shm_now_ns() < deadline_ns) {
            if (keel_verbs_port_progress(&verbs->service.port) == 0) {
                sched_yield();
            }
        }
    }
}

static const keel_service_loop_ops_t loop_ops = {
    .progress = service_progress, .sleep = service_sleep, .drain = service_drain};

/* ---- open, close ---- */

static keel_status_t open_files(keel_verbs_t *verbs)
{
    keel_verbs_service_t *service = &verbs->service;
    keel_status_t status = keel_verbs_listen(&verbs->params, &service->listener, &service->listens_at);

    if (status != KEEL_OK) {
        return status;
    }
    watch(verbs, EPOLL_CTL_ADD, service->listener, OF_A_GUEST);
    watch(verbs, EPOLL_CTL_ADD, verbs->device.context->async_fd, OF_THE_DEVICE);
    status = keel_service_loop_open(&service->loop, &loop_ops, verbs, &verbs->params, &verbs->wait);
    if (status != KEEL_OK) {
        close(service->listener);
    }
    return status;
}

keel_status_t keel_verbs_service_open(keel_verbs_t *verbs)
{
    keel_verbs_service_t *service = &verbs->service;
    keel_status_t status;

    ucs_list_head_init(&service->guests);
    service->links = keel_alloc(verbs->params.size * sizeof(*service->links), "links");
    if (service->links == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    status = keel_verbs_port_open(&service->port, &verbs->device, &verbs->params, SMALL_COPY, KEEL_MESSAGE_DATA_MAX);
    if (status != KEEL_OK) {
        goto err_links;
    }
    pthread_mutex_init(&service->gate, NULL);
    pthread_mutex_init(&service->posts, NULL);
    service->port.lock = &service->posts;
    service->port.lane = KEEL_SERVICE_REPLIES;
    service->port.refused = &verbs->refused;
    service->port.on_message = on_message;
    service->port.on_broken = on_broken;
    service->port.arg = verbs;
    status = open_files(verbs);
    if (status == KEEL_OK) {
        return KEEL_OK;
    }
    keel_verbs_port_close(&service->port);
    pthread_mutex_destroy(&service->gate);
    pthread_mutex_destroy(&service->posts);
err_links:
    keel_free(service->links);
    return status;
}

void keel_verbs_service_close(keel_verbs_t *verbs)
{
    keel_verbs_service_t *service = &verbs->service;
    keel_verbs_guest_t *guest, *next;

    keel_service_room_drop(&service->room);
    ucs_list_for_each_safe(guest, next, &service->guests, link)
    {
        guest_free(guest);
    }
    close(service->listener);
    keel_service_loop_close(&service->loop);
    keel_verbs_port_close(&service->port);
    pthread_mutex_destroy(&service->gate);
    pthread_mutex_destroy(&service->posts);
    keel_free(service->links);
}
