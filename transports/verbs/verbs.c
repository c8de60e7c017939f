/*
 * Ops table of the transport, opening and closing, and connecting.
 *
 * From the thread inside Keel of a process to the service side of another process there is one
 * queue pair, created at first use: requests and puts in one order, and replies back. Within a node
 * memory is shared (shm/shm_memory.h).
 */
#include "verbs.h"
#include "verbs_memory.h"
#include "verbs_requests.h"
#include "verbs_rma.h"
#include "verbs_transport.h"
#include "verbs_service.h"

#include "base/memory.h"
#include "base/message.h"
#include "service/service_files.h"
#include "service/service_locked.h"

#include <string.h>

enum { FILES = 12 /* files of the device, and files that both threads wait for */ };

static keel_status_t allocate(const keel_transport_params_t *params, keel_verbs_t **verbs_p)
{
    keel_verbs_t *verbs = keel_alloc(sizeof(*verbs), "verbs transport");

    if (verbs == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    verbs->super.ops = &keel_transport_verbs_ops;
    verbs->params = *params;
    verbs->peers = keel_alloc(params->size * sizeof(*verbs->peers), "peers");
    verbs->current = keel_alloc(params->size * sizeof(*verbs->current), "instances");
    verbs->dead = keel_alloc(params->size * sizeof(*verbs->dead), "instances");
    if (verbs->peers == NULL || verbs->current == NULL || verbs->dead == NULL) {
        keel_free(verbs->peers);
        keel_free(verbs->current);
        keel_free(verbs->dead);
        keel_free(verbs);
        return KEEL_ERR_NO_MEMORY;
    }
    *verbs_p = verbs;
    return KEEL_OK;
}

static void release(keel_verbs_t *verbs)
{
    keel_free(verbs->peers);
    keel_free(verbs->current);
    keel_free(verbs->dead);
    keel_free(verbs);
}

/* connections of a process: one to the service thread of each rank, and one from there */
static size_t connections(uint32_t size)
{
    return (size_t)2 * (size - 1);
}

/* checks the memory for connections to all ranks; a job would end when it meets the limit */
static keel_status_t demand_memory(const keel_transport_params_t *params)
{
    const size_t limit = keel_service_lockable(), need = connections(params->size) * keel_verbs_link_bytes();

    if (need <= limit) {
        return KEEL_OK;
    }
    if (params->message != NULL) {
        keel_error(
            params->message,
            "the limit on locked memory is too low: it is %zu bytes (ulimit -l), and connections to the other %u "
            "ranks take %zu",
            limit, params->size - 1, need);
    }
    return KEEL_ERR_BUDGET;
}

static keel_status_t make_address(keel_verbs_t *verbs)
{
    keel_verbs_address_t *address = &verbs->address;
    keel_status_t status;
    unsigned hosts;

    *address = (keel_verbs_address_t){.rank = verbs->params.rank, .port = verbs->service.listens_at};
    status = keel_shm_identify(&verbs->shm, &address->card);
    if (status == KEEL_OK) {
        status = keel_verbs_choose_host(&verbs->params, address->host, &hosts);
    }
    if (status == KEEL_OK) {
        if (hosts == 0) {
            hosts = keel_verbs_hosts(verbs->device.gid.raw, address->host, KEEL_VERBS_HOSTS_MAX);
        }
        address->hosts = (uint16_t)hosts;
        keel_shm_blob_seal(address, KEEL_VERBS_BLOB_ADDRESS, sizeof(*address), verbs->shm.instance);
    }
    return status;
}

static void set_wire(keel_service_wire_t *wire, const keel_verbs_t *verbs)
{
    wire->rank = verbs->params.rank;
    wire->instance = verbs->shm.instance;
}

static keel_status_t transport_take_rank(keel_transport_t *transport, uint32_t rank)
{
    keel_verbs_t *verbs = keel_verbs_of(transport);
    keel_status_t status;

    verbs->params.rank = rank;
    keel_verbs_memory_find_others(verbs);
    set_wire(&verbs->main.wire, verbs);
    set_wire(&verbs->service.port.wire, verbs);
    status = make_address(verbs);
    return (status == KEEL_OK) ? keel_service_loop_start(&verbs->service.loop) : status;
}

static keel_status_t open_parts(keel_verbs_t *verbs)
{
    keel_status_t status = keel_shm_open(&verbs->shm, &verbs->params);

    if (status != KEEL_OK) {
        return status;
    }
    status = keel_verbs_device_open(&verbs->device, &verbs->params);
    if (status != KEEL_OK) {
        goto err_shm;
    }
    verbs->device.kept = connections(verbs->params.size) * keel_verbs_link_room() + keel_verbs_reads_bytes();
    status = keel_verbs_requests_open(verbs);
    if (status != KEEL_OK) {
        goto err_device;
    }
    status = keel_verbs_service_open(verbs);
    if (status == KEEL_OK) {
        return KEEL_OK;
    }
    keel_verbs_requests_close(verbs);
err_device:
    keel_verbs_device_close(&verbs->device);
err_shm:
    keel_shm_close(&verbs->shm);
    return status;
}

static void close_parts(keel_verbs_t *verbs)
{
    keel_verbs_service_close(verbs);
    keel_verbs_requests_close(verbs);
    keel_verbs_memory_close(verbs);
    keel_verbs_device_close(&verbs->device);
    keel_shm_close(&verbs->shm);
}

static keel_status_t transport_open(const keel_transport_params_t *params, keel_transport_t **transport_p)
{
    keel_status_t status;
    keel_verbs_t *verbs;

    if (params->size == 0 || (params->rank >= params->size && params->rank != KEEL_RANK_NONE)) {
        return KEEL_ERR_INVALID_PARAM;
    }
    status = keel_service_demand_files(params, FILES);
    if (status == KEEL_OK) {
        status = demand_memory(params);
    }
    if (status == KEEL_OK) {
        status = allocate(params, &verbs);
    }
    if (status != KEEL_OK) {
        return status;
    }
    status = open_parts(verbs);
    if (status != KEEL_OK) {
        goto err_release;
    }
    if (params->rank != KEEL_RANK_NONE) {
        status = transport_take_rank(&verbs->super, params->rank);
        if (status != KEEL_OK) {
            goto err_parts;
        }
    }
    *transport_p = &verbs->super;
    return KEEL_OK;

err_parts:
    close_parts(verbs);
err_release:
    release(verbs);
    return status;
}

/* for comparison with other transports (tests/rdma/counts.sh) */
static void print_counts(const keel_verbs_t *verbs)
{
    const keel_verbs_port_t *port = &verbs->main, *service = &verbs->service.port;

    if (verbs->params.message != NULL) {
        keel_info(
            verbs->params.message,
            "%s: %llu puts of %llu bytes by the device, %llu gets of %llu, %llu atomics; with requests %llu posts, "
            "%llu completions; for others %llu posts, %llu completions",
            verbs->device.name, (unsigned long long)port->puts, (unsigned long long)port->put_bytes,
            (unsigned long long)verbs->reads.count, (unsigned long long)verbs->reads.bytes,
            (unsigned long long)port->atomics, (unsigned long long)port->posts, (unsigned long long)port->completions,
            (unsigned long long)service->posts, (unsigned long long)service->completions);
    }
}

/* The service thread serves until the last request of this process is on its way, then sends its
 * own replies. */
static void transport_close(keel_transport_t *transport)
{
    keel_verbs_t *verbs = keel_verbs_of(transport);

    if (verbs->service.loop.is_running) {
        keel_verbs_requests_drain(verbs);
        keel_service_loop_stop(&verbs->service.loop);
    }
    print_counts(verbs);
    keel_service_report_refused(&verbs->refused, &verbs->params);
    close_parts(verbs);
    release(verbs);
}

static keel_status_t transport_address(keel_transport_t *transport, const void **address_p, size_t *length_p)
{
    *address_p = &keel_verbs_of(transport)->address;
    *length_p = sizeof(keel_verbs_address_t);
    return KEEL_OK;
}

static keel_status_t transport_connect(keel_transport_t *transport, uint32_t peer, const void *address, size_t length,
                                       unsigned *lanes_p)
{
    keel_verbs_t *verbs = keel_verbs_of(transport);
    keel_verbs_address_t copy;
    keel_status_t status;

    if (peer >= verbs->params.size) {
        return KEEL_ERR_RANK;
    }
    status = keel_shm_blob_check_address(verbs->params.message, transport->ops->name, peer, address, length,
                                         KEEL_VERBS_BLOB_ADDRESS, sizeof(copy));
    if (status != KEEL_OK || length != sizeof(copy)) {
        return (status != KEEL_OK) ? status : KEEL_ERR_CORRUPT;
    }
    memcpy(&copy, address, sizeof(copy)); /* aligned */
    if (copy.rank != peer || copy.hosts > KEEL_VERBS_HOSTS_MAX) {
        return KEEL_ERR_CORRUPT;
    }
    if (verbs->peers[peer] != NULL) {
        return KEEL_ERR_STATE; /* the previous incarnation was not disconnected */
    }
    return keel_verbs_requests_connect(verbs, &copy, lanes_p);
}

const keel_transport_ops_t keel_transport_verbs_ops = {
    .name = "verbs",
    .describe = "libibverbs: direct over shared memory within a node, else over an RDMA device: puts, gets and images "
                "by it, the rest served",
    .open = transport_open,
    .close = transport_close,
    .reserve = keel_verbs_memory_reserve,
    .take_rank = transport_take_rank,
    .address = transport_address,
    .connect = transport_connect,
    .disconnect = keel_verbs_requests_disconnect,
    .mem_alloc = keel_verbs_memory_alloc,
    .mem_free = keel_verbs_memory_free,
    .mem_expose = keel_verbs_memory_expose,
    .mem_pack = keel_verbs_memory_pack,
    .lend = keel_verbs_memory_lend,
    .lendable = keel_verbs_memory_lendable,
    .key_open = keel_verbs_memory_key_open,
    .key_close = keel_shm_key_close,
    .key_ptr = keel_shm_key_ptr,
    .key_is_atomic = keel_verbs_memory_key_is_atomic,
    .key_replace = keel_shm_key_replace,
    .put = keel_verbs_rma_put,
    .get = keel_verbs_rma_get,
    .put_record = keel_verbs_rma_put_record,
    .atomic = keel_verbs_rma_atomic,
    .fence = keel_verbs_rma_fence,
    .flush = keel_verbs_rma_flush,
    .send = keel_verbs_requests_send,
    .reply_room = keel_verbs_service_reply_room,
    .reply = keel_verbs_service_reply,
    .max_data = KEEL_MESSAGE_DATA_MAX,
    .progress = keel_verbs_requests_progress,
    .wait = keel_verbs_requests_wait,
    .ring = keel_verbs_requests_ring,
};
