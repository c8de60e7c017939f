/*
 * Log segments: a fixed budget of memory cut into equal pieces, and lists of records made of them. Both logs of a
 * process live here. A record never crosses a segment's end.
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

typedef struct keel_segment_pool {
    uint8_t *arena;
    size_t arena_size;
    uint32_t segment_size; /* bytes */
    uint32_t count, in_use, peak;
    keel_segment_t *segments;
    keel_segment_t *free;
} keel_segment_pool_t;

typedef struct keel_segment_list {
    keel_segment_t *first, *last;
    uint32_t start; /* offset of the oldest record in first */
} keel_segment_list_t;

/* a place in a list, at a record or at the end */
typedef struct keel_cursor {
    keel_segment_t *segment; /* NULL: before the first */
    uint32_t offset;
} keel_cursor_t;

/* KEEL_ERR_BUDGET when @a budget has no room for a few segments. Those in the first @a ready bytes, which are taken first, are
 * faulted in. */
keel_status_t keel_segment_pool_init(keel_segment_pool_t *pool, size_t budget, size_t ready);
void keel_segment_pool_release(keel_segment_pool_t *pool);

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
