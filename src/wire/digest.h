/*
 * Digest of the records of a phase that a process holds from another process: the number of records
 * from the first on, a sum over them, and whether the phase has more. A re-execution makes equal
 * records, so its first records have an equal sum. The sum excludes values that the program does
 * not determine: epochs, clocks, numbers of locks, and the changes made by atomics. Nine words
 * represent the data of a record or part longer than 64 bytes, since the sum is computed where each
 * record is applied.
 */
#ifndef KEEL_WIRE_DIGEST_H_
#define KEEL_WIRE_DIGEST_H_

#include "wire/blocks.h"

#include <string.h>

#define KEEL_DIGEST_WORDS 8u /* words of a record's data, besides the last one */

typedef struct keel_digest {
    uint64_t records; /* phase << 32 | number of records; number 0: no records are held */
    uint64_t sum;
    uint64_t is_all; /* the phase has no more records */
} keel_digest_t;

static inline uint32_t keel_digest_phase(const keel_digest_t *digest)
{
    return (uint32_t)(digest->records >> 32);
}
static inline uint32_t keel_digest_count(const keel_digest_t *digest)
{
    return (uint32_t)digest->records;
}

/* a single differing word always changes the sum */
static inline uint64_t keel_digest_mix(uint64_t sum, uint64_t word)
{
    sum = (sum ^ word) * 0x9e3779b97f4a7c15u;
    return sum ^ (sum >> 32);
}

static inline uint64_t keel_digest_data(uint64_t sum, const uint8_t *data, uint32_t length)
{
    const uint32_t words = length / sizeof(uint64_t), step = (words + KEEL_DIGEST_WORDS - 1) / KEEL_DIGEST_WORDS;
    uint64_t word = 0;

    for (uint32_t at = 0; at < words; at += step) {
        memcpy(&word, data + at * sizeof(word), sizeof(word));
        sum = keel_digest_mix(sum, word);
    }
    if (length < sizeof(word)) {
        word = 0;
        memcpy(&word, data, length);
    } else if (step == 1 && length % sizeof(word) == 0) {
        return sum;
    } else {
        memcpy(&word, data + length - sizeof(word), sizeof(word));
    }
    return keel_digest_mix(sum, word);
}

/* The digest of an atomic does not depend on whether the source knows the change. ATOMICS that
 * may change have a sum of their values in the head, which stands for the values. */
static inline uint64_t keel_digest_atomic(uint64_t sum, const keel_record_t *record, const void *data)
{
    keel_record_accumulate_t head;
    keel_record_atomic_t atomic;

    if (keel_where_op(record->where) == KEEL_RECORD_ATOMIC && record->length == sizeof(atomic)) {
        memcpy(&atomic, data, sizeof(atomic));
        atomic.is_changed = atomic.is_value_known = 0;
        atomic.change = 0;
        return keel_digest_data(sum, (const uint8_t *)&atomic, sizeof(atomic));
    }
    if (record->length < sizeof(head)) {
        return sum;
    }
    memcpy(&head, data, sizeof(head));
    if (head.may_change) {
        head.is_changed = 0;
        return keel_digest_data(sum, (const uint8_t *)&head, sizeof(head));
    }
    return keel_digest_data(sum, (const uint8_t *)data, record->length);
}

/* adds each part like a record */
static inline uint64_t keel_digest_parts(uint64_t sum, const keel_record_t *record, const void *data)
{
    keel_parts_t parts = keel_parts_of(record, data);
    keel_blocks_part_t part;

    while (keel_parts_next(&parts, &part)) {
        sum = keel_digest_mix(sum + part.length, part.where);
        sum = keel_digest_mix(sum + part.count, part.stride);
        sum = keel_digest_data(sum, part.data, part.length * part.count);
    }
    return sum;
}

/* Adds record @a number of @a phase with its data, which may be unaligned, if all earlier
 * records were added. */
static inline void keel_digest_add(keel_digest_t *digest, uint32_t phase, uint32_t number, const keel_record_t *record,
                                   const void *data)
{
    const uint64_t before = ((uint64_t)phase << 32) | number;
    uint64_t sum, word;

    if (__builtin_expect(digest->records != before, 0)) {
        if (number != 0) {
            return;
        }
        digest->records = before;
        digest->sum = digest->is_all = 0;
    }
    sum = keel_digest_mix(digest->sum + record->length, record->where);
    if (record->length == sizeof(word) && keel_where_op(record->where) == KEEL_RECORD_PUT) {
        memcpy(&word, data, sizeof(word));
        sum = keel_digest_mix(sum, word);
    } else if (keel_where_is_atomic(record->where)) {
        sum = keel_digest_atomic(sum, record, data);
    } else if (keel_where_op(record->where) == KEEL_RECORD_PUT) {
        sum = keel_digest_data(sum, (const uint8_t *)data, record->length);
    } else if (keel_where_has_parts(record->where)) {
        sum = keel_digest_parts(sum, record, data);
    }
    digest->sum = sum;
    digest->records++;
}

/* The digest covers all records applied here, and the source arrives at gsync @a number: the
 * phase is complete. */
static inline void keel_digest_end(keel_digest_t *digest, uint32_t number)
{
    digest->is_all |= keel_digest_count(digest) > 0 && keel_digest_phase(digest) + 1 == number;
}

#endif
