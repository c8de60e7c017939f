/* Messages and their pools. */
#include "service_message.h"

#include "base/memory.h"

#include <limits.h>
#include <string.h>

enum {
    SMALL_CHUNK = 512, /* messages allocated together */
    LARGE_CHUNK = 8,
    CACHE_LINE = 64
};

static ucs_status_t chunk_alloc(ucs_mpool_t *pool, size_t *size_p, void **chunk_p)
{
    *chunk_p = keel_alloc(*size_p, "messages");
    return (*chunk_p != NULL) ? UCS_OK : UCS_ERR_NO_MEMORY;
}

static void chunk_release(ucs_mpool_t *pool, void *chunk)
{
    keel_free(chunk);
}

static ucs_mpool_ops_t message_pool_ops = {.chunk_alloc = chunk_alloc, .chunk_release = chunk_release};

static keel_status_t pool_open(ucs_mpool_t *pool, size_t copy, unsigned chunk)
{
    void *first;

    if (ucs_mpool_init(pool, 0, sizeof(keel_service_message_t) + copy, 0, CACHE_LINE, chunk, UINT_MAX,
                       &message_pool_ops, "keel_messages") != UCS_OK) {
        return KEEL_ERR_NO_MEMORY;
    }
    first = ucs_mpool_get(pool);
    if (first == NULL) {
        ucs_mpool_cleanup(pool, 0);
        return KEEL_ERR_NO_MEMORY;
    }
    ucs_mpool_put(first);
    return KEEL_OK;
}

keel_status_t keel_service_pools_open(keel_service_pools_t *pools, size_t small_copy, size_t large_copy)
{
    keel_status_t status;

    pools->small_copy = small_copy;
    pools->large_copy = large_copy;
    status = pool_open(&pools->small, small_copy, SMALL_CHUNK);
    if ((status != KEEL_OK) || (large_copy == 0)) {
        return status;
    }
    status = pool_open(&pools->large, large_copy, LARGE_CHUNK);
    if (status != KEEL_OK) {
        ucs_mpool_cleanup(&pools->small, 0);
    }
    return status;
}

void keel_service_pools_close(keel_service_pools_t *pools)
{
    ucs_mpool_cleanup(&pools->small, 0);
    if (pools->large_copy > 0) {
        ucs_mpool_cleanup(&pools->large, 0);
    }
}

keel_service_message_t *keel_service_message_get(keel_service_pools_t *pools, size_t copy)
{
    if (copy <= pools->small_copy) {
        return ucs_mpool_get(&pools->small);
    }
    return (copy <= pools->large_copy) ? ucs_mpool_get(&pools->large) : NULL;
}

keel_status_t keel_service_room_make(keel_service_message_t **message_p, keel_service_pools_t *pools, size_t data_len,
                                     void **room_p)
{
    *message_p = keel_service_message_get(pools, data_len);
    if (*message_p == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    *room_p = (*message_p)->copy;
    return KEEL_OK;
}

void keel_service_room_drop(keel_service_message_t **message_p)
{
    if (*message_p != NULL) {
        ucs_mpool_put(*message_p);
        *message_p = NULL;
    }
}

keel_service_message_t *keel_service_room_take(keel_service_message_t **message_p, const void *data)
{
    keel_service_message_t *message = *message_p;

    if (message == NULL || data != message->copy) {
        return NULL;
    }
    *message_p = NULL;
    return message;
}

keel_status_t keel_service_wire_check(const void *message, size_t message_len, uint32_t ranks,
                                      keel_service_received_t *received)
{
    keel_service_wire_t *wire = &received->wire;

    if ((message == NULL) || (message_len < sizeof(*wire))) {
        return KEEL_ERR_CORRUPT;
    }
    memcpy(wire, message, sizeof(*wire));
    if ((wire->version != KEEL_SERVICE_WIRE_VERSION) || (wire->rank >= ranks) ||
        (wire->header_len != message_len - sizeof(*wire)) || (wire->header_len > sizeof(received->header))) {
        return KEEL_ERR_CORRUPT;
    }
    memcpy(received->header, (const char *)message + sizeof(*wire), wire->header_len);
    return KEEL_OK;
}
