/*
 * Memory of the measured log: segments as Keel's put log has, within KEEL_PRELOAD_SIZE. Keel frees
 * segments when a checkpoint covers them. Here is no checkpoint, so a log without free segments
 * overwrites its oldest one.
 */
#ifndef KEEL_PRELOAD_RING_H_
#define KEEL_PRELOAD_RING_H_

#include "base/copy.h"
#include "oplog/segment.h"
#include "wire/record.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* records of one thread towards one target; used by that thread only */
typedef struct preload_list {
    uint8_t *tail, *limit; /* of the newest segment; NULL: none */
    keel_segment_list_t segments;
    uint32_t segment_count;
} preload_list_t;

/* Segments of Keel's logs by default (engine/logs_plan.h). */
#define PRELOAD_SEGMENT (64u << 10)
/* largest payload of a record: longer accesses take several, as in Keel */
#define PRELOAD_RECORD_MAX (PRELOAD_SEGMENT - sizeof(keel_get_record_t))

/* Bytes of the records of an access of @a length bytes, each with a head of @a head bytes. */
static inline size_t preload_ring_bytes(size_t length, size_t head)
{
    if (__builtin_expect(length <= PRELOAD_RECORD_MAX, 1)) {
        return head + keel_pad8(length);
    }
    return (length + PRELOAD_RECORD_MAX - 1) / PRELOAD_RECORD_MAX * head +
           length / PRELOAD_RECORD_MAX * keel_pad8(PRELOAD_RECORD_MAX) + keel_pad8(length % PRELOAD_RECORD_MAX);
}

/* allocates and touches @a bytes; 0 if there is no memory */
int preload_ring_init(size_t bytes);
void preload_ring_release(void);

/* Gives the list another segment: a free one, or its own oldest. 0: neither exists. */
int preload_ring_grow(preload_list_t *list);
/* takes the oldest segment of a list away, for another list of the same thread */
void preload_ring_shrink(preload_list_t *list);

/* copies the payload of a long record past the cache, as Keel does */
void preload_ring_stream(uint8_t *to, const uint8_t *from, size_t length);

/*
 * Writes a record into the list's newest segment, which must have the room. @a data may be NULL:
 * only the head and @a length bytes of room.
 */
static inline __attribute__((always_inline)) void
preload_ring_write(preload_list_t *list, const void *head, size_t head_length, const void *data, size_t length)
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
    if (length < KEEL_COPY_STREAM) {
        keel_copy_one(record + head_length, data, length);
    } else {
        preload_ring_stream(record + head_length, (const uint8_t *)data, length);
    }
}

/* around fork() */
void preload_ring_lock(void);
void preload_ring_unlock(void);

#endif
