/* Log segments. */
#include "oplog/segment.h"

#include "base/memory.h"

#define SEGMENT_SIZE_MIN  4096u
#define SEGMENT_SIZE_MAX  (256u * 1024)
#define SEGMENT_HEADS     1024u /* beside: else four puts of 64 KiB, or one of 256, and their heads take more than one */
#define SEGMENTS_AT_LEAST 3
#define SEGMENTS_WANTED   1024

keel_status_t keel_segment_pool_init(keel_segment_pool_t *pool, size_t budget, size_t ready)
{
    uint32_t size = SEGMENT_SIZE_MAX;

    while (size > SEGMENT_SIZE_MIN && budget / size < SEGMENTS_WANTED) {
        size /= 2;
    }
    size += (size == SEGMENT_SIZE_MAX) ? SEGMENT_HEADS : 0;
    pool->segment_size = size;
    pool->count = (uint32_t)(budget / (size + sizeof(keel_segment_t)));
    pool->in_use = 0;
    pool->peak = 0;
    pool->free = NULL;
    if (pool->count < SEGMENTS_AT_LEAST) {
        return KEEL_ERR_BUDGET;
    }
    pool->arena_size = (size_t)pool->count * size;
    pool->arena = keel_arena_alloc(pool->arena_size, ready, "oplog");
    pool->segments = keel_alloc(pool->count * sizeof(keel_segment_t), "oplog segments");
    if (pool->arena == NULL || pool->segments == NULL) {
        keel_segment_pool_release(pool);
        return KEEL_ERR_NO_MEMORY;
    }
    for (uint32_t i = pool->count; i-- > 0;) {
        pool->segments[i].data = pool->arena + (size_t)i * size;
        pool->segments[i].next = pool->free;
        pool->free = &pool->segments[i];
    }
    return KEEL_OK;
}

void keel_segment_pool_release(keel_segment_pool_t *pool)
{
    if (pool->arena != NULL) {
        keel_arena_free(pool->arena, pool->arena_size);
    }
    keel_free(pool->segments);
    pool->arena = NULL;
    pool->segments = NULL;
}

int keel_segment_list_grow(keel_segment_list_t *list, keel_segment_pool_t *pool)
{
    keel_segment_t *segment = pool->free;

    if (segment == NULL) {
        return 0;
    }
    pool->free = segment->next;
    segment->next = NULL;
    segment->used = 0;
    segment->last_phase = 0;
    if (list->last != NULL) {
        list->last->next = segment;
    } else {
        list->first = segment;
        list->start = 0;
    }
    list->last = segment;
    pool->in_use++;
    if (pool->in_use > pool->peak) {
        pool->peak = pool->in_use;
    }
    return 1;
}

void keel_segment_list_drop_first(keel_segment_list_t *list, keel_segment_pool_t *pool)
{
    keel_segment_t *segment = list->first;

    list->first = segment->next;
    list->start = 0;
    if (list->first == NULL) {
        list->last = NULL;
    }
    segment->next = pool->free;
    pool->free = segment;
    pool->in_use--;
}

void keel_segment_list_clear(keel_segment_list_t *list, keel_segment_pool_t *pool)
{
    while (list->first != NULL) {
        keel_segment_list_drop_first(list, pool);
    }
}

size_t keel_segment_list_bytes(const keel_segment_list_t *list)
{
    size_t bytes = 0;

    for (const keel_segment_t *s = list->first; s != NULL; s = s->next) {
        bytes += s->used;
    }
    return bytes - (list->first != NULL ? list->start : 0);
}

const uint8_t *keel_cursor_peek(const keel_segment_list_t *list, keel_cursor_t *cursor, size_t *length_p)
{
    if (cursor->segment == NULL) {
        keel_cursor_to_start(list, cursor);
    }
    while (cursor->segment != NULL && cursor->offset >= cursor->segment->used && cursor->segment->next != NULL) {
        cursor->segment = cursor->segment->next;
        cursor->offset = 0;
    }
    if (cursor->segment == NULL || cursor->offset >= cursor->segment->used) {
        return NULL;
    }
    *length_p = cursor->segment->used - cursor->offset;
    return cursor->segment->data + cursor->offset;
}

void keel_cursor_to_end(const keel_segment_list_t *list, keel_cursor_t *cursor)
{
    cursor->segment = list->last;
    cursor->offset = (list->last != NULL) ? list->last->used : 0;
}

void keel_cursor_to_start(const keel_segment_list_t *list, keel_cursor_t *cursor)
{
    cursor->segment = list->first;
    cursor->offset = list->start;
}
