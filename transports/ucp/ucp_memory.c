/*
 * Memory of this process, and keys to peers' memory. Memory that peers read is registered with the
 * network as a whole while the lockable bytes suffice: half of them belongs to UCX (ucp_demands.h),
 * the other half to registrations.
 */
#include "ucp_memory.h"
#include "ucp_transport.h"

#include "base/memory.h"
#include "base/message.h"

#include <string.h>
#include <unistd.h>

/* length of UCP's packed key of memory registered with no device: set of devices, and kind of
 * memory */
enum { RKEY_OF_NONE = 9 };

typedef struct registration {
    ucp_mem_h handle;
    size_t locked;
    size_t length;
    unsigned char packed[KEEL_UCP_RKEY_MAX];
} registration_t;

void keel_ucp_memory_find_others(keel_ucp_t *ucp)
{
    const uint32_t *node = ucp->params.node;
    uint32_t rank;

    ucp->has_others = !ucp->shm.is_everywhere && (!ucp->shm.is_used || (node == NULL));
    for (rank = 0; (node != NULL) && !ucp->shm.is_everywhere && (rank < ucp->params.size); rank++) {
        ucp->has_others |= (node[rank] != node[ucp->params.rank]);
    }
}

static void forget_registration(keel_ucp_t *ucp, keel_transport_mem_t *mem)
{
    registration_t *registration = mem->registration;

    if (registration != NULL) {
        ucp_mem_unmap(ucp->context, registration->handle);
        ucp->locked -= registration->locked;
        keel_free(registration);
        mem->registration = NULL;
    }
}

void keel_ucp_memory_close(keel_ucp_t *ucp)
{
    keel_transport_mem_t *mem;
    keel_transport_key_t *key;

    ucs_list_for_each(mem, &ucp->shm.mems, link)
    {
        forget_registration(ucp, mem);
    }
    ucs_list_for_each(key, &ucp->shm.keys, link)
    {
        if (key->remote != NULL) {
            keel_ucp_remote_release(key->remote);
            key->remote = NULL;
        }
    }
}

keel_status_t keel_ucp_memory_reserve(keel_transport_t *transport, const uint64_t *bytes, unsigned count)
{
    return keel_shm_reserve(&keel_ucp_of(transport)->shm, bytes, count);
}

keel_status_t keel_ucp_memory_alloc(keel_transport_t *transport, size_t bytes, void *address,
                                    keel_transport_mem_t **mem_p, void **base_p)
{
    const keel_status_t status = keel_shm_mem_alloc(&keel_ucp_of(transport)->shm, bytes, address, mem_p);

    if (status == KEEL_OK) {
        *base_p = (*mem_p)->segment.base;
    }
    return status;
}

void keel_ucp_memory_free(keel_transport_t *transport, keel_transport_mem_t *mem)
{
    forget_registration(keel_ucp_of(transport), mem);
    keel_shm_mem_free(mem);
}

/* ---- own memory ---- */

static int pack(const keel_ucp_t *ucp, registration_t *registration)
{
    size_t length = 0;
    void *packed;

    if (ucp_rkey_pack(ucp->context, registration->handle, &packed, &length) != UCS_OK) {
        return 0;
    }
    if (length <= sizeof(registration->packed)) {
        memcpy(registration->packed, packed, length);
        registration->length = length;
    }
    ucp_rkey_buffer_release(packed);
    return (registration->length > 0) && ((length > RKEY_OF_NONE) || ucp->reads.is_emulated);
}

/* NULL: no device registers the memory */
static registration_t *register_memory(const keel_ucp_t *ucp, void *base, size_t bytes)
{
    const ucp_mem_map_params_t params = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH,
                                         .address = base,
                                         .length = bytes};
    registration_t *registration = keel_alloc(sizeof(*registration), "registration");

    if (registration == NULL) {
        return NULL;
    }
    if (ucp_mem_map(ucp->context, &params, &registration->handle) != UCS_OK) {
        goto err_free;
    }
    if (!pack(ucp, registration)) {
        goto err_unmap;
    }
    return registration;

err_unmap:
    ucp_mem_unmap(ucp->context, registration->handle);
err_free:
    keel_free(registration);
    return NULL;
}

static void report_refusal(keel_ucp_t *ucp, size_t bytes)
{
    if (ucp->is_refusal_reported || (ucp->params.message == NULL)) {
        return;
    }
    ucp->is_refusal_reported = 1;
    if (ucp->lockable == SIZE_MAX) {
        keel_warn(ucp->params.message,
                  "%zu bytes, of an image or of parity, cannot be registered with KEEL_TLS_SERVED=%s: ranks of other "
                  "nodes read them by messages (reported once)",
                  bytes, ucp->params.tls_served);
    } else {
        keel_warn(
            ucp->params.message,
            "%zu bytes, of an image or of parity, cannot be locked: of the %zu bytes that may be (ulimit -l) half "
            "are UCX's, and %zu of the other half are in use; ranks of other nodes read them by messages (reported "
            "once)",
            bytes, ucp->lockable, ucp->locked);
    }
}

void keel_ucp_memory_expose(keel_transport_t *transport, keel_transport_mem_t *mem, unsigned lane)
{
    keel_ucp_t *ucp = keel_ucp_of(transport);
    const size_t page = (size_t)sysconf(_SC_PAGESIZE),
                 /* the memory begins at a page boundary */
        bytes = (mem->segment.bytes + page - 1) / page * page;
    registration_t *registration = NULL;

    if (!ucp->reads.is_offered || (lane != KEEL_LANE_READ) || !ucp->has_others || (mem->registration != NULL)) {
        return;
    }
    if ((ucp->lockable == SIZE_MAX) || (bytes + ucp->locked <= ucp->lockable / 2)) {
        registration = register_memory(ucp, mem->segment.base, mem->segment.bytes);
    }
    if (registration == NULL) {
        report_refusal(ucp, mem->segment.bytes);
        return;
    }
    registration->locked = bytes;
    ucp->locked += bytes;
    mem->registration = registration;
}

keel_status_t keel_ucp_memory_pack(keel_transport_t *transport, keel_transport_mem_t *mem, void *blob, size_t *length_p)
{
    const registration_t *registration = mem->registration;
    unsigned char room[KEEL_UCP_KEY_MAX] = {0};
    keel_ucp_key_blob_t key = {.rkey_len = (registration != NULL) ? (uint32_t)registration->length : 0};
    const size_t length = keel_ucp_key_length(key.rkey_len);
    keel_status_t status;

    if (*length_p < length) {
        return KEEL_ERR_INVALID_PARAM;
    }
    status = keel_shm_segment_identify(&mem->segment, &key.segment);
    if (status != KEEL_OK) {
        return status;
    }
    key.segment.bytes = mem->segment.bytes; /* also for private memory */
    memcpy(room, &key, sizeof(key));
    if (registration != NULL) {
        memcpy(room + sizeof(key), registration->packed, registration->length);
    }
    keel_shm_blob_seal(room, KEEL_UCP_BLOB_KEY, length, keel_ucp_of(transport)->shm.instance);
    memcpy(blob, room, length);
    *length_p = length;
    return KEEL_OK;
}

/* ---- peers' memory ---- */

static keel_status_t open_remote(keel_ucp_t *ucp, uint32_t peer, const keel_ucp_key_blob_t *packed, const void *rkey,
                                 uint64_t remote_base, keel_transport_key_t **key_p)
{
    keel_transport_key_t *key;

    if (!(ucp->peers[peer]->lanes & KEEL_LANE_READ) || (packed->rkey_len == 0)) {
        return KEEL_ERR_UNSUPPORTED;
    }
    key = keel_alloc(sizeof(*key), "key");
    if (key == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    *key = (keel_transport_key_t){.bytes = packed->segment.bytes,
                                  .remote_base = remote_base,
                                  .peer = peer,
                                  .remote = keel_ucp_remote_make(packed->head.instance, rkey, packed->rkey_len)};
    if (key->remote == NULL) {
        keel_free(key);
        return KEEL_ERR_NO_MEMORY;
    }
    ucs_list_add_tail(&ucp->shm.keys, &key->link);
    *key_p = key;
    return KEEL_OK;
}

keel_status_t keel_ucp_memory_key_open(keel_transport_t *transport, uint32_t peer, const void *blob, size_t length,
                                       uint64_t remote_base, keel_transport_key_t **key_p)
{
    keel_ucp_t *ucp = keel_ucp_of(transport);
    keel_ucp_key_blob_t packed;

    if (keel_ucp_key_check(blob, length) != KEEL_OK) {
        return KEEL_ERR_CORRUPT;
    }
    memcpy(&packed, blob, sizeof(packed));
    if ((peer >= ucp->params.size) || (ucp->peers[peer] == NULL) ||
        (ucp->peers[peer]->instance != packed.head.instance)) {
        return KEEL_ERR_UNREACHABLE;
    }
    return (ucp->peers[peer]->lanes & KEEL_LANE_PTR)
               ? keel_shm_key_open(&ucp->shm, &packed.segment, key_p)
               : open_remote(ucp, peer, &packed, (const char *)blob + sizeof(packed), remote_base, key_p);
}

void keel_ucp_memory_key_close(keel_transport_t *transport, keel_transport_key_t *key)
{
    if (key->remote != NULL) {
        keel_ucp_remote_release(key->remote);
    }
    keel_shm_key_close(transport, key);
}
