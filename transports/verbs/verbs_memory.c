/* Memory of the process, and keys to peers' memory. */
#include "verbs_memory.h"
#include "verbs_transport.h"

#include "base/memory.h"
#include "base/message.h"

#include <errno.h>
#include <string.h>

void keel_verbs_memory_find_others(keel_verbs_t *verbs)
{
    const uint32_t *node = verbs->params.node;

    verbs->has_others = !verbs->shm.is_everywhere && (!verbs->shm.is_used || node == NULL);
    for (uint32_t rank = 0; node != NULL && !verbs->shm.is_everywhere && rank < verbs->params.size; rank++) {
        verbs->has_others |= (node[rank] != node[verbs->params.rank]);
    }
}

static void forget_registration(keel_verbs_t *verbs, keel_transport_mem_t *mem)
{
    if (mem->registration != NULL) {
        keel_verbs_unlock(&verbs->device, mem->registration);
        mem->registration = NULL;
        mem->is_atomic = 0;
    }
}

void keel_verbs_memory_close(keel_verbs_t *verbs)
{
    keel_transport_mem_t *mem;

    ucs_list_for_each(mem, &verbs->shm.mems, link)
    {
        forget_registration(verbs, mem);
    }
    keel_verbs_take_back_all(&verbs->loans, &verbs->device);
    keel_verbs_reads_close(&verbs->reads);
}

keel_status_t keel_verbs_memory_reserve(keel_transport_t *transport, const uint64_t *bytes, unsigned count)
{
    return keel_shm_reserve(&keel_verbs_of(transport)->shm, bytes, count);
}

keel_status_t keel_verbs_memory_alloc(keel_transport_t *transport, size_t bytes, void *address,
                                      keel_transport_mem_t **mem_p, void **base_p)
{
    const keel_status_t status = keel_shm_mem_alloc(&keel_verbs_of(transport)->shm, bytes, address, mem_p);

    if (status == KEEL_OK) {
        *base_p = (*mem_p)->segment.base;
    }
    return status;
}

void keel_verbs_memory_free(keel_transport_t *transport, keel_transport_mem_t *mem)
{
    forget_registration(keel_verbs_of(transport), mem);
    keel_shm_mem_free(mem);
}

static void report_refusal(const keel_verbs_t *verbs, size_t bytes, const char *reason)
{
    const keel_verbs_device_t *device = &verbs->device;

    if (device->lockable == SIZE_MAX) {
        keel_warn(
            verbs->params.message,
            "%zu bytes, a window, an image or KEEL_GETLOG_SIZE, cannot be locked (%s): ranks of other nodes reach "
            "them by messages (reported once)",
            bytes, reason);
    } else {
        keel_warn(verbs->params.message,
                  "%zu bytes, a window, an image or KEEL_GETLOG_SIZE, cannot be locked: of the %zu bytes that may be "
                  "(ulimit -l) %zu are in use and %zu are kept for connections; ranks of other nodes reach them by "
                  "messages (reported once)",
                  bytes, device->lockable, device->locked, device->kept);
    }
}

/* If the device supports atomics, reserves memory for results of atomics and for the connection
 * of the process to itself. */
static int keep_own_link(keel_verbs_t *verbs)
{
    const size_t need = 2 * keel_verbs_link_room();

    if (!verbs->keeps_own_link && verbs->device.has_atomics && keel_verbs_room(&verbs->device) >= need &&
        keel_verbs_reads_prepare(&verbs->reads, &verbs->device)) {
        verbs->keeps_own_link = 1;
        verbs->device.kept += need;
    }
    return verbs->keeps_own_link;
}

void keel_verbs_memory_expose(keel_transport_t *transport, keel_transport_mem_t *mem, unsigned lane)
{
    keel_verbs_t *verbs = keel_verbs_of(transport);
    const int is_atomic = (lane & KEEL_LANE_ATOMIC) != 0 && verbs->has_others && keep_own_link(verbs);
    const int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;

    if (!verbs->has_others || mem->registration != NULL) {
        return;
    }
    mem->registration = keel_verbs_lock(&verbs->device, mem->segment.base, mem->segment.bytes,
                                        access | (is_atomic ? IBV_ACCESS_REMOTE_ATOMIC : 0));
    mem->is_atomic = is_atomic && mem->registration != NULL;
    if ((lane & KEEL_LANE_ATOMIC) != 0 && !mem->is_atomic && !verbs->is_no_atomic_reported &&
        verbs->params.message != NULL) {
        verbs->is_no_atomic_reported = 1;
        keel_warn(verbs->params.message, "%s carries out no atomics of this process's windows: %s (reported once)",
                  verbs->device.name,
                  verbs->device.has_atomics ? "no memory can be locked for that (ulimit -l)" : "it has none");
    }
    if (mem->registration == NULL && !verbs->is_refusal_reported && verbs->params.message != NULL) {
        verbs->is_refusal_reported = 1;
        report_refusal(verbs, mem->segment.bytes, strerror(errno));
    }
}

size_t keel_verbs_memory_lendable(keel_transport_t *transport, size_t *limit_p)
{
    const keel_verbs_t *verbs = keel_verbs_of(transport);
    /* the node of a spare is not known yet */
    const int is_far = verbs->has_others || verbs->params.rank == KEEL_RANK_NONE;

    *limit_p = verbs->device.lockable;
    return is_far ? keel_verbs_room(&verbs->device) : SIZE_MAX;
}

keel_status_t keel_verbs_memory_pack(keel_transport_t *transport, keel_transport_mem_t *mem, void *blob,
                                     size_t *length_p)
{
    const struct ibv_mr *mr = mem->registration;
    keel_verbs_key_blob_t key = {.lanes = (mr != NULL) ? KEEL_LANE_RMA | (mem->is_atomic ? KEEL_LANE_ATOMIC : 0) : 0,
                                 .remote_key = (mr != NULL) ? mr->rkey : 0};
    keel_status_t status;

    if (*length_p < sizeof(key)) {
        return KEEL_ERR_INVALID_PARAM;
    }
    status = keel_shm_segment_identify(&mem->segment, &key.segment);
    if (status != KEEL_OK) {
        return status;
    }
    key.segment.bytes = mem->segment.bytes; /* also for private memory */
    keel_shm_blob_seal(&key, KEEL_VERBS_BLOB_KEY, sizeof(key), keel_verbs_of(transport)->shm.instance);
    memcpy(blob, &key, sizeof(key));
    *length_p = sizeof(key);
    return KEEL_OK;
}

void keel_verbs_memory_lend(keel_transport_t *transport, void *base, size_t bytes)
{
    /* without memory longer puts go by messages */
    (void)keel_verbs_lend(&keel_verbs_of(transport)->loans, base, bytes);
}

static keel_status_t open_remote(keel_verbs_t *verbs, const keel_verbs_key_blob_t *packed, unsigned lane,
                                 keel_transport_key_t **key_p)
{
    keel_transport_key_t *key;

    if (!(packed->lanes & lane)) {
        return KEEL_ERR_UNSUPPORTED;
    }
    key = keel_alloc(sizeof(*key), "key");
    if (key == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    key->bytes = packed->segment.bytes;
    ucs_list_add_tail(&verbs->shm.keys, &key->link);
    *key_p = key;
    return KEEL_OK;
}

static keel_status_t open_key(keel_verbs_t *verbs, uint32_t peer, const keel_verbs_key_blob_t *packed,
                              keel_transport_key_t **key_p)
{
    if (peer == verbs->params.rank) {
        return open_remote(verbs, packed, KEEL_LANE_ATOMIC, key_p);
    }
    return (verbs->peers[peer]->lanes & KEEL_LANE_PTR) ? keel_shm_key_open(&verbs->shm, &packed->segment, key_p)
                                                       : open_remote(verbs, packed, KEEL_LANE_RMA, key_p);
}

keel_status_t keel_verbs_memory_key_open(keel_transport_t *transport, uint32_t peer, const void *blob, size_t length,
                                         uint64_t remote_base, keel_transport_key_t **key_p)
{
    keel_verbs_t *verbs = keel_verbs_of(transport);
    keel_verbs_key_blob_t packed;
    keel_status_t status;

    if (keel_shm_blob_check(blob, length, KEEL_VERBS_BLOB_KEY, sizeof(packed)) != KEEL_OK || length != sizeof(packed)) {
        return KEEL_ERR_CORRUPT;
    }
    memcpy(&packed, blob, sizeof(packed));
    if (peer != verbs->params.rank && (peer >= verbs->params.size || verbs->peers[peer] == NULL ||
                                       verbs->peers[peer]->address.head.instance != packed.head.instance)) {
        return KEEL_ERR_UNREACHABLE;
    }
    status = open_key(verbs, peer, &packed, key_p);
    if (status == KEEL_OK) {
        (*key_p)->peer = peer;
        (*key_p)->remote_base = remote_base;
        (*key_p)->remote_key = packed.remote_key;
        (*key_p)->is_atomic = (packed.lanes & KEEL_LANE_ATOMIC) != 0;
    }
    return status;
}

int keel_verbs_memory_key_is_atomic(const keel_transport_key_t *key)
{
    return key->is_atomic;
}
