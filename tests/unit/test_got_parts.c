/*
 * Gets of several blocks at the service side: one reply and one record for all blocks. A malformed
 * get reads and records nothing.
 */
#include "lane_scene.h"

#include "unit.h"
#include "wire/get_parts.h"

#include <string.h>

#define PARTS     3u
#define BLOCKS    (8u + 3 * 5 + 2 * 100) /* bytes of all blocks */
#define DESCRIBED (8u + PARTS * 24)

typedef struct ask {
    keel_wire_t wire;
    size_t length; /* bytes of data */
    struct {
        keel_get_parts_t head;
        keel_get_part_t part[PARTS];
    } data;
} ask_t;

/* The last block ends with the window. */
static ask_t ask_of(scene_t *scene)
{
    ask_t ask = {.wire = scene_wire(scene, 1, KEEL_WIRE_GET), .length = DESCRIBED, .data.head.count = PARTS};

    ask.data.part[0] = (keel_get_part_t){.where = keel_where(16, KEEL_RECORD_PUT, WINDOW), .length = 8, .count = 1};
    ask.data.part[1] =
        (keel_get_part_t){.where = keel_where(101, KEEL_RECORD_PUT, WINDOW), .stride = 7, .length = 5, .count = 3};
    ask.data.part[2] = (keel_get_part_t){
        .where = keel_where(BYTES - 150, KEEL_RECORD_PUT, WINDOW), .stride = 50, .length = 100, .count = 2};
    ask.wire.flags = KEEL_WIRE_FLAG_LOGGED;
    ask.wire.body.get.id = 7;
    ask.wire.body.get.where = keel_where(16, KEEL_RECORD_BLOCKS, WINDOW);
    ask.wire.body.get.length = DESCRIBED + BLOCKS;
    return ask;
}

static void scene_fill(scene_t *scene)
{
    for (unsigned i = 0; i < BYTES; i++) {
        scene->window[i] = (uint8_t)(i * 7 + i / 256);
    }
}

/* Packs the blocks of the window as filled. */
static void pack(const scene_t *scene, const ask_t *ask, uint8_t *to)
{
    for (unsigned i = 0; i < PARTS; i++) {
        const keel_get_part_t *part = &ask->data.part[i];

        for (unsigned k = 0; k < part->count; k++, to += part->length) {
            memcpy(to, scene->window + keel_where_offset(part->where) + k * part->stride, part->length);
        }
    }
}

START_TEST(all_blocks_are_one_answer_and_one_record)
{
    uint8_t want[BLOCKS];
    scene_t scene;
    ask_t ask;

    scene_begin(&scene, 0);
    scene_fill(&scene);
    ask = ask_of(&scene);
    pack(&scene, &ask, want);
    scene_deliver(&scene, &ask.wire, &ask.data, ask.length);
    ck_assert_uint_eq(fake.replies, 1);
    ck_assert_uint_eq(fake.last_reply.type, KEEL_WIRE_VALUE);
    ck_assert_uint_eq(fake.last_reply.length, BLOCKS);
    ck_assert_uint_eq(fake.last_reply.body.reply.id, 7);
    ck_assert_mem_eq(fake.room, want, BLOCKS);
    ck_assert_uint_eq(scene.noted, 1);
    ck_assert_mem_eq(scene.log, &ask.data, DESCRIBED);
    ck_assert_mem_eq(scene.log + DESCRIBED, want, BLOCKS);
    scene_end(&scene);
}
END_TEST

/* The log has no room, or the source wants no record. */
START_TEST(without_a_record_they_are_answered_all_the_same)
{
    for (unsigned is_full = 0; is_full < 2; is_full++) {
        uint8_t want[BLOCKS];
        scene_t scene;
        ask_t ask;

        scene_begin(&scene, 0);
        scene_fill(&scene);
        ask = ask_of(&scene);
        pack(&scene, &ask, want);
        scene.is_log_full = (int)is_full;
        ask.wire.flags = is_full ? KEEL_WIRE_FLAG_LOGGED : KEEL_WIRE_FLAG_UNLOGGED;
        scene_deliver(&scene, &ask.wire, &ask.data, ask.length);
        ck_assert_uint_eq(fake.last_reply.type, KEEL_WIRE_VALUE);
        ck_assert_mem_eq(fake.room, want, BLOCKS);
        ck_assert_uint_eq(scene.noted, 0);
        scene_end(&scene);
    }
}
END_TEST

enum {
    NO_PARTS,
    MORE_PARTS,
    LESS_PARTS,
    ALL_PARTS,
    SHORT,
    NOTHING,
    ONLY_A_HEAD,
    LONGER,
    NO_LENGTH,
    NO_COUNT,
    NO_SUCH_COUNT,
    FAR,
    ROUND,
    BEHIND,
    BEFORE,
    ELSEWHERE,
    ALL_ELSEWHERE,
    NO_WINDOW,
    NO_PUT,
    OTHER_PLACE,
    SAYS_MORE,
    SAYS_LESS,
    TOO_LONG,
    SAYS_ALL,
    POLLED,
    FLAWS
};

static void spoil_message(ask_t *ask, unsigned flaw)
{
    ask->data.head.count = (flaw == NO_PARTS)     ? 0
                           : (flaw == MORE_PARTS) ? PARTS + 1
                           : (flaw == LESS_PARTS) ? PARTS - 1
                           : (flaw == ALL_PARTS)  ? UINT32_MAX
                                                  : PARTS;
    ask->length = (flaw == SHORT)         ? DESCRIBED - 1
                  : (flaw == NOTHING)     ? 0
                  : (flaw == ONLY_A_HEAD) ? sizeof(ask->data.head)
                                          : DESCRIBED;
    ask->wire.body.get.length = (flaw == SAYS_MORE)   ? DESCRIBED + BLOCKS + 1
                                : (flaw == SAYS_LESS) ? DESCRIBED + BLOCKS - 1
                                : (flaw == SAYS_ALL)  ? UINT64_MAX
                                                      : DESCRIBED + BLOCKS;
    ask->wire.flags |= (flaw == POLLED) ? KEEL_WIRE_FLAG_CLOCK : 0;
    if (flaw == OTHER_PLACE) {
        ask->wire.body.get.where++;
    }
    if (flaw == ALL_ELSEWHERE || flaw == NO_WINDOW) {
        const unsigned region = (flaw == NO_WINDOW) ? KEEL_REGION_GETLOG : WINDOW + 1;

        ask->wire.body.get.where = keel_where(16, KEEL_RECORD_BLOCKS, region);
        for (unsigned i = 0; i < PARTS; i++) {
            ask->data.part[i].where = keel_where(keel_where_offset(ask->data.part[i].where), KEEL_RECORD_PUT, region);
        }
    }
}

static void spoil_part(ask_t *ask, keel_get_part_t *part, unsigned flaw)
{
    switch (flaw) {
    case LONGER: /* longer than the window */
        part->length++;
        ask->wire.body.get.length += part->count;
        break;
    case NO_LENGTH:
        ask->wire.body.get.length -= keel_get_part_bytes(part);
        part->length = 0;
        break;
    case NO_COUNT:
        ask->wire.body.get.length -= keel_get_part_bytes(part);
        part->count = 0;
        break;
    case NO_SUCH_COUNT:
        part->count = UINT32_MAX;
        ask->wire.body.get.length = DESCRIBED + BLOCKS - 200 + keel_get_part_bytes(part);
        break;
    case FAR:
        part->stride = BYTES;
        break;
    case ROUND: /* the product wraps around to the start, or to an offset before the start */
        part->stride = UINT64_MAX;
        break;
    case BEHIND:
        part->where++;
        break;
    case BEFORE:
        part->where = keel_where(KEEL_OFFSET_MAX, KEEL_RECORD_PUT, WINDOW);
        break;
    case ELSEWHERE:
        part->where = keel_where(0, KEEL_RECORD_PUT, KEEL_REGION_GETLOG);
        break;
    case NO_PUT:
        part->where = keel_where(0, KEEL_RECORD_BLOCKS, WINDOW);
        break;
    case TOO_LONG: /* too long for a reply, though each block is in the window */
        part->stride = 0;
        part->count = 50;
        ask->wire.body.get.length += 48 * part->length;
        break;
    default:
        break;
    }
}

START_TEST(what_is_malformed_is_refused_and_not_recorded)
{
    for (unsigned flaw = 0; flaw < FLAWS; flaw++) {
        scene_t scene;
        ask_t ask;

        scene_begin(&scene, 0);
        scene_fill(&scene);
        ask = ask_of(&scene);
        spoil_message(&ask, flaw);
        spoil_part(&ask, &ask.data.part[PARTS - 1], flaw);
        scene_deliver(&scene, &ask.wire, &ask.data, ask.length);
        ck_assert_msg(fake.last_reply.type == KEEL_WIRE_REFUSAL, "flaw %u", flaw);
        ck_assert_int_eq(scene.lane.failure, KEEL_OK); /* the source knows of the refusal */
        ck_assert_uint_eq(scene.noted, 0);
        for (unsigned i = 0; i < BYTES; i++) {
            ck_assert_uint_eq(fake.room[i] | scene.log[i], 0);
        }
        scene_end(&scene);
    }
}
END_TEST

/* A sum of lengths that wraps around is refused. */
START_TEST(a_description_has_as_many_bytes_as_it_says)
{
    struct {
        keel_get_parts_t head;
        keel_get_part_t part[2];
    } data = {.head.count = 2};
    uint64_t bytes;

    for (unsigned i = 0; i < 2; i++) {
        data.part[i] =
            (keel_get_part_t){.where = keel_where(0, KEEL_RECORD_PUT, WINDOW), .length = 1u << 20, .count = 1u << 20};
    }
    ck_assert_uint_eq(keel_get_parts_read(&data, sizeof(data), &bytes), 2);
    ck_assert_uint_eq(bytes, 1ull << 41);
    data.part[1].count = UINT32_MAX;
    data.part[1].length = UINT32_MAX;
    ck_assert_uint_eq(keel_get_parts_read(&data, sizeof(data), &bytes), 0);
    data.part[1] = data.part[0];
    ck_assert_uint_eq(keel_get_parts_read(&data, sizeof(data) - 1, &bytes), 0);
    for (size_t length = 0; length < sizeof(data.head); length++) {
        ck_assert_uint_eq(keel_get_parts_read(&data, length, &bytes), 0);
    }
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        all_blocks_are_one_answer_and_one_record, without_a_record_they_are_answered_all_the_same,
        what_is_malformed_is_refused_and_not_recorded, a_description_has_as_many_bytes_as_it_says, NULL};

    return unit_run("got_parts", tests);
}
