/*
 * Accesses of several blocks in one record: the number of parts, the place of each part, then the
 * bytes of all blocks, packed. A part is a set of blocks of equal length at regular distances; a
 * single block is a part, too.
 */
#ifndef KEEL_WIRE_GET_PARTS_H_
#define KEEL_WIRE_GET_PARTS_H_

#include "wire/blocks.h"

typedef struct keel_get_part {
    uint64_t where;  /* place of the first block, as for a put */
    uint64_t stride; /* bytes from the start of a block to the next */
    uint32_t length; /* bytes of each block */
    uint32_t count;
} keel_get_part_t;
_Static_assert(sizeof(keel_get_part_t) == 24, "log format");

typedef struct keel_get_parts {
    uint32_t count;
    uint32_t reserved;
} keel_get_parts_t;
_Static_assert(sizeof(keel_get_parts_t) == 8, "log format");

/* bytes in front of the blocks' bytes */
static inline size_t keel_get_parts_size(uint32_t count)
{
    return sizeof(keel_get_parts_t) + (size_t)count * sizeof(keel_get_part_t);
}

static inline uint64_t keel_get_part_bytes(const keel_get_part_t *part)
{
    return (uint64_t)part->length * part->count;
}

static inline uint64_t keel_get_part_span(const keel_get_part_t *part)
{
    return keel_blocks_span(part->length, part->count, part->stride);
}

/* part @a i of a description, which may be unaligned */
static inline keel_get_part_t keel_get_part_at(const void *parts, uint32_t i)
{
    keel_get_part_t part;

    memcpy(&part, (const char *)parts + keel_get_parts_size(i), sizeof(part));
    return part;
}

/*
 * Checks a description from another process, @a length bytes with or without the blocks' bytes, and
 * returns its number of parts. 0: malformed. All parts belong to one region and have a valid span;
 * the caller checks the span against the region. *bytes_p: bytes of all blocks, less than 2^48.
 */
static inline uint32_t keel_get_parts_read(const void *parts, size_t length, uint64_t *bytes_p)
{
    keel_get_parts_t head;

    *bytes_p = 0;
    if (length < sizeof(head)) {
        return 0;
    }
    memcpy(&head, parts, sizeof(head));
    if (head.count == 0 || head.count > (length - sizeof(head)) / sizeof(keel_get_part_t)) {
        return 0;
    }
    for (uint32_t i = 0; i < head.count; i++) {
        const keel_get_part_t part = keel_get_part_at(parts, i);

        if (keel_get_part_span(&part) == 0 || keel_get_part_bytes(&part) > KEEL_OFFSET_MAX - *bytes_p ||
            keel_where_op(part.where) != KEEL_RECORD_PUT ||
            keel_where_region(part.where) != keel_where_region(keel_get_part_at(parts, 0).where)) {
            return 0;
        }
        *bytes_p += keel_get_part_bytes(&part);
    }
    return head.count;
}

/* place in the record of such an access, made from the place of its first part */
static inline uint64_t keel_where_blocks(uint64_t where)
{
    return keel_where(keel_where_offset(where), KEEL_RECORD_BLOCKS, keel_where_region(where));
}
static inline int keel_where_are_blocks(uint64_t where)
{
    return keel_where_op(where) == KEEL_RECORD_BLOCKS;
}

#endif
