/*
 * Records of several parts: a call that puts at several places makes one record, which is numbered,
 * applied and replayed as a unit. Parts are applied in order, and so are the blocks of a part. The
 * record's own `where` has its op and the place of its first part.
 *
 * KEEL_RECORD_BLOCKS: each part is a head, the distance of its blocks if there are several, and the
 * contiguous blocks, padded to 8. KEEL_RECORD_SIGNAL: a word and data; the data is put before the
 * word.
 */
#ifndef KEEL_WIRE_BLOCKS_H_
#define KEEL_WIRE_BLOCKS_H_

#include "wire/record.h"

/* bytes from the start of the first to the end of the last of blocks at regular distances; 0:
 * none, or an overflow */
static inline uint64_t keel_blocks_span(uint64_t length, uint64_t count, uint64_t stride)
{
    uint64_t span;

    if (count == 0 || length == 0 || __builtin_mul_overflow(stride, count - 1, &span) ||
        __builtin_add_overflow(span, length, &span)) {
        return 0;
    }
    return span;
}

typedef struct keel_record_part {
    uint64_t where;  /* place of the first block; op PUT */
    uint32_t length; /* of each block, bytes, not 0 */
    uint32_t count;  /* not 0; if above 1, the distance of the blocks follows, 8 bytes */
} keel_record_part_t;
_Static_assert(sizeof(keel_record_part_t) == 16, "log format");

typedef struct keel_record_signal {
    uint64_t where; /* place of the word; op PUT */
    uint64_t value;
} keel_record_signal_t;
_Static_assert(sizeof(keel_record_signal_t) == 16, "log format");

/* bytes of a part, which has at most 2^32 blocks of 2^32 bytes */
static inline size_t keel_part_size(uint32_t length, uint32_t count)
{
    return sizeof(keel_record_part_t) + (count > 1 ? sizeof(uint64_t) : 0) + keel_pad8((size_t)length * count);
}

typedef struct keel_blocks_part {
    const uint8_t *data; /* unaligned */
    uint64_t where, stride;
    uint32_t length, count;
    int is_behind; /* must not become visible before the previous part */
} keel_blocks_part_t;

/* iterator: the remaining parts of a record */
typedef struct keel_parts {
    const uint8_t *at, *end;
    uint64_t where; /* place of a signal's data; 0: no signal, or the data was returned already */
    int is_signal;
} keel_parts_t;

static inline keel_parts_t keel_parts_of(const keel_record_t *record, const void *payload)
{
    const uint64_t place = record->where & ~((uint64_t)0xf << 48);

    return (keel_parts_t){.at = (const uint8_t *)payload,
                          .end = (const uint8_t *)payload + record->length,
                          .where = place | ((uint64_t)KEEL_RECORD_PUT << 48),
                          .is_signal = keel_where_op(record->where) == KEEL_RECORD_SIGNAL};
}
/* all parts were returned; otherwise the remaining bytes are malformed */
static inline int keel_parts_at_end(const keel_parts_t *parts)
{
    return parts->at == parts->end;
}

static inline int keel_parts_next_of_signal(keel_parts_t *parts, keel_blocks_part_t *part)
{
    const size_t left = (size_t)(parts->end - parts->at);
    keel_record_signal_t signal;

    if (left <= sizeof(signal)) {
        return 0;
    }
    memcpy(&signal, parts->at, sizeof(signal));
    memset(part, 0, sizeof(*part));
    part->count = 1;
    if (parts->where != 0) {
        part->data = parts->at + sizeof(signal);
        part->where = parts->where;
        part->length = (uint32_t)(left - sizeof(signal));
        parts->where = 0;
    } else {
        part->data = parts->at + offsetof(keel_record_signal_t, value);
        part->where = signal.where;
        part->length = sizeof(signal.value);
        part->is_behind = 1;
        parts->at = (keel_where_op(signal.where) == KEEL_RECORD_PUT) ? parts->end : parts->at;
    }
    return keel_where_op(part->where) == KEEL_RECORD_PUT;
}

/* Returns the next part of a record that may come from another process; 0: none, or malformed.
 * The caller has yet to check the places of the blocks. */
static inline int keel_parts_next(keel_parts_t *parts, keel_blocks_part_t *part)
{
    size_t left = (size_t)(parts->end - parts->at), head = sizeof(keel_record_part_t);
    keel_record_part_t of;
    uint64_t bytes;

    if (parts->is_signal) {
        return keel_parts_next_of_signal(parts, part);
    }
    if (left < head) {
        return 0;
    }
    memcpy(&of, parts->at, sizeof(of));
    bytes = of.length * (uint64_t)of.count;
    if (bytes == 0 || bytes > left || keel_where_op(of.where) != KEEL_RECORD_PUT ||
        keel_part_size(of.length, of.count) > left) {
        return 0;
    }
    memset(part, 0, sizeof(*part));
    part->where = of.where;
    part->length = of.length;
    part->count = of.count;
    if (of.count > 1) {
        memcpy(&part->stride, parts->at + head, sizeof(part->stride));
        head += sizeof(part->stride);
    }
    part->data = parts->at + head;
    parts->at += keel_part_size(of.length, of.count);
    return 1;
}

static inline uint64_t keel_part_span(const keel_blocks_part_t *part)
{
    return keel_blocks_span(part->length, part->count, part->stride);
}

#endif
