/*
 * Messages of the served lane: one versioned header for every message, with the crc of header and
 * data. Little-endian, like every machine that UCX runs on here.
 */
#ifndef KEEL_WIRE_WIRE_H_
#define KEEL_WIRE_WIRE_H_

#include <stddef.h>
#include <stdint.h>

#define KEEL_WIRE_VERSION 32

typedef enum {
    /* requests; the first word names the member of keel_wire_body_t */
    KEEL_WIRE_RECORDS = 1, /* records; data: put-log records */
    /* get; flag LOGGED: append to the get log; data of a get of blocks: the part of the record
     * in front of the bytes */
    KEEL_WIRE_GET = 2,
    KEEL_WIRE_ARRIVE = 3,  /* arrive */
    KEEL_WIRE_CONTROL = 4, /* control; data: the payload, or a part of it */
    KEEL_WIRE_ATOMIC = 5,  /* atomic; data: keel_record_t, keel_record_atomic_t */
    KEEL_WIRE_LOCK = 6,    /* lock */
    /* requests nothing but the acknowledgement, to test whether the peer lives */
    KEEL_WIRE_PROBE = 7,
    KEEL_WIRE_MARK = 8,  /* mark */
    KEEL_WIRE_USAGE = 9, /* usage */
    /* atomic; data: keel_record_t, keel_record_accumulate_t, the values */
    KEEL_WIRE_ACCUMULATE = 10,
    /* atomic; with an id handled like ACCUMULATE, without id there is no reply; data: a put-log
     * record */
    KEEL_WIRE_UNNUMBERED = 11,
    /* replies; all have the member reply */
    KEEL_WIRE_ACK = 16,     /* requests up to the sequence number are done */
    KEEL_WIRE_VALUE = 17,   /* like ACK; data: the bytes read */
    KEEL_WIRE_REFUSAL = 18, /* like ACK; the read names memory that does not exist */
    KEEL_WIRE_LAST
} keel_wire_type_t;

enum {
    KEEL_WIRE_FLAG_LOGGED = 1,   /* GET, ATOMIC, LOCK: append to the get log */
    KEEL_WIRE_FLAG_UNLOGGED = 2, /* GET, ATOMIC, LOCK: no record of the access will exist */
    /* RECORDS: the same put sends another message, and its acknowledgement covers both */
    KEEL_WIRE_FLAG_MORE = 32,
    /* RECORDS, ATOMIC: earlier records were put one-sidedly and have arrived; ARRIVE: some
     * records of the phase were put */
    KEEL_WIRE_FLAG_PUT = 64,
    /* ATOMIC, GET: the reply includes the clock (keel_fetched_t, keel_polled_t) */
    KEEL_WIRE_FLAG_CLOCK = 128
};

/* Position of an access among its process's accesses at this target; names the record
 * (keel_get_record_t). */
typedef struct keel_wire_access {
    uint32_t index, phase;
} keel_wire_access_t;

/* part of a message that depends on its type */
typedef union keel_wire_body {
    struct {
        uint32_t phase, number; /* phase and number of the first record */
    } records;
    struct {
        uint64_t id; /* id of the read, repeated in the reply */
        uint64_t where, length;
        keel_wire_access_t access;
    } get;
    struct {
        uint64_t id;
        uint64_t number; /* number of the record */
        /* ATOMIC: number, from 1, among all fetches of the process from service sides; wraps
         * around */
        uint32_t serial;
        uint32_t reserved;
        keel_wire_access_t access;
    } atomic;
    struct {
        uint64_t id;     /* 0: no reply */
        uint64_t ask;    /* keel_lock_ask_t */
        uint64_t number; /* keel_reading() */
        keel_wire_access_t access;
    } lock;
    struct { /* keel_board_slot_t */
        uint64_t arrive;
        /* generation of the copied image, of the same rollback and incarnation; 0: none */
        uint32_t image_copied;
        uint32_t usage; /* usage of the ending phase, keel_usage_pack() */
        uint64_t parity_done : 33, even_flags : 15, odd_flags : 15, reserved : 1;
        uint32_t committed, lost_gets;
    } arrive;
    struct {
        uint64_t type; /* keel_control_type_t */
        /* bytes of the payload, and bytes in front of this part; length 0: the message has the
         * whole payload */
        uint64_t length, before;
    } control;
    struct {
        uint32_t own_open; /* the word of keel_board_slot_t */
    } mark;
    struct { /* keel_usage_t of the sender */
        uint32_t classes, fetched, in_doubt, begun, waits;
    } usage;
    struct {
        uint64_t id;       /* VALUE, REFUSAL */
        uint64_t sequence; /* sequence of the request */
        /* VALUE of a LOGGED request: room for records that the requester writes on its own, in
         * the chunk of the get log with this record: 1 + index of the chunk, and bytes of
         * records in it; 0: none */
        uint32_t chunk, used;
        /* VALUE of an ATOMIC: number of keel_wire_piggyback_t behind the value, and 1 + the last
         * phase in which some did not fit; 0: all are included */
        uint32_t piggybacked, missing;
    } reply;
    uint64_t raw[4];
} keel_wire_body_t;
_Static_assert(sizeof(keel_wire_body_t) == 32, "wire format");

typedef struct keel_wire {
    uint8_t version;
    uint8_t type;
    uint16_t flags;
    /* crc of the data, then of this header with crc 0: the data may be summed before the header
     * exists */
    uint32_t crc;
    uint32_t source, source_incarnation, target_incarnation;
    uint32_t rollback; /* rollback number of the sender */
    uint32_t length;   /* bytes of the data */
    union {
        /* requests: the sender has received the replies of its fetches up to this serial */
        uint32_t answered;
        uint32_t classes; /* VALUE: classes of atomics that the sender uses */
    };
    uint64_t sequence; /* requests: number for each pair and incarnation, from 1 */
    keel_wire_body_t body;
} keel_wire_t;
_Static_assert(sizeof(keel_wire_t) == 72, "wire format");

/* value that another rank fetched from the same word, piggybacked because its own reply may be
 * lost */
typedef struct keel_wire_piggyback {
    uint32_t source, incarnation;
    uint32_t serial;
    uint32_t clock; /* as keel_fetched_t.clock */
    uint64_t old;
} keel_wire_piggyback_t;
_Static_assert(sizeof(keel_wire_piggyback_t) == 24, "wire format");

void keel_wire_seal(keel_wire_t *wire, const void *data, size_t length);
/* the same with the sum of the data, keel_crc() from 0 */
void keel_wire_seal_summed(keel_wire_t *wire, uint32_t sum, size_t length);
/* Verifies and copies the header of a message from outside. Returns NULL, or a text with the
 * error. */
const char *keel_wire_open(keel_wire_t *wire, const void *header, size_t header_len, const void *data, size_t data_len);

/* Types of control messages. The main thread handles them in the order of sending. */
typedef enum {
    KEEL_CONTROL_HELLO = 1, /* address of the sender; the first message between two incarnations */
    KEEL_CONTROL_REGION,    /* a region of the sender */
    KEEL_CONTROL_REPORT,    /* recovery/view */
    KEEL_CONTROL_DECISION,
    KEEL_CONTROL_POSITION, /* recovery/position */
    /* recovery/hand_over_check: hand-over complete; the sender is live towards the receiver */
    KEEL_CONTROL_HANDED,
    KEEL_CONTROL_GETLOG, /* records that the receiver's predecessor left here */
    /* records of the sender's gets, lost with the receiver's predecessor */
    KEEL_CONTROL_REFILL,
    /* ckpt/coordinated: the sender's image of a generation is complete */
    KEEL_CONTROL_IMAGE,
    KEEL_CONTROL_GROUP,        /* ckpt: sizes of a generation's images, for a replacement */
    KEEL_CONTROL_ROLLBACK,     /* recovery/rollback: barrier stages */
    KEEL_CONTROL_FINISHED,     /* the sender left the last gsync */
    KEEL_CONTROL_SECTIONS,     /* sync/sections: critical sections of the sender at the receiver */
    KEEL_CONTROL_CAUGHT_UP,    /* the sender's memory has caught up with its own computation */
    KEEL_CONTROL_REQUEST,      /* recovery/rollback_request: a rank requests a rollback */
    KEEL_CONTROL_DECLARED,     /* recovery/detect: the sender declared an incarnation dead */
    KEEL_CONTROL_WAITS,        /* sync/waits: the sender's puts to the receiver in a phase */
    KEEL_CONTROL_REST_DONE,    /* the sender has replayed all puts to it: accesses may resume */
    KEEL_CONTROL_DEMAND,       /* recovery/logs/trim: requests an image of the receiver */
    KEEL_CONTROL_DEMAND_IMAGE, /* ckpt/demand: the sender has taken an image */
    KEEL_CONTROL_DEMAND_GROUP, /* ckpt/demand: the group's images, for a replacement */
    KEEL_CONTROL_GAVE_UP,      /* the sender leaves with an error: the job cannot continue */
    KEEL_CONTROL_LOG_PRESSURE, /* recovery/logs/log_pressure: half of its logs is in use */
    KEEL_CONTROL_RECOVERED,    /* recovery/outcome: the sender, a replacement, has caught up */
    KEEL_CONTROL_PRINTED,      /* recovery/outcome: the user was told of deaths */
    KEEL_CONTROL_FILES,        /* job/files: orders of the leader about files, and results */
    KEEL_CONTROL_LAST
} keel_control_type_t;

#endif
