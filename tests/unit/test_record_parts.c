/*
 * Records of several parts as they come from outside: each record is applied as a whole, or not at
 * all.
 */
#include "lane_scene.h"

#include "unit.h"
#include "peer/served.h"
#include "wire/blocks.h"
#include "wire/digest.h"

#include <string.h>

typedef struct blocks {
    keel_record_t record;
    struct {
        keel_record_part_t head; /* one block of 3 bytes */
        uint8_t data[8];
    } first;
    struct {
        keel_record_part_t head; /* two blocks of 5 bytes */
        uint64_t stride;
        uint8_t data[16];
    } second;
} blocks_t;

typedef struct signal {
    keel_record_t record;
    keel_record_signal_t word;
    uint8_t data[8]; /* 6 bytes used */
} signal_t;

static uint64_t place(uint64_t offset)
{
    return keel_where(offset, KEEL_RECORD_PUT, WINDOW);
}

static blocks_t blocks_of(void)
{
    const size_t length = sizeof(blocks_t) - sizeof(keel_record_t);
    blocks_t blocks = {
        .record = {.where = keel_where(16, KEEL_RECORD_BLOCKS, WINDOW), .length = (uint32_t)length},
        .first = {.head = {.where = place(16), .length = 3, .count = 1}, .data = "abc"},
        .second = {.head = {.where = place(64), .length = 5, .count = 2}, .stride = 100, .data = "defghijklm"}};

    return blocks;
}

static signal_t signal_of(void)
{
    const signal_t signal = {
        .record = {.where = keel_where(40, KEEL_RECORD_SIGNAL, WINDOW), .length = sizeof(keel_record_signal_t) + 6},
        .word = {.where = place(200), .value = 7},
        .data = "uvwxyz"};

    return signal;
}

static unsigned window_filled(const scene_t *scene)
{
    unsigned filled = 0;

    for (unsigned i = 0; i < BYTES; i++) {
        filled += scene->window[i] != 0;
    }
    return filled;
}

/* Delivers one record. */
static void deliver(scene_t *scene, const void *record, size_t length)
{
    keel_wire_t wire = scene_wire(scene, 1, KEEL_WIRE_RECORDS);

    scene_deliver(scene, &wire, record, length);
}

static void refused(const void *record, size_t length, const char *what)
{
    scene_t scene;

    scene_begin(&scene, 0);
    deliver(&scene, record, length);
    ck_assert_msg(scene.lane.failure == KEEL_ERR_CORRUPT && window_filled(&scene) == 0, "%s: %u bytes are written",
                  what, window_filled(&scene));
    scene_end(&scene);
}

/* ---- tests ---- */

START_TEST(parts_go_where_they_say)
{
    const blocks_t blocks = blocks_of();
    const signal_t signal = signal_of();
    keel_wire_t wire;
    scene_t scene;

    scene_begin(&scene, 0);
    deliver(&scene, &blocks, sizeof(blocks));
    ck_assert(memcmp(scene.window + 16, "abc", 3) == 0 && memcmp(scene.window + 64, "defgh", 5) == 0 &&
              memcmp(scene.window + 164, "ijklm", 5) == 0);
    ck_assert_uint_eq(window_filled(&scene), 13);
    wire = scene_wire(&scene, 1, KEEL_WIRE_RECORDS);
    wire.body.records.number = 1;
    scene_deliver(&scene, &wire, &signal, sizeof(signal));
    ck_assert(memcmp(scene.window + 40, "uvwxyz", 6) == 0 && scene.window[200] == 7);
    ck_assert_uint_eq(window_filled(&scene), 20);
    ck_assert_int_eq(scene.lane.failure, KEEL_OK);
    scene_end(&scene);
}
END_TEST

START_TEST(nothing_of_malformed_parts_is_done)
{
    static const uint32_t wrong[] = {0, 4, 6, 17, 0x80000000u, UINT32_MAX};
    blocks_t blocks;

    for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        blocks = blocks_of();
        blocks.second.head.count = wrong[i];
        refused(&blocks, sizeof(blocks), "another count");
        blocks = blocks_of();
        blocks.second.head.length = (wrong[i] == 6 || wrong[i] == 4) ? 13 : wrong[i];
        refused(&blocks, sizeof(blocks), "another length");
    }
    blocks = blocks_of();
    blocks.second.head.length = blocks.second.head.count = 0x10001u; /* 2^32 and more */
    refused(&blocks, sizeof(blocks), "a product that comes round");
    blocks = blocks_of();
    blocks.second.head.where = keel_where(64, KEEL_RECORD_ATOMIC, WINDOW);
    refused(&blocks, sizeof(blocks), "another operation");
    blocks = blocks_of();
    blocks.record.length = 0;
    refused(&blocks, sizeof(blocks.record), "no part");
}
END_TEST

START_TEST(no_block_leaves_its_window)
{
    static const uint64_t strides[] = {BYTES - 68, UINT64_MAX, UINT64_MAX - 4, UINT64_MAX - 68, 1ull << 63};
    static const unsigned regions[] = {WINDOW + 1, KEEL_REGION_BOARD, KEEL_REGION_GETLOG, 4095};
    signal_t signal;
    blocks_t blocks;

    for (unsigned i = 0; i < sizeof(strides) / sizeof(strides[0]); i++) {
        blocks = blocks_of();
        blocks.second.stride = strides[i];
        refused(&blocks, sizeof(blocks), "another distance");
    }
    for (unsigned i = 0; i < sizeof(regions) / sizeof(regions[0]); i++) {
        blocks = blocks_of();
        blocks.second.head.where = keel_where(64, KEEL_RECORD_PUT, regions[i]);
        refused(&blocks, sizeof(blocks), "another region");
        signal = signal_of();
        signal.word.where = keel_where(200, KEEL_RECORD_PUT, regions[i]);
        refused(&signal, sizeof(signal), "a word of another region");
        signal = signal_of();
        signal.record.where = keel_where(40, KEEL_RECORD_SIGNAL, regions[i]);
        refused(&signal, sizeof(signal), "data of another region");
    }
    blocks = blocks_of();
    blocks.second.head.where = place(KEEL_OFFSET_MAX);
    refused(&blocks, sizeof(blocks), "the last offset");
    signal = signal_of();
    signal.word.where = place(BYTES - 7);
    refused(&signal, sizeof(signal), "a word beyond the end");
    signal = signal_of();
    signal.record.where = keel_where(BYTES - 5, KEEL_RECORD_SIGNAL, WINDOW);
    refused(&signal, sizeof(signal), "data beyond the end");
    signal = signal_of();
    signal.word.where = keel_where(200, KEEL_RECORD_BLOCKS, WINDOW);
    refused(&signal, sizeof(signal), "no word");
}
END_TEST

START_TEST(no_shorter_or_longer_record_is_done)
{
    for (uint32_t length = 0; length < sizeof(blocks_t) - sizeof(keel_record_t); length++) {
        blocks_t blocks = blocks_of();

        if (length == sizeof(blocks.first)) {
            continue; /* a valid record of the first part alone */
        }
        blocks.record.length = length;
        refused(&blocks, sizeof(keel_record_t) + keel_pad8(length), "less than its parts");
    }
    for (uint32_t length = 0; length <= sizeof(keel_record_signal_t); length++) {
        signal_t signal = signal_of();

        signal.record.length = length;
        refused(&signal, sizeof(keel_record_t) + keel_pad8(length), "a signal without data");
    }
    for (uint32_t more = 1; more < 32; more++) {
        struct {
            blocks_t blocks;
            uint64_t more[4];
        } longer = {.blocks = blocks_of()};

        longer.blocks.record.length += more;
        refused(&longer, sizeof(keel_record_t) + keel_pad8(longer.blocks.record.length), "more than its parts");
    }
}
END_TEST

static uint64_t sum_of(const keel_record_t *record)
{
    keel_digest_t digest = {0};

    keel_digest_add(&digest, 0, 0, record, record + 1);
    return digest.sum;
}

/* The sum shows a re-execution that differs. */
START_TEST(each_bit_of_parts_is_in_their_sum)
{
    blocks_t blocks = blocks_of();
    signal_t signal = signal_of();
    const uint64_t of_blocks = sum_of(&blocks.record), of_signal = sum_of(&signal.record);

    for (size_t i = 0; i < 8 * sizeof(blocks); i++) {
        uint8_t *byte = (uint8_t *)&blocks + i / 8;
        const size_t at = i / 8;

        if ((at >= 8 && at < 16) || (at >= 35 && at < 40) || at >= 74) {
            continue; /* length (makes another record), epoch, and padding */
        }
        *byte ^= (uint8_t)(1u << (i % 8));
        ck_assert_msg(sum_of(&blocks.record) != of_blocks, "bit %zu of blocks", i);
        *byte ^= (uint8_t)(1u << (i % 8));
    }
    for (size_t i = 0; i < 8 * (sizeof(signal) - 2); i++) {
        uint8_t *byte = (uint8_t *)&signal + i / 8;

        if (i / 8 >= 8 && i / 8 < 16) {
            continue; /* another length makes another record, or none */
        }
        *byte ^= (uint8_t)(1u << (i % 8));
        ck_assert_msg(sum_of(&signal.record) != of_signal, "bit %zu of a signal", i);
        *byte ^= (uint8_t)(1u << (i % 8));
    }
}
END_TEST

/* A signal takes no more of a log than two records for the put and the word. */
START_TEST(a_signal_is_no_longer_than_two_records)
{
    for (uint32_t length = 1; length < 100; length++) {
        const keel_record_t data = {.length = length}, word = {.length = 8};
        const keel_record_t both = {.length = (uint32_t)sizeof(keel_record_signal_t) + length};

        ck_assert(keel_record_size(&both) <= keel_record_size(&data) + keel_record_size(&word));
    }
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {parts_go_where_they_say,
                                  nothing_of_malformed_parts_is_done,
                                  no_block_leaves_its_window,
                                  no_shorter_or_longer_record_is_done,
                                  each_bit_of_parts_is_in_their_sum,
                                  a_signal_is_no_longer_than_two_records,
                                  NULL};

    return unit_run("record_parts", tests);
}
