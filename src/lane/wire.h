/*
 * What leaves the process over the served lane: one header for every message, versioned, with the crc of header and
 * data. Little-endian, as every machine UCX runs on here.
 */
#ifndef KEEL_LANE_WIRE_H_
#define KEEL_LANE_WIRE_H_

#include <stdint.h>

#define KEEL_WIRE_VERSION 8

typedef enum {
    /* requests */
    KEEL_WIRE_RECORDS = 1, /* data: put-log records; words: phase, number of the first one in it */
    KEEL_WIRE_GET = 2,     /* words: id, where, length, phase << 32 | index; flag LOGGED: append to the get log */
    KEEL_WIRE_ARRIVE = 3,  /* data: board slot */
    KEEL_WIRE_CONTROL =
        4, /* data: its payload, or a piece of it; words: control type, bytes of the whole payload (0: this
                              is all of it), bytes before this piece */
    KEEL_WIRE_ATOMIC = 5, /* data: keel_record_t, keel_record_atomic_t; words: id, number, -, phase << 32 | index */
    KEEL_WIRE_LOCK = 6,   /* words: id (0: no answer), keel_lock_ask_t, keel_reading(), phase << 32 | index */
    KEEL_WIRE_PROBE = 7,  /* asks for nothing but the acknowledgement: is anybody there? */
    /* replies */
    KEEL_WIRE_ACK = 16,     /* words[1]: requests up to this sequence number are done */
    KEEL_WIRE_VALUE = 17,   /* words: id, as ACK; data: what was read */
    KEEL_WIRE_REFUSAL = 18, /* words: id, as ACK: the read names what is not there */
    KEEL_WIRE_LAST
} keel_wire_type_t;

enum {
    KEEL_WIRE_FLAG_LOGGED = 1,   /* GET, ATOMIC: append to the get log */
    KEEL_WIRE_FLAG_MARK = 2,     /* RECORDS: an atomic of this phase is coming */
    KEEL_WIRE_FLAG_UNLOGGED = 4, /* GET, ATOMIC: there will be no record of it */
    KEEL_WIRE_FLAG_DOUBT = 8,    /* with MARK: and nobody can tell what it fetches */
    KEEL_WIRE_FLAG_WAIT = 16,    /* RECORDS: the sender waits in this phase for what others put: the first that does */
    KEEL_WIRE_FLAG_CLASSES = 32, /* RECORDS: words[0] are the classes of atomics that the sender uses */
    KEEL_WIRE_FLAG_MORE = 64     /* RECORDS: the same put sends another message, whose acknowledgement does for both */
};

typedef struct keel_wire {
    uint8_t version;
    uint8_t type;
    uint16_t flags;
    uint32_t crc; /* of the data, then this header with crc 0: the data may be summed before there is a header */
    uint32_t source, source_incarnation, target_incarnation;
    uint32_t rollback; /* rollback number of the sender */
    uint32_t length;   /* of the data */
    uint32_t reserved;
    uint64_t sequence; /* of requests, per pair and incarnation, from 1 */
    uint64_t words[4];
} keel_wire_t;
_Static_assert(sizeof(keel_wire_t) == 72, "wire format");

/* control messages, handled by the main thread in the order sent */
typedef enum {
    KEEL_CONTROL_HELLO = 1, /* address of the sender; the first message between two incarnations */
    KEEL_CONTROL_REGION,    /* a region of the sender */
    KEEL_CONTROL_REPORT,    /* recovery/view */
    KEEL_CONTROL_DECISION,
    KEEL_CONTROL_POSITION,     /* recovery/position */
    KEEL_CONTROL_HANDED,       /* the sender has handed everything over and is live towards the receiver */
    KEEL_CONTROL_GETLOG,       /* records the receiver's predecessor left here */
    KEEL_CONTROL_REFILL,       /* records of the sender's gets that the receiver's predecessor held */
    KEEL_CONTROL_IMAGE,        /* ckpt/coordinated: the sender's image of a generation is complete */
    KEEL_CONTROL_GROUP,        /* ckpt: sizes of a generation's images, for a replacement */
    KEEL_CONTROL_ROLLBACK,     /* recovery/rollback: barrier stages */
    KEEL_CONTROL_FINISHED,     /* somebody left the last gsync */
    KEEL_CONTROL_SECTIONS,     /* recovery/sections: critical sections of the sender at the receiver */
    KEEL_CONTROL_WHOLE,        /* the sender's memory stands where its own computation stands */
    KEEL_CONTROL_REQUEST,      /* recovery/ask: somebody wants a rollback */
    KEEL_CONTROL_DECLARED,     /* recovery/detect: the sender declared that incarnation dead */
    KEEL_CONTROL_WAITS,        /* recovery/waits: what the sender put to the receiver in a phase */
    KEEL_CONTROL_TAKEN,        /* the sender has replayed all that was put to it: accesses may come again */
    KEEL_CONTROL_DEMAND,       /* recovery/trim: the sender wants the receiver to take an image */
    KEEL_CONTROL_DEMAND_IMAGE, /* ckpt/demand: the sender has taken one */
    KEEL_CONTROL_DEMAND_GROUP, /* ckpt/demand: the group's images, for a replacement */
    KEEL_CONTROL_GAVE_UP,      /* the sender leaves with an error: the job cannot go on */
    KEEL_CONTROL_LAST
} keel_control_type_t;

#endif
