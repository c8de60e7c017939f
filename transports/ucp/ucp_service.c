/*
 * The served lane's service thread: takes requests and sends replies for a process that computes. It spins for a while
 * after each message, then sleeps until one comes.
 *
 * The two threads share no lock. The other one says which incarnation of a rank is connected and which one died by the
 * atomic words current[] and dead[] and raises changes; the service thread acts on them between messages, and refuses
 * what a dead incarnation sends from the moment the word is written. A rank's first message is its greeting with its
 * address, so it can be answered before this side connects to it; a greeting of a new incarnation waits while its
 * predecessor counts as connected.
 */
#include "ucp_transport.h"

#include "base/memory.h"

#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

enum {
    SMALL_COPY = 512,         /* replies above it are copied to large messages */
    REQUESTS_TILL_IDLE = 256, /* on_idle() is called at the latest after so many requests */
    POLLS_A_YIELD = 8,        /* while it spins */
    HELD_NS = 1000000,        /* on_idle() keeps nothing back for longer, whatever else comes or does not come */
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

/* whether the incarnation that greeted may take the place of whoever greeted before it */
static int may_enter(keel_ucp_t *ucp, uint32_t rank, uint64_t instance)
{
    const keel_ucp_link_t *link = ucp->service.links[rank];
    const uint64_t current = atomic_load(&ucp->current[rank]);

    if (current != 0) {
        return current == instance;
    }
    return (link == NULL) || is_dead(ucp, rank, link->instance);
}

/* an incarnation that cannot be answered stays unanswered: it is suspected by who waits for it */
static void welcome(keel_ucp_t *ucp, const keel_ucp_address_blob_t *address)
{
    keel_ucp_service_t *service = &ucp->service;
    keel_ucp_link_t *link;

    forget(ucp, address->rank);
    if (keel_ucp_link_make(&service->port, address->rank, address->head.instance, keel_ucp_address_main(address),
                           &link) != KEEL_OK) {
        return;
    }
    keel_ucp_link_greet(link, KEEL_UCP_WIRE_WELCOME, NULL, 0);
    service->links[address->rank] = link;
}

static void hold(keel_ucp_t *ucp, const void *blob, size_t length)
{
    keel_ucp_held_hello_t *held = keel_alloc(sizeof(*held) + length, "greeting");

    if (held != NULL) {
        held->length = length;
        memcpy(held->blob, blob, length);
        ucs_list_add_tail(&ucp->service.held, &held->link);
    }
}

static void on_hello(keel_ucp_t *ucp, const keel_ucp_wire_t *wire, const void *data, size_t data_len)
{
    keel_ucp_address_blob_t head;

    if (keel_ucp_address_check(data, data_len) != KEEL_OK) {
        return;
    }
    memcpy(&head, data, sizeof(head));
    if ((head.rank != wire->rank) || (head.head.instance != wire->instance) ||
        is_dead(ucp, wire->rank, wire->instance)) {
        return;
    }
    /* by way of the list always: endpoints are not made inside a callback, and the copy is aligned */
    hold(ucp, data, data_len);
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
            welcome(ucp, held->blob);
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
    uint64_t header[KEEL_TRANSPORT_HEADER_MAX / sizeof(uint64_t)]; /* aligned, which UCP's pointer is not */
    keel_ucp_link_t *link;
    keel_ucp_wire_t wire;

    if ((param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) ||
        (keel_ucp_wire_check(message, message_len, ucp->params.size, &wire, header) != KEEL_OK)) {
        return UCS_OK;
    }
    if (wire.kind == KEEL_UCP_WIRE_HELLO) {
        on_hello(ucp, &wire, data, data_len);
        return UCS_OK;
    }
    link = service->links[wire.rank];
    if ((link == NULL) || (link->instance != wire.instance) || is_dead(ucp, wire.rank, wire.instance)) {
        return UCS_OK;
    }
    if (wire.kind == KEEL_UCP_WIRE_PING) {
        keel_ucp_link_greet(link, KEEL_UCP_WIRE_PONG, NULL, 0);
        keel_ucp_link_open_up(link);
        return UCS_OK;
    }
    if (wire.kind == KEEL_UCP_WIRE_BYE) {
        (void)keel_ucp_link_send(link, KEEL_UCP_WIRE_FAREWELL, NULL, 0, NULL, 0, 0);
        return UCS_OK;
    }
    if (wire.kind != KEEL_UCP_WIRE_REQUEST) {
        return UCS_OK;
    }
    service->unreported++;
    service->concerns |= ucp->params.on_request(ucp->params.arg, header, wire.header_len, data, data_len);
    return UCS_OK;
}

/* the link to who asked; NULL: dead, or never heard of */
static keel_ucp_link_t *asker_link(keel_ucp_t *ucp, uint32_t rank)
{
    keel_ucp_link_t *link = (rank < ucp->params.size) ? ucp->service.links[rank] : NULL;

    return ((link == NULL) || is_dead(ucp, rank, link->instance)) ? NULL : link;
}

static void room_release(keel_ucp_service_t *service)
{
    if (service->room != NULL) {
        ucs_mpool_put(service->room);
        service->room = NULL;
    }
}

keel_status_t keel_ucp_service_reply_room(keel_transport_t *transport, uint32_t rank, size_t data_len, void **room_p)
{
    keel_ucp_service_t *service = &keel_ucp_of(transport)->service;

    room_release(service); /* of one that was not replied to */
    if (asker_link(keel_ucp_of(transport), rank) == NULL) {
        return KEEL_ERR_UNREACHABLE;
    }
    service->room = keel_ucp_message_get(&service->port.pools, data_len);
    if (service->room == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    *room_p = service->room->copy;
    return KEEL_OK;
}

keel_status_t keel_ucp_service_reply(keel_transport_t *transport, uint32_t rank, const void *header, size_t header_len,
                                     const void *data, size_t data_len)
{
    keel_ucp_t *ucp = keel_ucp_of(transport);
    keel_ucp_service_t *service = &ucp->service;
    keel_ucp_link_t *link = asker_link(ucp, rank);
    keel_ucp_message_t *message;

    if (link == NULL) {
        return KEEL_ERR_UNREACHABLE;
    }
    if (service->room != NULL && data == service->room->copy) {
        message = service->room;
        service->room = NULL;
        return keel_ucp_link_send_made(link, message, KEEL_UCP_WIRE_REPLY, header, header_len, data_len);
    }
    return keel_ucp_link_send(link, KEEL_UCP_WIRE_REPLY, header, header_len, data, data_len, 1);
}

/* a broken link stays in its place, so that replies are refused, until the rank is disconnected */
static void on_broken(void *arg, keel_ucp_link_t *link)
{
}

/* ---- the thread ---- */

static void tell_other_thread(keel_ucp_t *ucp)
{
    if ((ucp->service.concerns & KEEL_SERVED_NEWS) && (ucp->params.on_news != NULL)) {
        ucp->params.on_news(ucp->params.arg);
    }
    keel_ucp_wait_end(ucp);
}

/* ---- time for the other thread ---- */

static int has_ticks(const keel_ucp_t *ucp)
{
    return (ucp->params.on_news != NULL) && (ucp->params.tick_us > 0);
}

/* for poll() */
static int ms_to_tick(const keel_ucp_t *ucp)
{
    const uint64_t tick_ns = ucp->params.tick_us * 1000ull, passed_ns = keel_ucp_now_ns() - ucp->service.tick_ns;

    if (!has_ticks(ucp)) {
        return -1;
    }
    return (passed_ns >= tick_ns) ? 0 : (int)((tick_ns - passed_ns) / 1000000) + 1;
}

static void tick(keel_ucp_t *ucp, uint64_t now_ns)
{
    if (has_ticks(ucp) && (now_ns - ucp->service.tick_ns >= ucp->params.tick_us * 1000ull)) {
        ucp->service.tick_ns = now_ns;
        ucp->params.on_news(ucp->params.arg);
    }
}

/* ---- progress ---- */

static void report(keel_ucp_t *ucp, int is_late)
{
    keel_ucp_service_t *service = &ucp->service;

    service->unreported = 0;
    tick(ucp, keel_ucp_now_ns());
    if (!ucp->params.on_idle(ucp->params.arg, is_late)) {
        service->held_since_ns = 0;
    } else if (service->held_since_ns == 0) {
        service->held_since_ns = keel_ucp_now_ns();
    }
}

static unsigned service_progress(keel_ucp_t *ucp)
{
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
    if (service->concerns) {
        tell_other_thread(ucp);
        service->concerns = 0;
    }
    if ((service->unreported > 0) && ((events == 0) || (service->unreported >= REQUESTS_TILL_IDLE))) {
        report(ucp, 0);
    }
    if (service->held_since_ns != 0 && keel_ucp_now_ns() - service->held_since_ns >= HELD_NS) {
        report(ucp, 1);
    }
    return events;
}

static void service_sleep(keel_ucp_t *ucp)
{
    keel_ucp_service_t *service = &ucp->service;
    struct pollfd fds[2] = {{.fd = service->worker_fd, .events = POLLIN}, {.fd = service->wake_fd, .events = POLLIN}};

    if (ucp_worker_arm(service->port.worker) != UCS_OK) {
        return;
    }
    poll(fds, 2, keel_ucp_port_is_busy(&service->port) ? BUSY_SLEEP_MS : ms_to_tick(ucp));
    if (fds[1].revents & POLLIN) {
        keel_ucp_bell_clear(service->wake_fd);
    }
}

static void *service_main(void *arg)
{
    keel_ucp_t *ucp = arg;
    const uint64_t spin = ucp->params.spin_us * 1000ull;
    uint64_t idle_since = 0, now;
    unsigned polls = 0;

    (void)prctl(PR_SET_NAME, KEEL_SERVICE_THREAD);
    while (!atomic_load_explicit(&ucp->service.must_stop, memory_order_acquire)) {
        if (service_progress(ucp) > 0) {
            idle_since = 0;
            continue;
        }
        now = keel_ucp_now_ns();
        tick(ucp, now);
        if (idle_since == 0) {
            idle_since = now;
        }
        if (now - idle_since >= spin) {
            if (ucp->service.held_since_ns != 0) {
                report(ucp, 1);
                continue; /* what was sent may want progress */
            }
            service_sleep(ucp);
        } else if (++polls % POLLS_A_YIELD == 0) {
            sched_yield(); /* who gets the core may keep it for a time slice, however short these polls were */
        }
    }
    if (ucp->service.unreported > 0 || ucp->service.held_since_ns != 0) {
        report(ucp, 1);
    }
    keel_ucp_port_drain(&ucp->service.port, KEEL_UCP_WIRE_FILLER, DRAIN_MS);
    return NULL;
}

keel_status_t keel_ucp_service_open(keel_ucp_t *ucp)
{
    const keel_ucp_port_params_t params = {.context = ucp->context,
                                           .rank = ucp->params.rank,
                                           .instance = ucp->instance,
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
    service->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (service->wake_fd < 0) {
        status = KEEL_ERR_IO;
        goto err_port;
    }
    return KEEL_OK;

err_port:
    keel_ucp_port_close(&service->port);
err_free:
    keel_free(service->links);
    return status;
}

/* signals are the program's: none is handled on this thread */
keel_status_t keel_ucp_service_start(keel_ucp_t *ucp)
{
    sigset_t all, before;
    int ret;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    ret = pthread_create(&ucp->service.thread, NULL, service_main, ucp);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    ucp->is_serving = (ret == 0);
    return (ret == 0) ? KEEL_OK : KEEL_ERR_NO_MEMORY;
}

void keel_ucp_service_wake(keel_ucp_t *ucp)
{
    atomic_fetch_add(&ucp->service.changes, 1);
    keel_ucp_bell_ring(ucp->service.wake_fd);
}

void keel_ucp_service_stop(keel_ucp_t *ucp)
{
    atomic_store(&ucp->service.must_stop, 1);
    keel_ucp_bell_ring(ucp->service.wake_fd);
    pthread_join(ucp->service.thread, NULL);
}

void keel_ucp_service_close(keel_ucp_t *ucp)
{
    keel_ucp_service_t *service = &ucp->service;

    room_release(service);
    keel_ucp_port_close(&service->port);
    while (!ucs_list_is_empty(&service->held)) {
        keel_free(ucs_list_extract_head(&service->held, keel_ucp_held_hello_t, link));
    }
    close(service->wake_fd);
    keel_free(service->links);
}
