/*
 * Ops table of the transport, opening and closing, and connecting.
 *
 * A process has one UCP context, used only for the network, with two workers: the main worker sends
 * requests and receives replies; the service worker receives requests and sends replies on its own
 * thread. Within a node memory is shared without UCP (shm_segment.h): UCP would create segments by
 * name first, which a process killed at that moment leaves behind, and UCP crashes if a peer dies
 * while its key is being unpacked.
 */
#include "ucp_ops.h"
#include "ucp_demands.h"
#include "ucp_memory.h"
#include "ucp_settings.h"
#include "ucp_transport.h"

#include "base/memory.h"
#include "base/message.h"
#include "service/service_locked.h"

#include <string.h>

enum { DRAIN_MS = 2000 };

static keel_status_t network_open(keel_ucp_t *ucp)
{
    const keel_transport_params_t *params = &ucp->params;
    const ucp_params_t ucp_params = {
        .field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_MT_WORKERS_SHARED | UCP_PARAM_FIELD_NAME,
        .features = UCP_FEATURE_AM | UCP_FEATURE_WAKEUP | (ucp->reads.is_offered ? UCP_FEATURE_RMA : 0),
        .mt_workers_shared = 1,
        .name = "keel"};
    ucp_config_t *config;
    const char *interface;
    ucs_status_t status;

    if (keel_ucp_choose_interface(params, &interface) != KEEL_OK) {
        return KEEL_ERR_TRANSPORT;
    }
    status = keel_ucp_settings_read(params, interface, ucp->lockable, &config);
    if (status == UCS_OK) {
        status = ucp_init(&ucp_params, config, &ucp->context);
        ucp_config_release(config);
    }
    if (status != UCS_OK) {
        keel_ucp_refuse_transports(params, ucs_status_string(status));
    }
    return (status == UCS_OK) ? KEEL_OK : KEEL_ERR_TRANSPORT;
}

static keel_status_t make_address(keel_ucp_t *ucp)
{
    keel_shm_segment_id_t card;
    ucp_address_t *main_address, *service_address;
    size_t main_len, service_len;
    keel_status_t status;

    status = keel_shm_identify(&ucp->shm, &card);
    if (status != KEEL_OK) {
        return status;
    }
    if (ucp_worker_get_address(ucp->main.worker, &main_address, &main_len) != UCS_OK) {
        return KEEL_ERR_TRANSPORT;
    }
    if (ucp_worker_get_address(ucp->service.port.worker, &service_address, &service_len) != UCS_OK) {
        ucp_worker_release_address(ucp->main.worker, main_address);
        return KEEL_ERR_TRANSPORT;
    }
    ucp->address = keel_ucp_address_make(ucp->params.rank, ucp->shm.instance, main_address, main_len, service_address,
                                         service_len, &card);
    ucp_worker_release_address(ucp->main.worker, main_address);
    ucp_worker_release_address(ucp->service.port.worker, service_address);
    return (ucp->address != NULL) ? KEEL_OK : KEEL_ERR_NO_MEMORY;
}

static keel_status_t allocate(const keel_transport_params_t *params, keel_ucp_t **ucp_p)
{
    keel_ucp_t *ucp = keel_alloc(sizeof(*ucp), "ucp transport");

    if (ucp == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    ucp->super.ops = &keel_transport_ucp_ops;
    ucp->params = *params;
    ucp->reads.is_offered = keel_ucp_is_rdma(params->tls_served);
    ucp->lockable = keel_service_lockable();
    ucp->peers = keel_alloc(params->size * sizeof(*ucp->peers), "peers");
    ucp->current = keel_alloc(params->size * sizeof(*ucp->current), "instances");
    ucp->dead = keel_alloc(params->size * sizeof(*ucp->dead), "instances");
    if ((ucp->peers == NULL) || (ucp->current == NULL) || (ucp->dead == NULL)) {
        keel_free(ucp->peers);
        keel_free(ucp->current);
        keel_free(ucp->dead);
        keel_free(ucp);
        return KEEL_ERR_NO_MEMORY;
    }
    *ucp_p = ucp;
    return KEEL_OK;
}

static void release(keel_ucp_t *ucp)
{
    keel_free(ucp->peers);
    keel_free(ucp->current);
    keel_free(ucp->dead);
    keel_free(ucp->address);
    keel_free(ucp);
}

static keel_status_t transport_take_rank(keel_transport_t *transport, uint32_t rank)
{
    keel_ucp_t *ucp = keel_ucp_of(transport);
    keel_status_t status;

    ucp->params.rank = ucp->main.wire.rank = ucp->service.port.wire.rank = rank;
    keel_ucp_memory_find_others(ucp);
    status = make_address(ucp);
    return (status == KEEL_OK) ? keel_service_loop_start(&ucp->service.loop) : status;
}

static keel_status_t transport_open(const keel_transport_params_t *params, keel_transport_t **transport_p)
{
    keel_status_t status;
    keel_ucp_t *ucp;

    if ((params->size == 0) || ((params->rank >= params->size) && (params->rank != KEEL_RANK_NONE))) {
        return KEEL_ERR_INVALID_PARAM;
    }
    status = keel_ucp_demand_files(params, 0);
    if (status != KEEL_OK) {
        return status;
    }
    status = allocate(params, &ucp);
    if (status != KEEL_OK) {
        return status;
    }
    status = keel_shm_open(&ucp->shm, &ucp->params);
    if (status != KEEL_OK) {
        goto err_release;
    }
    status = network_open(ucp);
    if (status != KEEL_OK) {
        goto err_direct;
    }
    status = keel_ucp_requests_open(ucp);
    if (status != KEEL_OK) {
        goto err_network;
    }
    status = keel_ucp_service_open(ucp);
    if (status != KEEL_OK) {
        goto err_served;
    }
    status = keel_ucp_demand_files(params, 1);
    if (status != KEEL_OK) {
        goto err_service;
    }
    if (params->rank != KEEL_RANK_NONE) {
        status = transport_take_rank(&ucp->super, params->rank);
        if (status != KEEL_OK) {
            goto err_service;
        }
    }
    *transport_p = &ucp->super;
    return KEEL_OK;

err_service:
    keel_ucp_service_close(ucp);
err_served:
    keel_ucp_requests_close(ucp);
err_network:
    ucp_cleanup(ucp->context);
err_direct:
    keel_shm_close(&ucp->shm);
err_release:
    release(ucp);
    return status;
}

static void print_counts(const keel_ucp_t *ucp)
{
    if (ucp->reads.is_offered && (ucp->params.message != NULL)) {
        keel_info(ucp->params.message, "%s: %llu gets of %llu bytes by the device, %llu requests",
                  ucp->params.tls_served, (unsigned long long)ucp->reads.count, (unsigned long long)ucp->reads.bytes,
                  (unsigned long long)ucp->requests);
    }
}

/* The service thread serves until the last request of this process is on its way, then sends its
 * own replies. */
static void transport_close(keel_transport_t *transport)
{
    keel_ucp_t *ucp = keel_ucp_of(transport);

    if (ucp->service.loop.is_running) {
        ucp->is_draining = 1;
        keel_ucp_port_drain(&ucp->main, KEEL_SERVICE_WIRE_BYE, DRAIN_MS);
        keel_service_loop_stop(&ucp->service.loop);
    }
    keel_ucp_service_close(ucp);
    keel_service_report_refused(&ucp->refused, &ucp->params);
    keel_ucp_memory_close(ucp);
    keel_ucp_requests_close(ucp);
    ucp_cleanup(ucp->context);
    print_counts(ucp);
    keel_shm_close(&ucp->shm);
    release(ucp);
}

static keel_status_t transport_address(keel_transport_t *transport, const void **address_p, size_t *length_p)
{
    keel_ucp_t *ucp = keel_ucp_of(transport);

    *address_p = ucp->address;
    *length_p = ucp->address->head.length;
    return KEEL_OK;
}

static keel_status_t transport_connect(keel_transport_t *transport, uint32_t peer, const void *address, size_t length,
                                       unsigned *lanes_p)
{
    keel_ucp_t *ucp = keel_ucp_of(transport);
    keel_ucp_address_blob_t *blob;
    keel_shm_card_t *card;
    keel_status_t status;

    if (peer >= ucp->params.size) {
        return KEEL_ERR_RANK;
    }
    status = keel_shm_blob_check_address(ucp->params.message, transport->ops->name, peer, address, length,
                                         KEEL_UCP_BLOB_ADDRESS, sizeof(*blob));
    status = (status == KEEL_OK) ? keel_ucp_address_check(address, length) : status;
    if (status != KEEL_OK) {
        return status;
    }
    blob = keel_alloc(length, "peer address"); /* aligned */
    if (blob == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    memcpy(blob, address, length);
    if (blob->rank != peer) {
        status = KEEL_ERR_CORRUPT;
    } else if (ucp->peers[peer] != NULL) {
        status = KEEL_ERR_STATE; /* the previous incarnation was not disconnected */
    } else {
        status = keel_shm_attach(&ucp->shm, peer, blob->head.instance, &blob->card, &card);
        *lanes_p = keel_ucp_lanes(ucp, card);
        status = (status == KEEL_OK) ? keel_ucp_requests_connect(ucp, peer, blob, card) : status;
        if ((status != KEEL_OK) && (card != NULL)) {
            keel_shm_segment_detach(card, blob->card.bytes);
        }
    }
    keel_free(blob);
    return status;
}

/* ---- KEEL_LANE_RMA is not offered: UCP's own emulation would replace missing features of a
 * device ---- */

static keel_status_t no_put(keel_transport_t *transport, keel_transport_key_t *key, const keel_transport_put_t *puts,
                            unsigned *count_p)
{
    *count_p = 0;
    return KEEL_ERR_UNSUPPORTED;
}

static void no_fence(keel_transport_t *transport)
{
}

static keel_status_t no_flush(keel_transport_t *transport, uint32_t peer, keel_transport_done_cb_t cb, void *arg)
{
    return KEEL_ERR_UNSUPPORTED;
}

const char *keel_ucp_library_version(void)
{
    return ucp_get_version_string();
}

const keel_transport_ops_t keel_transport_ucp_ops = {
    .name = "ucp",
    .describe = "UCX: direct over shared memory within a node, served over the network (tcp by default; over RDMA "
                "images are read directly)",
    .open = transport_open,
    .close = transport_close,
    .reserve = keel_ucp_memory_reserve,
    .take_rank = transport_take_rank,
    .address = transport_address,
    .connect = transport_connect,
    .disconnect = keel_ucp_requests_disconnect,
    .mem_alloc = keel_ucp_memory_alloc,
    .mem_free = keel_ucp_memory_free,
    .mem_expose = keel_ucp_memory_expose,
    .mem_pack = keel_ucp_memory_pack,
    .key_open = keel_ucp_memory_key_open,
    .key_close = keel_ucp_memory_key_close,
    .key_ptr = keel_shm_key_ptr,
    .key_replace = keel_shm_key_replace,
    .put = no_put,
    .get = keel_ucp_reads_get,
    .fence = no_fence,
    .flush = no_flush,
    .send = keel_ucp_requests_send,
    .reply_room = keel_ucp_service_reply_room,
    .reply = keel_ucp_service_reply,
    .max_data = KEEL_MESSAGE_DATA_MAX,
    .progress = keel_ucp_requests_progress,
    .wait = keel_ucp_requests_wait,
    .ring = keel_ucp_requests_ring,
};
