/*
 * What leaves the process over the served lane: one header for every message, versioned, with the crc of header and
 * data. Little-endian, as every machine UCX runs on here.
 */
#ifndef KEEL_WIRE_WIRE_H_
#define KEEL_WIRE_WIRE_H_

#include <stddef.h>
#include <stdint.h>

#define KEEL_WIRE_VERSION 26

typedef enum {
    /* requests */
    KEEL_WIRE_RECORDS = 1, /* records; data: put-log records */
    KEEL_WIRE_GET =
        2, /* get; flag LOGGED: append to the get log; of blocks, data: what is before their bytes in the record */
    KEEL_WIRE_ARRIVE = 3,      /* arrive */
    KEEL_WIRE_CONTROL = 4,     /* control; data: its payload, or a piece of it */
    KEEL_WIRE_ATOMIC = 5,      /* atomic; data: keel_record_t, keel_record_atomic_t */
    KEEL_WIRE_LOCK = 6,        /* lock */
    KEEL_WIRE_PROBE = 7,       /* asks for nothing but the acknowledgement: is anybody there? */
    KEEL_WIRE_MARK = 8,        /* mark; flags OPEN, CLOSED */
    KEEL_WIRE_KINDS = 9,       /* kinds */
    KEEL_WIRE_ACCUMULATE = 10, /* atomic; data: keel_record_t, keel_record_accumulate_t, the values */
    KEEL_WIRE_UNNUMBERED = 11, /* atomic, with an id as ACCUMULATE, without one no answer; data: a put-log record */
    /* replies */
    KEEL_WIRE_ACK = 16,     /* reply: requests up to that one are done */
    KEEL_WIRE_VALUE = 17,   /* reply, as ACK; data: what was read */
    KEEL_WIRE_REFUSAL = 18, /* reply, as ACK: the read names what is not there */
    KEEL_WIRE_LAST
} keel_wire_type_t;

enum {
    KEEL_WIRE_FLAG_LOGGED = 1,   /* GET, ATOMIC, LOCK: append to the get log */
    KEEL_WIRE_FLAG_UNLOGGED = 2, /* GET, ATOMIC, LOCK: there will be no record of it */
    KEEL_WIRE_FLAG_FETCHED = 4,  /* ARRIVE: in the phase that ends the sender fetched; */
    KEEL_WIRE_FLAG_DOUBT = 8,    /* ARRIVE: and nobody can tell what it found */
    KEEL_WIRE_FLAG_WAITS = 16,   /* ARRIVE: it waited for what others put, for the first time */
    KEEL_WIRE_FLAG_MORE = 32,    /* RECORDS: the same put sends another message, whose acknowledgement does for both */
    KEEL_WIRE_FLAG_PUT =
        64, /* RECORDS, ATOMIC: records before these were put, and are there; ARRIVE: some of the phase were */
    KEEL_WIRE_FLAG_CLOCK =
        128, /* ATOMIC, GET: the value is wanted with the clock there (keel_fetched_t, keel_polled_t) */
    KEEL_WIRE_FLAG_OPEN = 256,  /* MARK: the sender fetches from its own memory, and what it finds has no record yet; */
    KEEL_WIRE_FLAG_CLOSED = 512 /* and now it has */
};

/* an access, among those of its process at this target; its record is found by it (keel_get_record_t) */
typedef struct keel_wire_access {
    uint32_t index, phase;
} keel_wire_access_t;

/* what of a message is of its type alone */
typedef union keel_wire_body {
    struct {
        uint32_t phase, number; /* of the first record in it */
    } records;
    struct {
        uint64_t id; /* of the read, in what answers it */
        uint64_t where, length;
        keel_wire_access_t access;
    } get;
    struct {
        uint64_t id;
        uint64_t number; /* of its record */
        uint32_t serial,
            reserved; /* of ATOMIC: among all that its process fetched from service sides, from 1; it comes round */
        keel_wire_access_t access;
    } atomic;
    struct {
        uint64_t id;     /* 0: no answer */
        uint64_t ask;    /* keel_lock_ask_t */
        uint64_t number; /* keel_reading() */
        keel_wire_access_t access;
    } lock;
    struct { /* keel_board_slot_t */
        uint64_t arrive;
        uint32_t second;  /* its number, of the same rollback and incarnation */
        uint32_t classes; /* that the sender uses */
        uint64_t parity_done : 33, even_flags : 15, odd_flags : 15, reserved : 1;
        uint32_t committed, lost_gets;
    } arrive;
    struct {
        uint64_t type;           /* keel_control_type_t */
        uint64_t length, before; /* bytes of the payload, of that before this piece; 0: this is all of it */
    } control;
    struct {
        uint32_t phase;
    } mark;
    struct { /* of the sender: what it uses (keel_classes_bit()), and phases, each + 1 and 0 for none (keel_kinds_t) */
        uint32_t classes, fetched, in_doubt, begun, waits;
    } kinds;
    struct {
        uint64_t id;       /* VALUE, REFUSAL */
        uint64_t sequence; /* of the request */
        /* VALUE of a LOGGED request: where the asker may write what it reads by itself, in the chunk of the get log that has this
         * record: 1 + its index, and bytes of records there; 0: nowhere */
        uint32_t chunk, used;
        /* VALUE of an ATOMIC: how many keel_wire_carried_t come behind the value, and 1 + the last phase in which some had no room; 0: all are
         * there */
        uint32_t carried, missing;
    } reply;
    uint64_t raw[4];
} keel_wire_body_t;
_Static_assert(sizeof(keel_wire_body_t) == 32, "wire format");

typedef struct keel_wire {
    uint8_t version;
    uint8_t type;
    uint16_t flags;
    uint32_t crc; /* of the data, then this header with crc 0: the data may be summed before there is a header */
    uint32_t source, source_incarnation, target_incarnation;
    uint32_t rollback; /* rollback number of the sender */
    uint32_t length;   /* of the data */
    union {
        uint32_t
            answered;     /* of requests: what the sender has fetched from service sides is with it up to that serial */
        uint32_t classes; /* VALUE: that the sender uses */
    };
    uint64_t sequence; /* of requests, per pair and incarnation, from 1 */
    keel_wire_body_t body;
} keel_wire_t;
_Static_assert(sizeof(keel_wire_t) == 72, "wire format");

/* what another found at the same word, and may not have been told yet */
typedef struct keel_wire_carried {
    uint32_t source, incarnation;
    uint32_t serial;
    uint32_t clock; /* as in keel_fetched_t */
    uint64_t old;
} keel_wire_carried_t;
_Static_assert(sizeof(keel_wire_carried_t) == 24, "wire format");

void keel_wire_seal(keel_wire_t *wire, const void *data, size_t length);
/* the same with the sum of the data, keel_crc() of it from 0 */
void keel_wire_seal_summed(keel_wire_t *wire, uint32_t sum, size_t length);
/* takes the header of a message that came from outside; NULL, or what is wrong with it */
const char *keel_wire_open(keel_wire_t *wire, const void *header, size_t header_len, const void *data, size_t data_len);

/* control messages, handled by the main thread in the order sent */
typedef enum {
    KEEL_CONTROL_HELLO = 1, /* address of the sender; the first message between two incarnations */
    KEEL_CONTROL_REGION,    /* a region of the sender */
    KEEL_CONTROL_REPORT,    /* recovery/view */
    KEEL_CONTROL_DECISION,
    KEEL_CONTROL_POSITION,     /* recovery/position */
    KEEL_CONTROL_HANDED,       /* recovery/handed_over: all was handed over; the sender is live towards the receiver */
    KEEL_CONTROL_GETLOG,       /* records the receiver's predecessor left here */
    KEEL_CONTROL_REFILL,       /* records of the sender's gets that the receiver's predecessor held */
    KEEL_CONTROL_IMAGE,        /* ckpt/coordinated: the sender's image of a generation is complete */
    KEEL_CONTROL_GROUP,        /* ckpt: sizes of a generation's images, for a replacement */
    KEEL_CONTROL_ROLLBACK,     /* recovery/rollback: barrier stages */
    KEEL_CONTROL_FINISHED,     /* somebody left the last gsync */
    KEEL_CONTROL_SECTIONS,     /* sync/sections: critical sections of the sender at the receiver */
    KEEL_CONTROL_CAUGHT_UP,    /* the sender's memory stands where its own computation stands */
    KEEL_CONTROL_REQUEST,      /* recovery/ask: somebody wants a rollback */
    KEEL_CONTROL_DECLARED,     /* recovery/detect: the sender declared that incarnation dead */
    KEEL_CONTROL_WAITS,        /* sync/waits: what the sender put to the receiver in a phase */
    KEEL_CONTROL_TAKEN,        /* the sender has replayed all that was put to it: accesses may come again */
    KEEL_CONTROL_DEMAND,       /* recovery/trim: the sender wants the receiver to take an image */
    KEEL_CONTROL_DEMAND_IMAGE, /* ckpt/demand: the sender has taken one */
    KEEL_CONTROL_DEMAND_GROUP, /* ckpt/demand: the group's images, for a replacement */
    KEEL_CONTROL_GAVE_UP,      /* the sender leaves with an error: the job cannot go on */
    KEEL_CONTROL_FILLING,      /* recovery/filling: half of the sender's logs is in use */
    KEEL_CONTROL_LAST
} keel_control_type_t;

#endif
