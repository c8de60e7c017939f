/* Ports: a worker, the links, and the work between two calls of UCP's progress. */
#include "ucp_demands.h"
#include "ucp_link.h"

#include "shm/shm_sleeper.h"

#include <sched.h>

enum { POLLS_BEFORE_YIELD = 16 };

unsigned keel_ucp_port_poll(keel_ucp_port_t *port)
{
    unsigned events;

    port->is_in_progress = 1;
    events = ucp_worker_progress(port->worker);
    port->is_in_progress = 0;
    return events;
}

static keel_status_t worker_open(keel_ucp_port_t *port, const keel_ucp_port_params_t *params)
{
    /*
     * SINGLE refers to the creator of the worker, which UCX asserts since 1.18. The caller of
     * keel_init() creates the service worker, but the service thread uses it. Threads of the
     * program take turns on the main worker.
     */
    const ucp_worker_params_t worker_params = {.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
                                               .thread_mode = UCS_THREAD_MODE_SERIALIZED};
    const ucp_am_handler_param_t handler = {.field_mask =
                                                UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB |
                                                UCP_AM_HANDLER_PARAM_FIELD_ARG | UCP_AM_HANDLER_PARAM_FIELD_FLAGS,
                                            .id = KEEL_AM_ID,
                                            .cb = params->on_message,
                                            .arg = params->arg,
                                            .flags = UCP_AM_FLAG_WHOLE_MSG};

    ucs_status_t status = ucp_worker_create(params->context, &worker_params, &port->worker);

    if (status != UCS_OK) {
        keel_ucp_refuse_transports(params->transport, ucs_status_string(status));
        return KEEL_ERR_TRANSPORT;
    }
    if (ucp_worker_set_am_recv_handler(port->worker, &handler) != UCS_OK) {
        ucp_worker_destroy(port->worker);
        return KEEL_ERR_TRANSPORT;
    }
    return KEEL_OK;
}

keel_status_t keel_ucp_port_open(keel_ucp_port_t *port, const keel_ucp_port_params_t *params)
{
    keel_status_t status;

    *port = (keel_ucp_port_t){
        .wire = {.version = KEEL_SERVICE_WIRE_VERSION, .rank = params->rank, .instance = params->instance},
        .lane = params->lane,
        .auth = params->transport->auth,
        .on_broken = params->on_broken,
        .arg = params->arg};
    ucs_list_head_init(&port->links);
    ucs_list_head_init(&port->busy);
    status = keel_service_pools_open(&port->pools, params->small_copy, params->large_copy);
    if (status != KEEL_OK) {
        return status;
    }
    status = worker_open(port, params);
    if (status != KEEL_OK) {
        keel_service_pools_close(&port->pools);
    }
    return status;
}

unsigned keel_ucp_port_progress(keel_ucp_port_t *port)
{
    unsigned events = keel_ucp_port_poll(port);
    keel_ucp_link_t *link, *next;
    uint64_t now_ns;

    if (ucs_list_is_empty(&port->busy)) {
        return events;
    }
    now_ns = keel_shm_now_ns();
    ucs_list_for_each_safe(link, next, &port->busy, busy)
    {
        if (!keel_ucp_link_advance(link, now_ns)) {
            link->flags &= ~KEEL_UCP_LINK_BUSY;
            ucs_list_del(&link->busy);
        } else if ((link->flags & KEEL_UCP_LINK_RETIRED) && (link->flags & KEEL_UCP_LINK_CLOSED) &&
                   (link->under_way == 0)) {
            keel_ucp_link_free(link);
        }
    }
    return events;
}

int keel_ucp_port_is_busy(keel_ucp_port_t *port)
{
    return !ucs_list_is_empty(&port->busy);
}

static int has_unsent(keel_ucp_link_t *link)
{
    return !(link->flags & (KEEL_UCP_LINK_BROKEN | KEEL_UCP_LINK_CLOSED | KEEL_UCP_LINK_RETIRED)) &&
           ((link->under_way > 0) || !ucs_list_is_empty(&link->queue) || (link->flags & KEEL_UCP_LINK_LEAVING));
}

static void progress_while_unsent(keel_ucp_port_t *port, uint64_t deadline_ns)
{
    unsigned polls = 0;
    keel_ucp_link_t *link;
    int pending;

    do {
        if (keel_ucp_port_progress(port) == 0 && (++polls % POLLS_BEFORE_YIELD == 0)) {
            sched_yield();
        }
        pending = 0;
        ucs_list_for_each(link, &port->links, link)
        {
            pending |= has_unsent(link);
        }
    } while (pending && (keel_shm_now_ns() < deadline_ns));
}

/*
 * UCP reports a short message as sent after copying. A message sent in place completes only when
 * the kernel has the whole message and all earlier ones. UCP's own flush would need the peer's main
 * thread, which may be waiting in its own close. A BYE is answered by the service thread, which
 * runs until the end of that close.
 */
void keel_ucp_port_drain(keel_ucp_port_t *port, enum keel_service_wire_kind last, unsigned timeout_ms)
{
    /* never written, but RDMA sends only from writable memory */
    static char in_place[KEEL_UCP_ZCOPY_MIN];
    const uint64_t deadline_ns = keel_shm_now_ns() + timeout_ms * 1000000ull;
    keel_ucp_link_t *link;

    ucs_list_for_each(link, &port->links, link)
    {
        if (!(link->flags & KEEL_UCP_LINK_RETIRED) &&
            ((link->flags & KEEL_UCP_LINK_OPEN) || !ucs_list_is_empty(&link->queue))) {
            link->flags |= (last == KEEL_SERVICE_WIRE_BYE) ? KEEL_UCP_LINK_LEAVING : 0;
            (void)keel_ucp_link_send(link, last, NULL, 0, in_place, sizeof(in_place), 0);
        }
    }
    progress_while_unsent(port, deadline_ns);
    ucs_list_for_each(link, &port->links, link)
    {
        if (!(link->flags & KEEL_UCP_LINK_CLOSED)) {
            keel_ucp_link_close(link);
        }
    }
}

void keel_ucp_port_close(keel_ucp_port_t *port)
{
    keel_ucp_link_t *link, *next;

    ucs_list_for_each_safe(link, next, &port->links, link)
    {
        keel_ucp_link_purge(link);
    }
    /* completes remaining sends, so messages and links must outlive it */
    ucp_worker_destroy(port->worker);
    ucs_list_for_each_safe(link, next, &port->links, link)
    {
        keel_ucp_link_free(link);
    }
    keel_service_pools_close(&port->pools);
}
