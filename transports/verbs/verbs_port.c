/* Ports. */
#define _GNU_SOURCE /* ppoll */
#include "verbs_port.h"
#include "verbs_link.h"
#include "verbs_out.h"
#include "verbs_rma.h"

#include "base/memory.h"
#include "base/message.h"
#include "shm/shm_sleeper.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

enum {
    PLACES_MIN = 1024, /* minimum length of the completion queue */
    LINKS_MIN = 16,
    LINKS_MAX = 1 << 22,
    POLLS_MAX = 16 /* batches of completions in a call of progress */
};

static keel_status_t cq_open(keel_verbs_port_t *port)
{
    int flags;

    port->channel = ibv_create_comp_channel(port->device->context);
    if (port->channel == NULL) {
        return KEEL_ERR_TRANSPORT;
    }
    flags = fcntl(port->channel->fd, F_GETFL);
    port->cq = ibv_create_cq(port->device->context, PLACES_MIN, NULL, port->channel, 0);
    if (flags < 0 || fcntl(port->channel->fd, F_SETFL, flags | O_NONBLOCK) != 0 || port->cq == NULL) {
        if (port->cq != NULL) {
            ibv_destroy_cq(port->cq);
        }
        ibv_destroy_comp_channel(port->channel);
        return KEEL_ERR_TRANSPORT;
    }
    return KEEL_OK;
}

keel_status_t keel_verbs_port_open(keel_verbs_port_t *port, const keel_verbs_device_t *device,
                                   const keel_transport_params_t *params, size_t small, size_t large)
{
    keel_status_t status;

    *port = (keel_verbs_port_t){.device = device, .params = params, .size = LINKS_MIN};
    port->wire.version = KEEL_SERVICE_WIRE_VERSION;
    ucs_list_head_init(&port->unposted);
    ucs_list_head_init(&port->waiters_free);
    port->links = keel_alloc(LINKS_MIN * sizeof(*port->links), "links");
    if (port->links == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    status = keel_service_pools_open(&port->pools, small, large);
    if (status != KEEL_OK) {
        goto err_links;
    }
    port->sockets = epoll_create1(EPOLL_CLOEXEC);
    if (port->sockets < 0) {
        if (params->message != NULL) {
            keel_error(params->message, "KEEL_TRANSPORT=verbs: epoll_create1: %s", strerror(errno));
        }
        status = KEEL_ERR_IO;
        goto err_pools;
    }
    status = cq_open(port);
    if (status == KEEL_OK) {
        return KEEL_OK;
    }
    if (params->message != NULL) {
        keel_error(params->message, "KEEL_TRANSPORT=verbs: %s gives no completion queue: %s", device->name,
                   strerror(errno));
    }
    close(port->sockets);
err_pools:
    keel_service_pools_close(&port->pools);
err_links:
    keel_free(port->links);
    return status;
}

void keel_verbs_port_close(keel_verbs_port_t *port)
{
    for (unsigned i = 0; i < port->size; i++) {
        if (port->links[i] != NULL) {
            keel_verbs_link_free(port->links[i]);
        }
    }
    keel_verbs_rma_release(port);
    ibv_destroy_cq(port->cq);
    ibv_destroy_comp_channel(port->channel);
    close(port->sockets);
    keel_service_pools_close(&port->pools);
    keel_free(port->links);
}

/* ---- links ---- */

static keel_status_t grow(keel_verbs_port_t *port)
{
    keel_verbs_link_t **links;

    if (port->size >= LINKS_MAX) {
        return KEEL_ERR_LIMIT;
    }
    links = keel_alloc(2 * port->size * sizeof(*links), "links");
    if (links == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    for (unsigned i = 0; i < port->size; i++) {
        if (port->links[i] != NULL) {
            links[port->links[i]->number % (2 * port->size)] = port->links[i];
        }
    }
    keel_free(port->links);
    port->links = links;
    port->size *= 2;
    return KEEL_OK;
}

keel_status_t keel_verbs_port_add(keel_verbs_port_t *port, keel_verbs_link_t *link, unsigned places)
{
    keel_status_t status;
    int wanted = port->cq->cqe;

    while ((unsigned)wanted < port->places + places) {
        wanted *= 2;
    }
    if (wanted > port->cq->cqe && ibv_resize_cq(port->cq, wanted) != 0) {
        return KEEL_ERR_TRANSPORT;
    }
    if (2 * port->count >= port->size) {
        status = grow(port);
        if (status != KEEL_OK) {
            return status;
        }
    }
    /* next number with a free place: half of the places are free */
    while (port->links[port->next % port->size] != NULL) {
        port->next++;
    }
    link->number = port->next++;
    port->links[link->number % port->size] = link;
    port->count++;
    port->places += places;
    return KEEL_OK;
}

void keel_verbs_port_remove(keel_verbs_port_t *port, keel_verbs_link_t *link, unsigned places)
{
    port->links[link->number % port->size] = NULL;
    port->count--;
    port->places -= places;
}

static keel_verbs_link_t *find(const keel_verbs_port_t *port, uint32_t number)
{
    keel_verbs_link_t *link = port->links[number % port->size];

    return (link != NULL && link->number == number) ? link : NULL;
}

/* ---- progress ---- */

static int fill(keel_verbs_port_t *port)
{
    const int count = ibv_poll_cq(port->cq, KEEL_VERBS_POLL, port->seen);

    port->seen_next = 0;
    port->seen_count = (count > 0) ? (unsigned)count : 0;
    port->completions += port->seen_count;
    return port->seen_count > 0;
}

/* Calls that issue gets make progress, too, to check for events. A chain that has grown since
 * the last check continues to grow, unless a caller waits. */
static void post_chains(keel_verbs_port_t *port, int is_waiting)
{
    keel_verbs_link_t *link, *next;

    ucs_list_for_each_safe(link, next, &port->unposted, unposted)
    {
        if (is_waiting || !link->may_grow || link->built_seen == link->built) {
            keel_verbs_out_post(link);
        }
        link->built_seen = link->built;
    }
}

unsigned keel_verbs_port_progress(keel_verbs_port_t *port)
{
    unsigned events = 0;
    keel_verbs_link_t *link;

    for (unsigned polls = 0; polls < POLLS_MAX; polls++) {
        while (port->seen_next < port->seen_count) {
            const struct ibv_wc wc = port->seen[port->seen_next++];

            link = find(port, (uint32_t)(wc.wr_id >> 32));
            if (link != NULL) {
                keel_verbs_link_completed(link, &wc);
                events++;
            }
        }
        if (!fill(port)) {
            break;
        }
    }
    post_chains(port, 0);
    return events;
}

void keel_verbs_port_post(keel_verbs_port_t *port)
{
    post_chains(port, 1);
}

static void clear_events(keel_verbs_port_t *port)
{
    struct ibv_cq *cq;
    void *context;

    while (ibv_get_cq_event(port->channel, &cq, &context) == 0) {
        ibv_ack_cq_events(cq, 1);
    }
}

/* Polls once more after requesting a notification, since a completion may have arrived before
 * the request. */
void keel_verbs_port_sleep(keel_verbs_port_t *port, int bell, const struct timespec *timeout)
{
    struct pollfd files[3] = {{.fd = port->channel->fd, .events = POLLIN},
                              {.fd = bell, .events = POLLIN},
                              {.fd = port->sockets, .events = POLLIN}};

    if (port->seen_next < port->seen_count || ibv_req_notify_cq(port->cq, 0) != 0 || fill(port)) {
        return;
    }
    ppoll(files, 3, timeout, NULL);
    if (files[0].revents & POLLIN) {
        clear_events(port);
    }
    if (files[1].revents & POLLIN) {
        keel_shm_bell_clear(bell);
    }
}
