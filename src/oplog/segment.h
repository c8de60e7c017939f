/*
 * Log segments: a budget of memory cut into equal segments, and lists of records in them. Both logs
 * of a process use the same pool. A record never crosses the end of a segment. The budget may grow;
 * new memory is used last.
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
    uint32_t last_phase; /* phase of the newest record in the segment */
} keel_segment_t;

typedef struct keel_segment_arena {
    struct keel_segment_arena *next;
    uint8_t *data;
    size_t size;
    keel_segment_t segments[];
} keel_segment_arena_t;

typedef struct keel_segment_pool {
    keel_segment_arena_t *arenas; /* NULL: not allocated yet */
    size_t bytes;                 /* bytes of all arenas and their tables */
    uint32_t segment_size;        /* bytes */
    uint32_t count, in_use, peak; /* segments */
    keel_segment_t *free;
    uint8_t *news; /* set to 1 when the pool begins to fill; may be NULL */
} keel_segment_pool_t;

/* is more than half of the pool in use? */
static inline int keel_segment_pool_is_filling(const keel_segment_pool_t *pool)
{
    return pool->in_use > pool->count / 2;
}

typedef struct keel_segment_list {
    keel_segment_t *first, *last;
    uint32_t start; /* offset of the oldest record in first */
} keel_segment_list_t;

/* position in a list, at a record or at the end */
typedef struct keel_cursor {
    keel_segment_t *segment; /* NULL: before the first segment */
    uint32_t offset;
} keel_cursor_t;

/* smallest budget that keel_segment_pool_init() accepts with a segment_least of 0 */
size_t keel_segment_pool_least(void);
/* KEEL_ERR_BUDGET if @a budget has no room for a few segments of at least @a segment_least
 * bytes. Segments in the first @a ready bytes are faulted in and used first. */
keel_status_t keel_segment_pool_init(keel_segment_pool_t *pool, size_t budget, uint32_t segment_least, size_t ready);
void keel_segment_pool_release(keel_segment_pool_t *pool);
/* Grows the pool to @a budget bytes if that is more; existing segments stay. The kernel provides
 * new memory when it is touched. KEEL_ERR_NO_MEMORY leaves the pool unchanged. */
keel_status_t keel_segment_pool_grow(keel_segment_pool_t *pool, size_t budget);
/* appends an empty segment; returns 0 if the budget is used up */
int keel_segment_list_grow(keel_segment_list_t *list, keel_segment_pool_t *pool);
void keel_segment_list_drop_first(keel_segment_list_t *list, keel_segment_pool_t *pool);
void keel_segment_list_clear(keel_segment_list_t *list, keel_segment_pool_t *pool);
size_t keel_segment_list_bytes(const keel_segment_list_t *list);

/* contiguous bytes at the cursor, NULL at the end; advances to the next segment if needed */
const uint8_t *keel_cursor_peek(const keel_segment_list_t *list, keel_cursor_t *cursor, size_t *length_p);
void keel_cursor_to_end(const keel_segment_list_t *list, keel_cursor_t *cursor);
void keel_cursor_to_start(const keel_segment_list_t *list, keel_cursor_t *cursor);

#endif
