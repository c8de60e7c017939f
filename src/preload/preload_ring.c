/* The pool of segments, and the copy into one. */
#include "preload/preload_ring.h"

#include "base/copy.h"
#include "wire/record.h"

#include <pthread.h>

/* segments of Keel's logs by default (engine/logs_plan.h) */
#define SEGMENT_LEAST (64u << 10)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static keel_segment_pool_t pool;

size_t preload_ring_record_max(void)
{
    return SEGMENT_LEAST - sizeof(keel_get_record_t);
}

size_t preload_ring_bytes(size_t length, size_t head)
{
    const size_t most = preload_ring_record_max(), whole = length / most, rest = length % most;
    const size_t records = whole + (rest > 0 || whole == 0);

    return records * head + whole * keel_pad8(most) + keel_pad8(rest);
}

int preload_ring_init(size_t bytes)
{
    return keel_segment_pool_init(&pool, bytes, SEGMENT_LEAST, bytes) == KEEL_OK;
}

void preload_ring_release(void)
{
    keel_segment_pool_release(&pool);
    pool = (keel_segment_pool_t){.segment_size = 0};
}

void preload_ring_shrink(preload_list_t *list)
{
    pthread_mutex_lock(&lock);
    keel_segment_list_drop_first(&list->segments, &pool);
    pthread_mutex_unlock(&lock);
    if (--list->segment_count == 0) {
        list->tail = list->limit = NULL;
    }
}

int preload_ring_grow(preload_list_t *list)
{
    int is_grown;

    pthread_mutex_lock(&lock);
    is_grown = keel_segment_list_grow(&list->segments, &pool);
    if (!is_grown && list->segment_count > 0) {
        keel_segment_list_drop_first(&list->segments, &pool);
        list->segment_count--;
        is_grown = keel_segment_list_grow(&list->segments, &pool);
    }
    pthread_mutex_unlock(&lock);
    if (is_grown) {
        list->segment_count++;
        list->tail = list->segments.last->data;
        list->limit = list->tail + pool.segment_size;
    }
    return is_grown;
}

/* a long record streams past the cache, as in Keel */
static void payload_write(uint8_t *to, const uint8_t *from, size_t length)
{
    const size_t head = -(uintptr_t)to & (KEEL_COPY_LINE - 1), lines = (length - head) & ~(size_t)(KEEL_COPY_LINE - 1);

    if (length < KEEL_COPY_STREAM) {
        memcpy(to, from, length);
        return;
    }
    memcpy(to, from, head);
    keel_copy_lines(to + head, from + head, lines);
    memcpy(to + head + lines, from + head + lines, length - head - lines);
}

void preload_ring_write(preload_list_t *list, const void *head, size_t head_length, const void *data, size_t length)
{
    uint8_t *record = list->tail;

    list->tail += head_length + keel_pad8(length);
    memcpy(record, head, head_length);
    if (data == NULL) {
        return;
    }
    if (length < KEEL_COPY_FETCHED) {
        keel_prefetch_write(list->tail + KEEL_COPY_AHEAD);
    }
    payload_write(record + head_length, data, length);
}

void preload_ring_lock(void)
{
    pthread_mutex_lock(&lock);
}

void preload_ring_unlock(void)
{
    pthread_mutex_unlock(&lock);
}
