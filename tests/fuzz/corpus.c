/*
 * Makes the corpus: corpus DIRECTORY TARGET writes inputs made of valid objects to DIRECTORY. The
 * contents of control messages come from the library: each input brings a process to the point
 * where the message is sent.
 */
#include "fuzz_scene.h"

#include "ckpt/image.h"
#include "fuzz_input.h"
#include "oplog/get_log_chunks.h"
#include "recovery/view.h"
#include "wire/blocks.h"
#include "wire/get_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define INPUT_MAX    16384
#define CAPTURED_MAX 256

typedef struct input {
    uint8_t bytes[INPUT_MAX];
    size_t length;
} input_t;

typedef struct captured {
    uint32_t to;
    keel_wire_t wire;
    uint8_t data[FUZZ_DATA_MAX];
    size_t length;
} captured_t;

static const char *directory;
static captured_t captured[CAPTURED_MAX];
static unsigned captured_count;

static void add(input_t *input, const void *bytes, size_t length)
{
    if (input->length + length > sizeof(input->bytes)) {
        fprintf(stderr, "corpus: input too long\n");
        exit(EXIT_FAILURE);
    }
    if (length > 0) {
        memcpy(input->bytes + input->length, bytes, length);
    }
    input->length += length;
}

static void add_byte(input_t *input, unsigned byte)
{
    const uint8_t b = (uint8_t)byte;

    add(input, &b, 1);
}

static void save(const input_t *input, const char *name)
{
    char path[4096];
    FILE *file;

    snprintf(path, sizeof(path), "%s/%s", directory, name);
    file = fopen(path, "wb");
    if (file == NULL || fwrite(input->bytes, 1, input->length, file) != input->length || fclose(file) != 0) {
        perror(path);
        exit(EXIT_FAILURE);
    }
}

/* ---- control messages ---- */

static void capture(void *arg, uint32_t to, const void *header, const void *data, size_t length)
{
    captured_t *c = &captured[captured_count];

    if (captured_count == CAPTURED_MAX || length > sizeof(c->data)) {
        return;
    }
    c->to = to;
    memcpy(&c->wire, header, sizeof(c->wire));
    if (length > 0) {
        memcpy(c->data, data, length);
    }
    c->length = length;
    captured_count++;
}

static void begin(input_t *input, unsigned rank, unsigned incarnation)
{
    input->length = 0;
    add_byte(input, rank | incarnation << 2);
}

static void add_step(input_t *input, unsigned step, unsigned rank)
{
    add_byte(input, step | rank << 4);
}

static void add_message(input_t *input, unsigned source, unsigned type, unsigned flags, const uint64_t words[4],
                        const void *data, size_t length)
{
    fuzz_message_t message = {
        .source = (uint8_t)source, .type = (uint8_t)type, .flags = (uint16_t)flags, .length = (uint16_t)length};

    memcpy(message.words, words, sizeof(message.words));
    add_step(input, FUZZ_STEP_MESSAGE, 0);
    add(input, &message, sizeof(message));
    add(input, data, length);
}

static size_t control_max = SIZE_MAX; /* longer messages are sent in chunks */

static void add_control(input_t *input, unsigned source, keel_control_type_t type, const void *data, size_t length)
{
    const int is_whole = length <= control_max;
    size_t offset = 0;

    do {
        const size_t piece = (length - offset < control_max) ? length - offset : control_max;
        const uint64_t words[4] = {type, is_whole ? 0 : length, offset};

        add_message(input, source, KEEL_WIRE_CONTROL, 0, words, (length > 0) ? (const uint8_t *)data + offset : data,
                    piece);
        offset += piece;
    } while (offset < length);
}

/* Adds the newest message of the type sent by @a source, addressed to the process of this input. */
static void add_captured(input_t *input, unsigned source, keel_control_type_t type)
{
    for (unsigned i = captured_count; i-- > 0;) {
        const captured_t *c = &captured[i];

        if (c->wire.source == source && c->wire.type == KEEL_WIRE_CONTROL && c->wire.body.control.type == type) {
            add_control(input, source, type, c->data, c->length);
            return;
        }
    }
    fprintf(stderr, "corpus: rank %u never sent control message %d\n", source, (int)type);
    exit(EXIT_FAILURE);
}

static void play(const input_t *input, const char *name)
{
    (void)LLVMFuzzerTestOneInput(input->bytes, input->length);
    save(input, name);
}

/* Plays and saves an input; ends the program if the process refuses any part. */
static void play_accepted(const input_t *input, const char *name)
{
    fuzz_refused[0] = '\0';
    play(input, name);
    if (fuzz_refused[0] != '\0') {
        fprintf(stderr, "corpus: %s: %s\n", name, fuzz_refused);
        exit(EXIT_FAILURE);
    }
}

/* Rank 2 dies and is replaced. */
static void add_death(input_t *input)
{
    add_step(input, FUZZ_STEP_DEATH, 2);
    add_step(input, FUZZ_STEP_PROGRESS, 0);
    add_step(input, FUZZ_STEP_JOIN, 2);
    add_step(input, FUZZ_STEP_PROGRESS, 0);
}

static void add_arrivals(input_t *input, uint32_t number)
{
    for (unsigned r = 0; r < FUZZ_RANKS; r++) {
        const uint64_t words[4] = {keel_arrive(0, 0, number), keel_arrive(0, 0, number)};

        add_message(input, r, KEEL_WIRE_ARRIVE, 0, words, NULL, 0);
    }
    add_step(input, FUZZ_STEP_GSYNC, 0);
}

static void control_view(void)
{
    input_t input;

    for (unsigned r = 1; r < FUZZ_RANKS; r += 2) {
        begin(&input, r, 0);
        add_step(&input, FUZZ_STEP_PUT, 2);
        add_death(&input);
        play(&input, r == 1 ? "report_1" : "report_3");
    }
    begin(&input, 2, 1);
    for (unsigned r = 0; r < FUZZ_RANKS; r++) {
        if (r != 2) {
            add_control(&input, r, KEEL_CONTROL_HELLO, "here", 4);
        }
    }
    add_step(&input, FUZZ_STEP_PROGRESS, 0);
    play(&input, "report_fresh");

    for (unsigned in_pieces = 0; in_pieces < 2; in_pieces++) {
        begin(&input, 0, 0);
        add_death(&input);
        control_max = in_pieces ? 64 : SIZE_MAX;
        for (unsigned r = 1; r < FUZZ_RANKS; r++) {
            add_captured(&input, r, KEEL_CONTROL_REPORT);
        }
        control_max = SIZE_MAX;
        play_accepted(&input, in_pieces ? "decision_of_pieces" : "decision");
    }
}

static void control_recovery(void)
{
    static const uint32_t position[2] = {0, KEEL_RANK_FRONT}, rollback[2] = {1, KEEL_ROLL_DRAINED};
    static const uint64_t hands[6] = {0, 1, 1, 1};
    input_t input;

    begin(&input, 1, 0);
    add_step(&input, FUZZ_STEP_PUT, 2);
    add_death(&input);
    add_captured(&input, 0, KEEL_CONTROL_DECISION);
    add_step(&input, FUZZ_STEP_PROGRESS, 0);
    add_control(&input, 2, KEEL_CONTROL_POSITION, position, sizeof(position));
    add_step(&input, FUZZ_STEP_PROGRESS, 0);
    add_control(&input, 2, KEEL_CONTROL_ROLLBACK, rollback, sizeof(rollback));
    add_control(&input, 3, KEEL_CONTROL_FINISHED, NULL, 0);
    play(&input, "recovery");

    begin(&input, 2, 1);
    for (unsigned r = 0; r < FUZZ_RANKS; r++) {
        if (r != 2) {
            add_control(&input, r, KEEL_CONTROL_HELLO, "here", 4);
            add_captured(&input, 1, KEEL_CONTROL_REGION);
        }
    }
    add_step(&input, FUZZ_STEP_PROGRESS, 0);
    add_captured(&input, 0, KEEL_CONTROL_DECISION);
    add_captured(&input, 1, KEEL_CONTROL_GETLOG);
    add_control(&input, 3, KEEL_CONTROL_HANDED, hands, sizeof(hands));
    play(&input, "replacement");
}

static void control_checkpoint(void)
{
    static const struct {
        uint32_t number, share_slot;
        keel_image_member_t members[FUZZ_RANKS];
    } group = {1, 0, {{1, 0, 384}, {1, 0, 384}, {1, 0, 384}, {1, 0, 384}}};
    input_t input;

    begin(&input, 1, 0);
    add_arrivals(&input, 1);
    add_step(&input, FUZZ_STEP_CHECKPOINT, 0);
    play(&input, "image");
    begin(&input, 0, 0);
    add_step(&input, FUZZ_STEP_CHECKPOINT, 0);
    for (unsigned r = 1; r < FUZZ_RANKS; r++) {
        const keel_image_notice_t image = {.number = 1, .slot = 0, .size = 384};

        add_control(&input, r, KEEL_CONTROL_IMAGE, &image, sizeof(image));
    }
    add_step(&input, FUZZ_STEP_PROGRESS, 0);
    add_death(&input);
    play(&input, "checkpoint");
    begin(&input, 2, 1);
    add_control(&input, 3, KEEL_CONTROL_GROUP, &group, sizeof(group));
    add_step(&input, FUZZ_STEP_PROGRESS, 0);
    play(&input, "group");
}

/* Adds the newest decision of rank 0, for a program that locks, or one that waits. */
static void add_decision(input_t *input, int has_locks, int has_waits)
{
    for (unsigned i = captured_count; i-- > 0;) {
        const captured_t *c = &captured[i];
        _Alignas(8) uint8_t bytes[FUZZ_DATA_MAX];

        if (c->wire.source == 0 && c->wire.type == KEEL_WIRE_CONTROL &&
            c->wire.body.control.type == KEEL_CONTROL_DECISION) {
            decision_t *decision = (void *)bytes;

            memcpy(bytes, c->data, c->length);
            decision->sync.has_locks = (uint32_t)has_locks;
            decision->sync.has_waits = (uint32_t)has_waits;
            decision->sync.waits_since = has_waits ? 0 : UINT32_MAX;
            add_control(input, 0, KEEL_CONTROL_DECISION, bytes, c->length);
            return;
        }
    }
    fprintf(stderr, "corpus: rank 0 never decided\n");
    exit(EXIT_FAILURE);
}

static void begin_replacement(input_t *input)
{
    begin(input, 2, 1);
    for (unsigned r = 0; r < FUZZ_RANKS; r++) {
        if (r != 2) {
            add_control(input, r, KEEL_CONTROL_HELLO, "here", 4);
        }
    }
    add_step(input, FUZZ_STEP_PROGRESS, 0);
}

/* A record with one number, and a put behind the record: the content of SECTIONS and WAITS messages
 * behind their heads. */
typedef struct numbered {
    keel_record_t head;
    uint64_t number;
    keel_record_t put;
    uint64_t data;
} numbered_t;

static numbered_t numbered_put(keel_record_op_t op, uint64_t number, uint64_t offset)
{
    return (numbered_t){.head = {.where = keel_where(0, op, 0), .length = 8},
                        .number = number,
                        .put = {.where = keel_where(offset, KEEL_RECORD_PUT, FUZZ_WINDOW), .length = 8},
                        .data = 0x5151515151515151};
}

static void control_sections(void)
{
    input_t input;

    begin_replacement(&input);
    add_decision(&input, 1, 0);
    add_step(&input, FUZZ_STEP_PROGRESS, 0);
    for (unsigned r = 0, number = 1; r < FUZZ_RANKS; r++) {
        struct {
            uint32_t phase, is_last;
            uint64_t owns, reads, seen, is_left;
            numbered_t section[2];
        } message = {.is_last = 1, .seen = 6};

        if (r != 2) {
            message.section[0] = numbered_put(KEEL_RECORD_LOCK, number++, 8 * r);
            message.section[1] = numbered_put(KEEL_RECORD_LOCK, number++, 8 * r);
            add_control(&input, r, KEEL_CONTROL_SECTIONS, &message, sizeof(message));
        }
    }
    add_step(&input, FUZZ_STEP_PROGRESS, 0);
    add_step(&input, FUZZ_STEP_REPLAY, 0);
    play_accepted(&input, "sections");

    begin(&input, 1, 0); /* a survivor */
    add_step(&input, FUZZ_STEP_PUT, 2);
    add_death(&input);
    add_decision(&input, 1, 0);
    add_step(&input, FUZZ_STEP_PROGRESS, 0);
    add_control(&input, 2, KEEL_CONTROL_CAUGHT_UP, NULL, 0);
    add_step(&input, FUZZ_STEP_PROGRESS, 0);
    play_accepted(&input, "whole");
}

static void control_waits(void)
{
    input_t input;

    begin_replacement(&input);
    add_decision(&input, 0, 1);
    add_step(&input, FUZZ_STEP_PROGRESS, 0);
    for (uint32_t stage = 1; stage <= 2; stage++) { /* the prefix, then the remaining records */
        for (unsigned r = 0; r < FUZZ_RANKS; r++) {
            struct {
                uint32_t phase, stage;
                numbered_t put[2];
            } message = {.stage = stage};

            if (r != 2) {
                message.put[0] = numbered_put(KEEL_RECORD_CLOCK, 2 * stage + r, 8 * r);
                message.put[1] = numbered_put(KEEL_RECORD_CLOCK, 2 * stage + r + 1, 8 * r);
                add_control(&input, r, KEEL_CONTROL_WAITS, &message, sizeof(message));
            }
        }
        add_step(&input, FUZZ_STEP_PROGRESS, 0);
        add_step(&input, FUZZ_STEP_REPLAY, 0);
    }
    play_accepted(&input, "waits");

    begin(&input, 1, 0);
    add_step(&input, FUZZ_STEP_PUT, 2);
    add_death(&input);
    add_decision(&input, 0, 1);
    add_step(&input, FUZZ_STEP_PROGRESS, 0);
    add_control(&input, 2, KEEL_CONTROL_REST_DONE, NULL, 0);
    add_step(&input, FUZZ_STEP_PROGRESS, 0);
    play_accepted(&input, "taken");
}

static void control_requests(void)
{
    static const uint32_t number = 1, who[2] = {3, 0};
    input_t input;

    for (unsigned r = 0; r < 2; r++) { /* rank 0 forwards the message */
        begin(&input, r, 0);
        add_control(&input, 2, KEEL_CONTROL_REQUEST, &number, sizeof(number));
        add_step(&input, FUZZ_STEP_PROGRESS, 0);
        play_accepted(&input, r == 0 ? "request_to_rank_0" : "request");
    }
    begin(&input, 1, 0);
    add_control(&input, 2, KEEL_CONTROL_DECLARED, who, sizeof(who));
    add_step(&input, FUZZ_STEP_PROGRESS, 0);
    add_step(&input, FUZZ_STEP_JOIN, 3);
    add_step(&input, FUZZ_STEP_PROGRESS, 0);
    play_accepted(&input, "declared");
}

static void control_demand(void)
{
    static const struct {
        uint32_t number, share_slot;
        keel_image_member_t members[FUZZ_RANKS];
    } group = {1, 2, {{.size = 384}, {.position = 1, .slot = 2, .size = 384}, {.size = 384}, {.size = 384}}};
    const keel_image_notice_t image = {.number = 1, .slot = 2, .size = 384};
    const uint32_t number = 1;
    input_t input;

    begin(&input, 1, 0);
    add_control(&input, 2, KEEL_CONTROL_DEMAND, &number, sizeof(number));
    add_control(&input, 3, KEEL_CONTROL_DEMAND_IMAGE, &image, sizeof(image));
    add_step(&input, FUZZ_STEP_PROGRESS, 0);
    add_arrivals(&input, 1);
    play(&input, "demand");
    begin(&input, 2, 1);
    add_control(&input, 3, KEEL_CONTROL_DEMAND_GROUP, &group, sizeof(group));
    add_step(&input, FUZZ_STEP_PROGRESS, 0);
    play(&input, "demand_group");
}

static void control_accesses(void)
{
    const keel_record_t put = {.where = keel_where(8, KEEL_RECORD_PUT, FUZZ_WINDOW), .length = 8};
    const keel_record_t update = {.where = keel_where(16, KEEL_RECORD_ATOMIC, FUZZ_WINDOW), .length = 32};
    const keel_record_atomic_t atomic = {.op = KEEL_ATOMIC_ADD, .size = 8, .operand = 3};
    const uint64_t get[4] = {1, put.where, 8, 1ull << 32}, ack[4] = {1};
    const struct {
        keel_get_parts_t head;
        keel_get_part_t part[2];
    } parts = {{.count = 2}, {{.where = put.where, .length = 8, .count = 1}, {put.where + 16, 20, 4, 3}}};
    const uint64_t blocks[4] = {2, keel_where_blocks(put.where), sizeof(parts) + 20, 1 | 1ull << 32};
    uint8_t records[24 + 48];
    input_t input;

    memcpy(records, &put, 16);
    memset(records + 16, 0x22, 8);
    memcpy(records + 24, &update, 16);
    memcpy(records + 40, &atomic, 32);
    begin(&input, 0, 0);
    add_message(&input, 1, KEEL_WIRE_MARK, 0, ack, NULL, 0);
    add_message(&input, 1, KEEL_WIRE_USAGE, 0, ack, NULL, 0);
    add_message(&input, 1, KEEL_WIRE_RECORDS, 0, ack, records, sizeof(records));
    add_message(&input, 2, KEEL_WIRE_GET, KEEL_WIRE_FLAG_LOGGED, get, NULL, 0);
    add_message(&input, 2, KEEL_WIRE_GET, KEEL_WIRE_FLAG_LOGGED, blocks, &parts, sizeof(parts));
    add_message(&input, 3, KEEL_WIRE_ATOMIC, KEEL_WIRE_FLAG_LOGGED, get, records + 24, 48);
    add_message(&input, 1, KEEL_WIRE_ACK, 0, ack, NULL, 0);
    add_message(&input, 1, KEEL_WIRE_VALUE, 0, ack, records, 8);
    add_step(&input, FUZZ_STEP_RAW_REQUEST, 0);
    add_byte(&input, 80);
    for (unsigned i = 0; i < 80; i++) {
        add_byte(&input, i == 0 ? KEEL_WIRE_VERSION : i);
    }
    play(&input, "accesses");
}

static void make_control(void)
{
    fuzz_sent = capture;
    control_view();
    control_recovery();
    control_checkpoint();
    control_sections();
    control_waits();
    control_requests();
    control_demand();
    control_accesses();
}

/* ---- records ---- */

static void record_make(uint8_t *at, keel_record_op_t op, uint64_t offset, uint32_t length)
{
    const keel_record_t record = {.where = keel_where(offset, op, FUZZ_WINDOW), .length = length};

    memcpy(at, &record, sizeof(record));
    memset(at + sizeof(record), 0x33, keel_pad8(length));
}

static void record_get(uint8_t *at, uint32_t phase, uint32_t index)
{
    const keel_get_record_t record = {
        .phase = phase, .index = index, .where = keel_where(index * 8, KEEL_RECORD_PUT, FUZZ_WINDOW), .length = 8};

    memcpy(at, &record, sizeof(record));
    memset(at + sizeof(record), 0x44, 8);
}

/* An accumulate with 16 bytes of elements, all 0. */
static void save_accumulate(unsigned kind, keel_record_op_t record, unsigned op, unsigned type, unsigned count,
                            const char *name)
{
    uint8_t bytes[16 + sizeof(keel_record_accumulate_t) + 16] = {0};
    input_t input = {.length = 0};

    record_make(bytes, record, 32, sizeof(keel_record_accumulate_t) + 16);
    memset(bytes + 16, 0, sizeof(bytes) - 16);
    bytes[16] = (uint8_t)op;
    bytes[17] = (uint8_t)type;
    bytes[20] = (uint8_t)count;
    add_byte(&input, kind);
    add(&input, bytes, sizeof(bytes));
    save(&input, name);
}

/* Puts of several blocks, and a put with a signal. */
static void save_parts(void)
{
    const keel_record_part_t one = {.where = keel_where(8, KEEL_RECORD_PUT, FUZZ_WINDOW), .length = 5, .count = 1};
    const keel_record_part_t more = {.where = keel_where(64, KEEL_RECORD_PUT, FUZZ_WINDOW), .length = 4, .count = 3};
    const keel_record_signal_t word = {.where = keel_where(24, KEEL_RECORD_PUT, FUZZ_WINDOW), .value = 1};
    uint8_t bytes[256];
    input_t input = {.length = 0};

    record_make(bytes, KEEL_RECORD_BLOCKS, 8, 24 + 40);
    memcpy(bytes + 16, &one, sizeof(one));
    memcpy(bytes + 40, &more, sizeof(more));
    memset(bytes + 56, 0, 8);
    bytes[56] = 10; /* stride of the blocks */
    record_make(bytes + 80, KEEL_RECORD_SIGNAL, 32, sizeof(word) + 9);
    memcpy(bytes + 96, &word, sizeof(word));
    add_byte(&input, FUZZ_RECORD_RECORDS);
    add(&input, bytes, 80 + 16 + 32);
    save(&input, "parts");
}

static void make_record(void)
{
    static uint64_t arena[FUZZ_GETLOG / 8];
    const uint32_t chunk_size = keel_get_chunk_size(FUZZ_GETLOG);
    uint8_t bytes[256] = {0};
    input_t input = {.length = 0};

    for (uint32_t source = 1; source < FUZZ_RANKS; source++) {
        keel_get_chunks_writer_t writer = {0};

        for (uint32_t i = 0; i < 6; i++) {
            const keel_get_record_t record = {.phase = i / 3, .index = i % 3, .length = 200};

            (void)keel_get_chunks_write(arena, sizeof(arena) / 4, chunk_size, &writer, source, &record, bytes);
        }
    }
    add_byte(&input, FUZZ_RECORD_ARENA);
    add(&input, arena, sizeof(arena) / 4);
    save(&input, "arena");

    for (unsigned i = 0; i < 4; i++) {
        record_get(bytes + 8 + (size_t)i * 32, i / 2, i % 2);
    }
    bytes[0] = 1; /* is the last message */
    bytes[4] = 3; /* number of the next chunk */
    for (unsigned kind = FUZZ_RECORD_REPLAY; kind <= FUZZ_RECORD_REFILL; kind++) {
        input.length = 0;
        add_byte(&input, kind);
        add(&input, bytes, 8 + 4 * 32);
        save(&input, kind == FUZZ_RECORD_REPLAY ? "replay" : "refill");
    }

    record_make(bytes, KEEL_RECORD_PUT, 0, 8);
    record_make(bytes + 24, KEEL_RECORD_PUT, 100, 33);
    input.length = 0;
    add_byte(&input, FUZZ_RECORD_RECORDS);
    add(&input, bytes, 24 + 16 + 40);
    save(&input, "puts");

    record_make(bytes, KEEL_RECORD_ATOMIC, 16, sizeof(keel_record_atomic_t));
    memset(bytes + 16, 0, sizeof(keel_record_atomic_t));
    bytes[16] = KEEL_ATOMIC_CSWAP;
    bytes[17] = 4;
    input.bytes[0] = FUZZ_RECORD_ATOMIC;
    input.length = 1;
    add(&input, bytes, 48);
    save(&input, "atomic");

    save_accumulate(FUZZ_RECORD_ACCUMULATE, KEEL_RECORD_ACCUMULATE, KEEL_OP_SUM, KEEL_TYPE_DOUBLE, 2, "accumulate");
    save_accumulate(FUZZ_RECORD_UNNUMBERED, KEEL_RECORD_ACCUMULATE, KEEL_OP_SUM, KEEL_TYPE_DOUBLE, 2, "unnumbered");
    save_accumulate(FUZZ_RECORD_RECORDS, KEEL_RECORD_ACCUMULATE, KEEL_OP_SUM, KEEL_TYPE_DOUBLE, 2, "accumulates");
    save_accumulate(FUZZ_RECORD_ACCUMULATE, KEEL_RECORD_ACCUMULATE, KEEL_OP_MAXLOC, KEEL_TYPE_DOUBLE_INT32, 1, "pair");
    save_accumulate(FUZZ_RECORD_RECORDS, KEEL_RECORD_ATOMICS, KEEL_OP_SUM, KEEL_TYPE_UINT64, 2, "atomics");
    save_parts();
}

/* ---- images ---- */

static void make_image(void)
{
    static uint8_t memory[2][256], slot[4096] __attribute__((aligned(KEEL_IMAGE_ALIGN)));
    const keel_part_t parts[2] = {{.kind = KEEL_PART_WINDOW, .id = 0, .base = memory[0], .length = sizeof memory[0]},
                                  {.kind = KEEL_PART_PROTECTED, .id = 1, .base = memory[1], .length = 24}};
    const keel_image_meta_t meta = {.generation = 5, .rank = 3, .window_calls = 1};
    input_t input;

    memset(memory[0], 0x55, sizeof(memory[0]));
    for (unsigned count = 0; count <= 2; count++) {
        for (unsigned seal = 0; seal <= FUZZ_IMAGE_SEAL; seal++) {
            char name[32];

            keel_image_write(slot, &meta, parts, count);
            input.length = 0;
            add_byte(&input, seal);
            add(&input, slot, keel_image_size(parts, count));
            snprintf(name, sizeof(name), "%u_parts%s", count, seal ? "_sealed" : "");
            save(&input, name);
        }
    }
}

/* ---- configuration ---- */

static void make_config(void)
{
    static const char *const text[] = {
        "KEEL_LANES=served\nKEEL_PROTECT=puts\nKEEL_OPLOG_SIZE=64m\nKEEL_GETLOG_SIZE=16384\nKEEL_CKPT_SIZE=inf",
        "KEEL_GROUP_SIZE=auto\nKEEL_CKPT_INTERVAL=3gsyncs\nKEEL_MTBF=2.5m\nKEEL_SPIN=10us\nKEEL_VERBOSE=yes",
        "KEEL_CKPT_INTERVAL=250ms\nKEEL_LOG_LEVEL=debug\nKEEL_TLS_SERVED=tcp,self\nKEEL_GROUP_SIZE=8",
        "KEEL_CKPT_INTERVAL=daly\nKEEL_MTBF=-1\nKEEL_SPIN=inf\nKEEL_NOSUCH=1\nKEEL_GROUP_SIZE=1",
        "KEEL_PARITY=dedicated\nKEEL_PARITIES=3\nKEEL_CHECKSUM_RANKS=6\nKEEL_OPLOG_SOFT=100\nKEEL_CKPT_TRANSFER=bulk",
        "KEEL_HEARTBEAT_INTERVAL=0\nKEEL_HEARTBEAT_TIMEOUT=2.5s\nKEEL_SPARES=3\nKEEL_SPAWN=2\nKEEL_PARITY=rotate",
        "KEEL_OPLOG_SOFT=101\nKEEL_SPAWN=4294967295\nKEEL_HEARTBEAT_TIMEOUT=inf\nKEEL_PARITIES=4\nKEEL_CKPT_SIZE=1"};

    for (unsigned i = 0; i < sizeof(text) / sizeof(text[0]); i++) {
        input_t input = {.length = 0};
        char name[16];

        add(&input, text[i], strlen(text[i]));
        snprintf(name, sizeof(name), "values_%u", i);
        save(&input, name);
    }
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*make)(void);
    } target[] = {{"control", make_control}, {"record", make_record}, {"image", make_image}, {"config", make_config}};

    for (unsigned i = 0; argc == 3 && i < sizeof(target) / sizeof(target[0]); i++) {
        if (strcmp(argv[2], target[i].name) == 0) {
            directory = argv[1];
            target[i].make();
            return EXIT_SUCCESS;
        }
    }
    fprintf(stderr, "usage: corpus DIRECTORY control|record|image|config\n");
    return EXIT_FAILURE;
}
