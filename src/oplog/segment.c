/* Log segments. */
#include "oplog/segment.h"

#include "base/memory.h"

#define SEGMENT_SIZE_MIN 4096u
#define SEGMENT_SIZE_MAX (256u * 1024)
/* Room for record heads. Without the room, four puts of 64 KiB or one of 256 KiB would take two
 * segments. */
#define SEGMENT_HEADS   1024u
#define SEGMENTS_MIN    3
#define SEGMENTS_WANTED 1024

size_t keel_segment_pool_least(void)
{
    return sizeof(keel_segment_arena_t) + SEGMENTS_MIN * (SEGMENT_SIZE_MIN + sizeof(keel_segment_t));
}

/* number of segments that fit in another arena within the budget */
static size_t pool_room(const keel_segment_pool_t *pool, size_t budget)
{
    const size_t taken = pool->bytes + sizeof(keel_segment_arena_t);

    return (budget > taken) ? (budget - taken) / (pool->segment_size + sizeof(keel_segment_t)) : 0;
}

/* Appends the new segments behind the free ones: memory touched before is used first. */
static keel_status_t pool_add(keel_segment_pool_t *pool, size_t count, size_t ready)
{
    const size_t table = sizeof(keel_segment_arena_t) + count * sizeof(keel_segment_t),
                 size = count * pool->segment_size;
    keel_segment_arena_t *arena = keel_alloc(table, "oplog segments");
    keel_segment_t **end = &pool->free;

    if (arena == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    arena->data = keel_arena_alloc(size, ready, "oplog");
    if (arena->data == NULL) {
        keel_free(arena);
        return KEEL_ERR_NO_MEMORY;
    }
    arena->size = size;
    arena->next = pool->arenas;
    pool->arenas = arena;
    pool->bytes += table + size;
    pool->count += (uint32_t)count;
    while (*end != NULL) {
        end = &(*end)->next;
    }
    for (size_t i = 0; i < count; i++) {
        arena->segments[i].data = arena->data + i * pool->segment_size;
        *end = &arena->segments[i];
        end = &arena->segments[i].next;
    }
    return KEEL_OK;
}

keel_status_t keel_segment_pool_init(keel_segment_pool_t *pool, size_t budget, uint32_t segment_least, size_t ready)
{
    uint32_t size = SEGMENT_SIZE_MAX;
    size_t count;

    while (size > SEGMENT_SIZE_MIN && size > segment_least && budget / size < SEGMENTS_WANTED) {
        size /= 2;
    }
    size += (size == SEGMENT_SIZE_MAX) ? SEGMENT_HEADS : 0;
    *pool = (keel_segment_pool_t){.segment_size = size};
    count = pool_room(pool, budget);
    return (count < SEGMENTS_MIN) ? KEEL_ERR_BUDGET : pool_add(pool, count, ready);
}

keel_status_t keel_segment_pool_grow(keel_segment_pool_t *pool, size_t budget)
{
    const size_t count = pool_room(pool, budget);

    return (count > 0) ? pool_add(pool, count, 0) : KEEL_OK;
}

void keel_segment_pool_release(keel_segment_pool_t *pool)
{
    keel_segment_arena_t *arena;

    while ((arena = pool->arenas) != NULL) {
        pool->arenas = arena->next;
        keel_arena_free(arena->data, arena->size);
        keel_free(arena);
    }
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
    if (pool->news != NULL && pool->in_use == pool->count / 2 + 1) {
        __atomic_store_n(pool->news, 1, __ATOMIC_RELAXED);
    }
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
