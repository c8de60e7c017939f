/* The pool of segments, and the long copy. */
#include "preload/preload_ring.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static keel_segment_pool_t pool;

int preload_ring_init(size_t bytes)
{
    return keel_segment_pool_init(&pool, bytes, PRELOAD_SEGMENT, bytes) == KEEL_OK;
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

void preload_ring_stream(uint8_t *to, const uint8_t *from, size_t length)
{
    const size_t head = -(uintptr_t)to & (KEEL_COPY_LINE - 1), lines = (length - head) & ~(size_t)(KEEL_COPY_LINE - 1);

    memcpy(to, from, head);
    keel_copy_lines(to + head, from + head, lines);
    memcpy(to + head + lines, from + head + lines, length - head - lines);
}

void preload_ring_lock(void)
{
    pthread_mutex_lock(&lock);
}

void preload_ring_unlock(void)
{
    pthread_mutex_unlock(&lock);
}
