/*
 * Determinants: a record is the header of an action, followed by its data [F 3.2]. Records lie back
 * to back in log segments, each padded to 8 bytes, and leave the process without conversion.
 */
#ifndef KEEL_WIRE_RECORD_H_
#define KEEL_WIRE_RECORD_H_

#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef enum {
    KEEL_RECORD_PUT = 1,    /* payload: the bytes */
    KEEL_RECORD_ATOMIC = 2, /* payload: keel_record_atomic_t */
    /* payload: SC, 8 bytes; the records up to the next such record belong to the critical
     * section */
    KEEL_RECORD_LOCK = 3,
    /* payload: the source's clock in this phase, 8 bytes, for the records that follow; the clock
     * is 0 before */
    KEEL_RECORD_CLOCK = 4,
    /* payload: keel_record_accumulate_t, and the values except for a NO_OP */
    KEEL_RECORD_ACCUMULATE = 5,
    /* payload as ACCUMULATE; each element is a posted atomic of one class, and the record is
     * replayed */
    KEEL_RECORD_ATOMICS = 7,
    /* get log: result of a test of own words; payload: keel_record_local_read_t and the contents
     * of the words; the offset field holds the number of the record */
    KEEL_RECORD_LOCAL_READ = 6,
    /* payload: put at several places (wire/blocks.h); in the get log: wire/get_parts.h */
    KEEL_RECORD_BLOCKS = 8,
    /* payload: keel_record_signal_t, and the data announced by the signal */
    KEEL_RECORD_SIGNAL = 9
} keel_record_op_t;

/* Put log: action of p at q. The epoch's number leads to its counters (oplog/epochs.h). */
typedef struct keel_record {
    uint64_t where;  /* offset 48 bits, op 4, region 12, from the low end */
    uint32_t length; /* bytes of the payload, without padding */
    uint32_t epoch;
} keel_record_t;
_Static_assert(sizeof(keel_record_t) == 16, "log format");

typedef struct keel_record_atomic {
    uint8_t op;   /* keel_atomic_op_t */
    uint8_t size; /* 4 or 8 */
    uint8_t fetches;
    uint8_t is_changed;     /* the change of the word is known: replay adds @a change */
    uint8_t is_value_known; /* the fetched value is known */
    uint8_t reserved[3];
    uint64_t operand;
    uint64_t compare;
    uint64_t change;
} keel_record_atomic_t;
_Static_assert(sizeof(keel_record_atomic_t) == 32, "log format");

/* Fetched value in the records and replies of a program that waits. The clock of the fetching
 * rank goes beyond .clock, the clock at the target. */
typedef struct keel_fetched {
    uint64_t old;
    uint64_t clock;
} keel_fetched_t;
_Static_assert(sizeof(keel_fetched_t) == 16, "log format");

/* trailer of a polled value, behind the bytes, which are padded to 8 */
typedef struct keel_polled {
    uint64_t clock; /* clock at the target; the clock of the polling rank goes beyond */
    uint64_t times; /* number of successive polls with equal result */
} keel_polled_t;
_Static_assert(sizeof(keel_polled_t) == 16, "log format");

/* Payload of ACCUMULATE and ATOMICS. ACCUMULATE is never replayed: a death in such a program
 * leads to a rollback. */
typedef struct keel_record_accumulate {
    uint8_t op;   /* keel_op_t, KEEL_COMBINE_CSWAP */
    uint8_t type; /* keel_type_t */
    /* ATOMICS of a class that does not commute: the record has the changes of the words if they
     * are known */
    uint8_t may_change;
    uint8_t is_changed; /* the values are the changes to add to the words */
    uint32_t count;     /* number of elements */
    /* CSWAP: the comparand; ATOMICS that may change: sum of the original values */
    uint64_t compare;
} keel_record_accumulate_t;
_Static_assert(sizeof(keel_record_accumulate_t) == 16, "log format");

/* Result of a test of own words by p, in the get log of any other rank. The contents of the
 * words follow, and a bit for each word that met its condition. Without words: p tested requests
 * and found them in progress, .times times; .clock is the number of the first such test. */
typedef struct keel_record_local_read {
    uint64_t times; /* number of successive tests with equal result */
    uint64_t clock; /* clock at p; the clock of p goes beyond after the test */
    uint32_t words;
    uint32_t is_over; /* the condition on all words together was met */
} keel_record_local_read_t;
_Static_assert(sizeof(keel_record_local_read_t) == 24, "log format");

/* Get log: value that p read at q. (phase, index) names the access: the index counts p's gets at
 * q within the phase. */
typedef struct keel_get_record {
    uint32_t phase;
    uint32_t index;
    uint64_t where;
    uint32_t length;
    uint32_t completeness; /* of the copy at p: KEEL_GET_COMPLETE or not (oplog/get_log.h) */
} keel_get_record_t;
_Static_assert(sizeof(keel_get_record_t) == 24, "log format");

#define KEEL_OFFSET_MAX ((1ull << 48) - 1)

static inline uint64_t keel_where(uint64_t offset, keel_record_op_t op, unsigned region)
{
    return offset | ((uint64_t)op << 48) | ((uint64_t)region << 52);
}
/* name of a lock's record in the get log; the payload is the reply */
static inline uint64_t keel_where_lock(int is_read)
{
    return keel_where((uint64_t)(is_read != 0), KEEL_RECORD_LOCK, 0);
}
static inline uint64_t keel_where_offset(uint64_t where)
{
    return where & KEEL_OFFSET_MAX;
}
static inline unsigned keel_where_op(uint64_t where)
{
    return (where >> 48) & 0xf;
}
static inline int keel_where_is_atomic(uint64_t where)
{
    return keel_where_op(where) == KEEL_RECORD_ATOMIC || keel_where_op(where) == KEEL_RECORD_ATOMICS;
}
static inline int keel_where_has_parts(uint64_t where)
{
    return keel_where_op(where) == KEEL_RECORD_BLOCKS || keel_where_op(where) == KEEL_RECORD_SIGNAL;
}
/* bytes of the words with a known change in this record; 0: no change is known */
static inline size_t keel_record_changed(const keel_record_t *record, const void *payload)
{
    keel_record_accumulate_t head;
    keel_record_atomic_t atomic;

    if (keel_where_op(record->where) == KEEL_RECORD_ATOMIC && record->length == sizeof(atomic)) {
        memcpy(&atomic, payload, sizeof(atomic));
        return atomic.is_changed ? atomic.size : 0;
    }
    if (keel_where_op(record->where) == KEEL_RECORD_ATOMICS && record->length >= sizeof(head)) {
        memcpy(&head, payload, sizeof(head));
        return head.is_changed ? record->length - sizeof(head) : 0;
    }
    return 0;
}
/* bytes that the record writes; 0 for records of several parts, see wire/blocks.h */
static inline size_t keel_record_written(const keel_record_t *record, const void *payload)
{
    keel_record_atomic_t atomic;

    switch (keel_where_op(record->where)) {
    case KEEL_RECORD_PUT:
        return record->length;
    case KEEL_RECORD_ATOMIC:
        memcpy(&atomic, payload, sizeof(atomic));
        return atomic.size;
    case KEEL_RECORD_ACCUMULATE:
    case KEEL_RECORD_ATOMICS:
        return record->length - sizeof(keel_record_accumulate_t);
    default:
        return 0;
    }
}
static inline unsigned keel_where_region(uint64_t where)
{
    return where >> 52;
}
static inline size_t keel_pad8(size_t length)
{
    return (length + 7) & ~(size_t)7;
}

/* bytes of the payload of a polled value */
static inline size_t keel_polled_length(size_t length)
{
    return keel_pad8(length) + sizeof(keel_polled_t);
}

/* writes the padding and trailer behind @a length bytes of a polled value */
static inline void keel_polled_fill(void *payload, size_t length, uint64_t clock)
{
    const keel_polled_t polled = {.clock = clock, .times = 1};
    char *end = (char *)payload + keel_pad8(length);

    memset((char *)payload + length, 0, keel_pad8(length) - length);
    memcpy(end, &polled, sizeof(polled));
}

static inline size_t keel_record_size(const keel_record_t *record)
{
    return sizeof(*record) + keel_pad8(record->length);
}
static inline size_t keel_get_record_size(const keel_get_record_t *record)
{
    return sizeof(*record) + keel_pad8(record->length);
}

/* iterator: the remaining records of a contiguous run */
typedef struct keel_records {
    const uint8_t *at, *end;
} keel_records_t;

static inline keel_records_t keel_records_of(const void *first, size_t length)
{
    return (keel_records_t){(const uint8_t *)first, (const uint8_t *)first + length};
}
/* all records were returned; otherwise the remaining bytes are malformed */
static inline int keel_records_at_end(const keel_records_t *records)
{
    return records->at == records->end;
}
static inline size_t keel_records_remaining(const keel_records_t *records)
{
    return (size_t)(records->end - records->at);
}
/* Returns the next record that this process wrote or has checked, aligned as in a log. NULL at
 * the end. */
static inline const keel_record_t *keel_records_next(keel_records_t *records)
{
    const keel_record_t *record = (const keel_record_t *)(const void *)records->at;

    if (records->at >= records->end) {
        return NULL;
    }
    records->at += keel_record_size(record);
    return record;
}
/* Reads the next record from another process, possibly unaligned. 0: none, or incomplete. */
static inline int keel_records_read(keel_records_t *records, keel_record_t *record, const void **payload_p)
{
    if (keel_records_remaining(records) < sizeof(*record)) {
        return 0;
    }
    memcpy(record, records->at, sizeof(*record));
    if (keel_records_remaining(records) - sizeof(*record) < keel_pad8(record->length)) {
        return 0;
    }
    *payload_p = records->at + sizeof(*record);
    records->at += keel_record_size(record);
    return 1;
}
/* the same for get records */
static inline int keel_get_records_read(keel_records_t *records, keel_get_record_t *record, const void **payload_p)
{
    if (keel_records_remaining(records) < sizeof(*record)) {
        return 0;
    }
    memcpy(record, records->at, sizeof(*record));
    if (keel_records_remaining(records) - sizeof(*record) < keel_pad8(record->length)) {
        return 0;
    }
    *payload_p = records->at + sizeof(*record);
    records->at += keel_get_record_size(record);
    return 1;
}

#endif
