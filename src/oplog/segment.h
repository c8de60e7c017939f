/*
 * Log segments: a budget of memory cut into equal pieces, and lists of records made of them. Both logs of a
 * process live here. A record never crosses a segment's end. The budget may grow, and what it grew by is touched last.
 */
#ifndef KEEL_OPLOG_SEGMENT_H_
#define KEEL_OPLOG_SEGMENT_H_

#include <keel/status.h>

#include <stddef.h>
#include <stdint.h>

typedef struct keel_segment {
    struct keel_segment *next;
    uint8_t *data;
    uint32_t used;       /* bytes */
    uint32_t last_phase; /* of the newest record in it */
} keel_segment_t;

typedef struct keel_segment_arena {
    struct keel_segment_arena *next;
    uint8_t *data;
    size_t size;
    keel_segment_t segments[];
} keel_segment_arena_t;

typedef struct keel_segment_pool {
    keel_segment_arena_t *arenas; /* NULL: not made yet */
    size_t bytes;                 /* of all of them, and their tables */
    uint32_t segment_size;        /* bytes */
    uint32_t count, in_use, peak; /* segments */
    keel_segment_t *free;
    uint8_t *news; /* set to 1 when it begins to fill; may be NULL */
} keel_segment_pool_t;

/* more than half of it is in use */
static inline int keel_segment_pool_is_filling(const keel_segment_pool_t *pool)
{
    return pool->in_use > pool->count / 2;
}

typedef struct keel_segment_list {
    keel_segment_t *first, *last;
    uint32_t start; /* offset of the oldest record in first */
} keel_segment_list_t;

/* a place in a list, at a record or at the end */
typedef struct keel_cursor {
    keel_segment_t *segment; /* NULL: before the first */
    uint32_t offset;
} keel_cursor_t;

/* KEEL_ERR_BUDGET when @a budget has no room for a few segments, of @a segment_least bytes at least. Those in the first @a ready
 * bytes, which are taken first, are faulted in. */
keel_status_t keel_segment_pool_init(keel_segment_pool_t *pool, size_t budget, uint32_t segment_least, size_t ready);
void keel_segment_pool_release(keel_segment_pool_t *pool);
/* to @a budget bytes, if that is more: what there is stays. The memory is the kernel's to give when it is needed.
 * KEEL_ERR_NO_MEMORY leaves the pool as it was. */
keel_status_t keel_segment_pool_grow(keel_segment_pool_t *pool, size_t budget);
/* appends a fresh segment; 0 when the budget is used up */
int keel_segment_list_grow(keel_segment_list_t *list, keel_segment_pool_t *pool);
void keel_segment_list_drop_first(keel_segment_list_t *list, keel_segment_pool_t *pool);
void keel_segment_list_clear(keel_segment_list_t *list, keel_segment_pool_t *pool);
size_t keel_segment_list_bytes(const keel_segment_list_t *list);

/* the contiguous bytes at the cursor, NULL at the end; moves on to the next segment when needed */
const uint8_t *keel_cursor_peek(const keel_segment_list_t *list, keel_cursor_t *cursor, size_t *length_p);
void keel_cursor_to_end(const keel_segment_list_t *list, keel_cursor_t *cursor);
void keel_cursor_to_start(const keel_segment_list_t *list, keel_cursor_t *cursor);

#endif
