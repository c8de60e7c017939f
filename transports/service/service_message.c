/* Messages and their pools. */
#include "service_message.h"

#include "base/memory.h"

#include <stdint.h>
#include <string.h>

enum {
    SMALL_CHUNK = 512, /* messages allocated together */
    LARGE_CHUNK = 8,
    CACHE_LINE = 64
};

/* head of the messages of one allocation */
typedef struct keel_service_chunk {
    struct keel_service_chunk *next;
} keel_service_chunk_t;

static size_t round_up(size_t bytes)
{
    return (bytes + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
}

/* Each message begins at a cache line, so no line is shared. */
static keel_status_t pool_grow(keel_service_pool_t *pool)
{
    const size_t stride = round_up(sizeof(keel_service_message_t) + pool->copy);
    keel_service_chunk_t *chunk = keel_alloc(sizeof(*chunk) + CACHE_LINE + pool->grow * stride, "messages");
    keel_service_message_t *message;
    char *first;
    unsigned i;

    if (chunk == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    chunk->next = pool->chunks;
    pool->chunks = chunk;
    first = (char *)(chunk + 1);
    first += round_up((uintptr_t)first) - (uintptr_t)first;
    for (i = 0; i < pool->grow; i++) {
        message = (keel_service_message_t *)(first + i * stride);
        message->pool = pool;
        ucs_list_add_tail(&pool->free, &message->link);
    }
    return KEEL_OK;
}

static keel_status_t pool_open(keel_service_pool_t *pool, size_t copy, unsigned grow)
{
    ucs_list_head_init(&pool->free);
    pool->chunks = NULL;
    pool->copy = copy;
    pool->grow = grow;
    return pool_grow(pool);
}

static void pool_close(keel_service_pool_t *pool)
{
    keel_service_chunk_t *chunk, *next;

    for (chunk = pool->chunks; chunk != NULL; chunk = next) {
        next = chunk->next;
        keel_free(chunk);
    }
    pool->chunks = NULL;
}

static keel_service_message_t *pool_get(keel_service_pool_t *pool)
{
    if (ucs_list_is_empty(&pool->free) && (pool_grow(pool) != KEEL_OK)) {
        return NULL;
    }
    return ucs_list_extract_head(&pool->free, keel_service_message_t, link);
}

keel_status_t keel_service_pools_open(keel_service_pools_t *pools, size_t small_copy, size_t large_copy)
{
    keel_status_t status;

    memset(pools, 0, sizeof(*pools));
    status = pool_open(&pools->small, small_copy, SMALL_CHUNK);
    if ((status == KEEL_OK) && (large_copy > 0)) {
        status = pool_open(&pools->large, large_copy, LARGE_CHUNK);
    }
    if (status != KEEL_OK) {
        keel_service_pools_close(pools);
    }
    return status;
}

void keel_service_pools_close(keel_service_pools_t *pools)
{
    pool_close(&pools->small);
    pool_close(&pools->large);
}

keel_service_message_t *keel_service_message_get(keel_service_pools_t *pools, size_t copy)
{
    if (copy <= pools->small.copy) {
        return pool_get(&pools->small);
    }
    return (copy <= pools->large.copy) ? pool_get(&pools->large) : NULL;
}

/* the most recently used message is in the cache: reuse first */
void keel_service_message_put(keel_service_message_t *message)
{
    ucs_list_add_head(&message->pool->free, &message->link);
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
        keel_service_message_put(*message_p);
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
