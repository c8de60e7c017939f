/*
 * The served lane on the thread inside Keel: requests out, replies in. Connecting a peer sends a
 * greeting; requests queue until the peer's service thread has answered.
 */
#define _GNU_SOURCE /* ppoll */
#include "ucp_demands.h"
#include "ucp_transport.h"

#include "base/memory.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>

typedef struct keel_ucp_late_reply {
    ucs_list_link_t link;
    uint32_t rank;
    uint64_t instance;
    size_t header_len, data_len;
    unsigned char bytes[]; /* header, then data */
} keel_ucp_late_reply_t;

/* ---- replies in ---- */

static int is_current(const keel_ucp_t *ucp, uint32_t rank, uint64_t instance)
{
    return (ucp->peers[rank] != NULL) && (ucp->peers[rank]->instance == instance);
}

/* Without memory the reply is lost, and the link is declared broken: a gap in the order would be
 * worse. */
static void put_aside(keel_ucp_t *ucp, const keel_service_wire_t *wire, const void *header, const void *data,
                      size_t data_len)
{
    keel_ucp_late_reply_t *late = keel_alloc(sizeof(*late) + wire->header_len + data_len, "late reply");

    if (late == NULL) {
        ucp->peers[wire->rank]->is_suspect = 1;
        ucp->suspects++;
        return;
    }
    late->rank = wire->rank;
    late->instance = wire->instance;
    late->header_len = wire->header_len;
    late->data_len = data_len;
    memcpy(late->bytes, header, wire->header_len);
    if (data_len > 0) {
        memcpy(late->bytes + wire->header_len, data, data_len);
    }
    ucs_list_add_tail(&ucp->put_aside, &late->link);
}

static unsigned deliver_put_aside(keel_ucp_t *ucp)
{
    unsigned events = 0;
    keel_ucp_late_reply_t *late;

    while (!ucs_list_is_empty(&ucp->put_aside)) {
        late = ucs_list_extract_head(&ucp->put_aside, keel_ucp_late_reply_t, link);
        if (is_current(ucp, late->rank, late->instance)) {
            ucp->params.on_reply(ucp->params.arg, late->bytes, late->header_len, late->bytes + late->header_len,
                                 late->data_len);
            events++;
        }
        keel_free(late);
    }
    return events;
}

static ucs_status_t on_message(void *arg, const void *message, size_t message_len, void *data, size_t data_len,
                               const ucp_am_recv_param_t *param)
{
    keel_ucp_t *ucp = arg;
    const keel_service_wire_t *wire;
    keel_service_received_t received;
    keel_ucp_link_t *link;
    const char *why;

    if ((param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) ||
        (keel_service_wire_check(message, message_len, ucp->params.size, &received) != KEEL_OK) ||
        !is_current(ucp, received.wire.rank, received.wire.instance)) {
        return UCS_OK;
    }
    wire = &received.wire;
    link = ucp->peers[wire->rank]->link;
    why = keel_service_seal_open(&link->in, &received, data, data_len);
    if (why != NULL) {
        keel_ucp_refuse_message(ucp, wire->rank, why);
        return UCS_OK;
    }
    if (wire->kind == KEEL_SERVICE_WIRE_WELCOME) {
        keel_ucp_link_greet(link, KEEL_SERVICE_WIRE_PING, NULL, 0);
    } else if (wire->kind == KEEL_SERVICE_WIRE_PONG) {
        keel_ucp_link_open_up(link);
        keel_service_silence_end(&ucp->silence);
    } else if (wire->kind == KEEL_SERVICE_WIRE_FAREWELL) {
        link->flags &= ~KEEL_UCP_LINK_LEAVING;
    } else if (wire->kind == KEEL_SERVICE_WIRE_REPLY) {
        if (ucp->is_draining || !ucs_list_is_empty(&ucp->put_aside)) {
            put_aside(ucp, wire, received.header, data, data_len);
        } else {
            ucp->params.on_reply(ucp->params.arg, received.header, wire->header_len, data, data_len);
        }
    }
    return UCS_OK;
}

static void on_broken(void *arg, keel_ucp_link_t *link)
{
    keel_ucp_t *ucp = arg;

    if (is_current(ucp, link->peer, link->instance)) {
        ucp->peers[link->peer]->is_suspect = 1;
        ucp->suspects++;
    }
}

static void report_suspects(keel_ucp_t *ucp)
{
    uint32_t rank;

    ucp->suspects = 0;
    for (rank = 0; rank < ucp->params.size; rank++) {
        if ((ucp->peers[rank] != NULL) && ucp->peers[rank]->is_suspect) {
            ucp->peers[rank]->is_suspect = 0;
            ucp->params.on_suspect(ucp->params.arg, rank);
        }
    }
}

static void check_silence(keel_ucp_t *ucp)
{
    char why[64];
    uint32_t rank;

    if (!keel_service_silence_is_too_long(&ucp->silence, ucp->params.unconnected_s)) {
        return;
    }
    for (rank = 0; (rank < ucp->params.size) && (ucp->peers[rank] == NULL); rank++) {
    }
    /* otherwise all peers are dead, and the next connection restarts the time */
    if (rank < ucp->params.size) {
        snprintf(why, sizeof(why), "no rank has answered in %u s", ucp->params.unconnected_s);
        keel_ucp_refuse_transports(&ucp->params, why);
        if (ucp->params.on_unconnected != NULL) {
            ucp->params.on_unconnected(ucp->params.arg);
        }
    }
}

/* ---- waiting ---- */

static int is_busy(void *arg)
{
    keel_ucp_t *ucp = arg;

    return keel_ucp_port_is_busy(&ucp->main) || keel_ucp_reads_are_pending(&ucp->reads);
}

static void sleep_on_files(void *arg, int bell, unsigned timeout_us)
{
    const struct timespec timeout = {.tv_sec = timeout_us / 1000000, .tv_nsec = (timeout_us % 1000000) * 1000l};
    keel_ucp_t *ucp = arg;
    struct pollfd fds[2] = {{.fd = ucp->main_fd, .events = POLLIN}, {.fd = bell, .events = POLLIN}};

    if (ucp_worker_arm(ucp->main.worker) == UCS_OK) {
        ppoll(fds, 2, &timeout, NULL);
    }
    if (fds[1].revents & POLLIN) {
        keel_shm_bell_clear(bell);
    }
}

static const keel_shm_wait_ops_t wait_ops = {.is_busy = is_busy, .sleep = sleep_on_files};

void keel_ucp_requests_wait(keel_transport_t *transport, unsigned round, unsigned timeout_us, int is_reply_due)
{
    keel_ucp_t *ucp = keel_ucp_of(transport);

    if (ucs_list_is_empty(&ucp->put_aside)) {
        keel_shm_wait(&ucp->wait, round, timeout_us, is_reply_due);
    }
}

void keel_ucp_requests_ring(keel_transport_t *transport, uint32_t rank)
{
    const keel_ucp_peer_t *peer = keel_ucp_of(transport)->peers[rank];

    if ((peer != NULL) && (peer->card != NULL)) {
        keel_shm_sleeper_wake(&peer->card->sleeper);
    }
}

/* ---- open, connect ---- */

keel_status_t keel_ucp_requests_open(keel_ucp_t *ucp)
{
    const keel_ucp_port_params_t params = {.context = ucp->context,
                                           .rank = ucp->params.rank,
                                           .instance = ucp->shm.instance,
                                           .lane = KEEL_SERVICE_REQUESTS,
                                           .on_message = on_message,
                                           .on_broken = on_broken,
                                           .arg = ucp,
                                           .transport = &ucp->params};
    keel_status_t status;

    ucs_list_head_init(&ucp->put_aside);
    status = keel_ucp_port_open(&ucp->main, &params);
    if (status != KEEL_OK) {
        return status;
    }
    if (ucp_worker_get_efd(ucp->main.worker, &ucp->main_fd) != UCS_OK) {
        status = KEEL_ERR_TRANSPORT;
        goto err_port;
    }
    status = keel_shm_wait_open(&ucp->wait, &wait_ops, ucp, ucp->shm.card);
    if (status != KEEL_OK) {
        goto err_port;
    }
    return KEEL_OK;

err_port:
    keel_ucp_port_close(&ucp->main);
    return status;
}

static void peer_free(keel_ucp_peer_t *peer)
{
    if ((peer != NULL) && (peer->card != NULL)) {
        keel_shm_segment_detach(peer->card, peer->card_bytes);
    }
    keel_free(peer);
}

void keel_ucp_requests_close(keel_ucp_t *ucp)
{
    uint32_t rank;

    while (!ucs_list_is_empty(&ucp->put_aside)) {
        keel_free(ucs_list_extract_head(&ucp->put_aside, keel_ucp_late_reply_t, link));
    }
    keel_ucp_port_close(&ucp->main);
    keel_ucp_reads_close(&ucp->reads);
    keel_shm_wait_close(&ucp->wait);
    for (rank = 0; rank < ucp->params.size; rank++) {
        peer_free(ucp->peers[rank]);
    }
}

keel_status_t keel_ucp_requests_connect(keel_ucp_t *ucp, uint32_t rank, const keel_ucp_address_blob_t *address,
                                        keel_shm_card_t *card)
{
    const uint64_t instance = address->head.instance;
    keel_ucp_peer_t *peer;
    keel_status_t status;
    char why[64];

    peer = keel_alloc(sizeof(*peer), "peer");
    if (peer == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    status = keel_ucp_link_make(&ucp->main, rank, instance, keel_ucp_address_service(address), &peer->link);
    if (status != KEEL_OK) {
        goto err_free;
    }
    /* Not a death: a replacement cannot be reached, either. */
    if (peer->link->made == UCS_ERR_UNREACHABLE) {
        snprintf(why, sizeof(why), "they do not reach rank %u", rank);
        keel_ucp_refuse_transports(&ucp->params, why);
        keel_ucp_link_retire(peer->link, 0);
        status = KEEL_ERR_TRANSPORT;
        goto err_free;
    }
    keel_ucp_link_greet(peer->link, KEEL_SERVICE_WIRE_HELLO, ucp->address, ucp->address->head.length);
    peer->instance = instance;
    peer->lanes = keel_ucp_lanes(ucp, card);
    peer->card = card;
    peer->card_bytes = address->card.bytes;
    ucp->peers[rank] = peer;
    if (ucp->params.unconnected_s > 0) {
        keel_service_silence_begin(&ucp->silence);
    }
    atomic_store(&ucp->current[rank], instance);
    keel_ucp_service_wake(ucp);
    return KEEL_OK;

err_free:
    keel_free(peer);
    return status;
}

void keel_ucp_requests_disconnect(keel_transport_t *transport, uint32_t rank)
{
    keel_ucp_t *ucp = keel_ucp_of(transport);
    keel_ucp_peer_t *peer = (rank < ucp->params.size) ? ucp->peers[rank] : NULL;

    if (peer == NULL) {
        return;
    }
    ucp->peers[rank] = NULL; /* from here on the peer's replies are dropped */
    atomic_store(&ucp->dead[rank], peer->instance);
    atomic_store(&ucp->current[rank], 0);
    keel_ucp_service_wake(ucp);
    keel_ucp_reads_disconnect(ucp, rank);
    ucp->is_draining = 1;
    keel_ucp_link_retire(peer->link, 1);
    ucp->is_draining = 0;
    peer_free(peer);
}

keel_status_t keel_ucp_requests_send(keel_transport_t *transport, uint32_t rank, const void *header, size_t header_len,
                                     const void *data, size_t data_len)
{
    keel_ucp_t *ucp = keel_ucp_of(transport);

    if ((rank >= ucp->params.size) || (ucp->peers[rank] == NULL)) {
        return KEEL_ERR_UNREACHABLE;
    }
    ucp->requests++;
    return keel_ucp_link_send(ucp->peers[rank]->link, KEEL_SERVICE_WIRE_REQUEST, header, header_len, data, data_len, 0);
}

/* ---- progress ---- */

unsigned keel_ucp_requests_progress(keel_transport_t *transport)
{
    keel_ucp_t *ucp = keel_ucp_of(transport);
    unsigned events = 0;

    if (!ucs_list_is_empty(&ucp->put_aside)) {
        events += deliver_put_aside(ucp);
    }
    events += keel_ucp_port_progress(&ucp->main);
    events += keel_ucp_reads_progress(ucp);
    if (ucp->suspects > 0) {
        report_suspects(ucp);
        events++;
    }
    check_silence(ucp);
    return events + keel_shm_wait_progressed(&ucp->wait, events);
}
