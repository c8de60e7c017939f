/*
 * Memory of the measured log: segments as Keel's put log has, within KEEL_PRELOAD_SIZE. Keel frees
 * segments when a checkpoint covers them. Here is no checkpoint, so a log without free segments
 * overwrites its oldest one.
 */
#ifndef KEEL_PRELOAD_RING_H_
#define KEEL_PRELOAD_RING_H_

#include "oplog/segment.h"

#include <stddef.h>
#include <stdint.h>

/* records of one thread towards one target; used by that thread only */
typedef struct preload_list {
    uint8_t *tail, *limit; /* of the newest segment; NULL: none */
    keel_segment_list_t segments;
    uint32_t segment_count;
} preload_list_t;

/* Largest payload of a record: longer accesses take several, as in Keel. Valid without memory,
 * too. */
size_t preload_ring_record_max(void);
/* Bytes of the records of an access of @a length bytes, each with a head of @a head bytes. */
size_t preload_ring_bytes(size_t length, size_t head);

/* allocates and touches @a bytes; 0 if there is no memory */
int preload_ring_init(size_t bytes);
void preload_ring_release(void);

/* Gives the list another segment: a free one, or its own oldest. 0: neither exists. */
int preload_ring_grow(preload_list_t *list);
/* takes the oldest segment of a list away, for another list of the same thread */
void preload_ring_shrink(preload_list_t *list);

/* Writes a record into the list's newest segment, which must have the room. @a data may be NULL:
 * only the head and @a length bytes of room. */
void preload_ring_write(preload_list_t *list, const void *head, size_t head_length, const void *data, size_t length);

/* around fork() */
void preload_ring_lock(void);
void preload_ring_unlock(void);

#endif
