/*
 * Messages between ranks, as an outsider may send them (transports/service/service_seal.h):
 * captured messages again and in any order, messages of another direction, incarnation or job,
 * changed messages, and any bytes. An input is a list of steps. The receiver takes a message only
 * if the other end of the connection made the message, and later than the last one taken. Anything
 * else aborts.
 */
#include "service/service_seal.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MESSAGES = 16, DATA = 24, RANKS = 4 };
enum { STEP_MAKE, STEP_DELIVER, STEP_CHANGE, STEP_RAW, STEPS };

/* the maker of a message: this connection, the other direction, a predecessor's, another job's */
enum { RIGHT, BACK, OLDER, FOREIGN, SEALS };

typedef struct made {
    keel_service_received_t message;
    uint8_t data[DATA];
    unsigned seal;
} made_t;

typedef struct reader {
    const uint8_t *at, *end;
} reader_t;

static keel_auth_t auth, foreign;
static keel_service_seal_t seals[SEALS], in;
static made_t made[MESSAGES];
static unsigned made_count;
static uint64_t taken; /* number of the last message taken */

static uint8_t next(reader_t *reader)
{
    return (reader->at < reader->end) ? *reader->at++ : 0;
}

static void begin(void)
{
    static const uint8_t secret[KEEL_AUTH_SECRET] = "a secret", other[KEEL_AUTH_SECRET] = "of another job";
    const keel_service_end_t source = {.instance = 1, .rank = 0}, target = {.instance = 2, .rank = 1},
                             predecessor = {.instance = 3, .rank = 1};

    keel_auth_set(&auth, secret);
    keel_auth_set(&foreign, other);
    keel_service_seal_init(&in, &auth, KEEL_SERVICE_REQUESTS, &source, &target);
    keel_service_seal_init(&seals[RIGHT], &auth, KEEL_SERVICE_REQUESTS, &source, &target);
    keel_service_seal_init(&seals[BACK], &auth, KEEL_SERVICE_REQUESTS, &target, &source);
    keel_service_seal_init(&seals[OLDER], &auth, KEEL_SERVICE_REQUESTS, &source, &predecessor);
    keel_service_seal_init(&seals[FOREIGN], &foreign, KEEL_SERVICE_REQUESTS, &source, &target);
    made_count = 0;
    taken = 0;
}

static void must(int is_right)
{
    if (!is_right) {
        abort();
    }
}

/* Delivers a message, and returns whether it was taken. */
static int deliver(const keel_service_received_t *message, const uint8_t *data)
{
    keel_service_received_t received;

    return keel_service_wire_check(message, sizeof(message->wire) + message->wire.header_len, RANKS, &received) ==
               KEEL_OK &&
           keel_service_seal_open(&in, &received, data, DATA) == NULL;
}

static void make(reader_t *reader)
{
    made_t *m = &made[made_count];
    const unsigned who = next(reader);

    if (made_count == MESSAGES) {
        return;
    }
    memset(m, 0, sizeof(*m));
    m->seal = who % SEALS;
    m->message.wire = (keel_service_wire_t){.version = KEEL_SERVICE_WIRE_VERSION,
                                            .kind = (uint8_t)(KEEL_SERVICE_WIRE_HELLO + who / SEALS % 9),
                                            .header_len = (uint16_t)(next(reader) % 9 * sizeof(uint64_t)),
                                            .instance = 1};
    for (unsigned i = 0; i < m->message.wire.header_len; i++) {
        ((uint8_t *)m->message.header)[i] = next(reader);
    }
    for (unsigned i = 0; i < DATA; i++) {
        m->data[i] = next(reader);
    }
    keel_service_seal_close(&seals[m->seal], &m->message.wire, m->data, DATA);
    made_count++;
}

static void deliver_made(reader_t *reader)
{
    const made_t *m = &made[next(reader) % (made_count > 0 ? made_count : 1)];
    const int is_new = made_count > 0 && m->seal == RIGHT && m->message.wire.sequence > taken;

    if (made_count > 0) {
        must(deliver(&m->message, m->data) == is_new);
        taken = is_new ? m->message.wire.sequence : taken;
    }
}

static void deliver_changed(reader_t *reader)
{
    made_t m = made[next(reader) % (made_count > 0 ? made_count : 1)];
    size_t headers = sizeof(m.message.wire) + m.message.wire.header_len, at;
    uint8_t by;

    /* the seal sums the data of greetings alone: other data have a crc in the header */
    headers += (m.message.wire.kind == KEEL_SERVICE_WIRE_HELLO) ? DATA : 0;
    at = (size_t)next(reader) << 8;
    at = (at | next(reader)) % headers;
    by = next(reader);
    if (made_count == 0 || by == 0) {
        return;
    }
    if (at < sizeof(m.message.wire) + m.message.wire.header_len) {
        ((uint8_t *)&m.message)[at] ^= by;
    } else {
        m.data[at - sizeof(m.message.wire) - m.message.wire.header_len] ^= by;
    }
    must(!deliver(&m.message, m.data));
}

static void deliver_raw(reader_t *reader)
{
    keel_service_received_t received;
    uint8_t bytes[sizeof(received) + 8] = {0};
    const size_t length = next(reader) % sizeof(bytes);

    for (size_t i = 0; i < length; i++) {
        bytes[i] = next(reader);
    }
    must(keel_service_wire_check(bytes, length, RANKS, &received) != KEEL_OK ||
         keel_service_seal_open(&in, &received, bytes, DATA) != NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static void (*const steps[STEPS])(reader_t *) = {make, deliver_made, deliver_changed, deliver_raw};
    reader_t reader = {.at = data, .end = data + size};

    begin();
    while (reader.at < reader.end) {
        steps[next(&reader) % STEPS](&reader);
    }
    return 0;
}
