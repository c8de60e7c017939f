/*
 * The served lane under messages from outside: no corrupt, short, foreign or out-of-order message
 * is applied.
 */
#include "lane_scene.h"

#include "base/memory.h"
#include "unit.h"
#include "peer/control.h"
#include "peer/issue.h"
#include "peer/arrival.h"
#include "peer/region.h"
#include "peer/served.h"

#include <string.h>

typedef struct put {
    keel_record_t record;
    uint8_t bytes[8];
} put_t;

static put_t put_of(uint64_t offset, unsigned region)
{
    put_t put = {.record = {.where = keel_where(offset, KEEL_RECORD_PUT, region), .length = 8}};

    memset(put.bytes, 0xab, sizeof(put.bytes));
    return put;
}

static int window_is_zero(const scene_t *scene)
{
    for (unsigned i = 0; i < BYTES; i++) {
        if (scene->window[i] != 0) {
            return 0;
        }
    }
    return 1;
}

/* ---- tests ---- */

START_TEST(a_sealed_put_is_applied)
{
    scene_t scene;
    put_t put = put_of(8, WINDOW);
    keel_wire_t wire;

    scene_begin(&scene, 0);
    wire = scene_wire(&scene, 1, KEEL_WIRE_RECORDS);
    scene_deliver(&scene, &wire, &put, sizeof(put));
    ck_assert_uint_eq(scene.window[8], 0xab);
    ck_assert_uint_eq(scene.window[7], 0);
    ck_assert_uint_eq(scene.window[16], 0);
    scene_end(&scene);
}
END_TEST

typedef struct addition {
    keel_record_t record;
    keel_record_atomic_t atomic;
} addition_t;

/* Delivers an addition of one to the word at 0 as record @a number of @a phase. Returns the new
 * value of the word. */
static uint64_t scene_add(scene_t *scene, uint32_t phase, uint32_t number)
{
    const addition_t addition = {
        .record = {.where = keel_where(0, KEEL_RECORD_ATOMIC, WINDOW), .length = sizeof(addition.atomic)},
        .atomic = {.op = KEEL_ATOMIC_ADD, .size = 8, .operand = 1}};
    keel_wire_t wire = scene_wire(scene, 1, KEEL_WIRE_RECORDS);
    uint64_t word;

    wire.body.records.phase = phase;
    wire.body.records.number = number;
    scene_deliver(scene, &wire, &addition, sizeof(addition));
    memcpy(&word, scene->window, sizeof(word));
    return word;
}

START_TEST(each_record_of_a_phase_is_applied_once)
{
    scene_t scene;

    scene_begin(&scene, 0);
    ck_assert_uint_eq(scene_add(&scene, 3, 0), 1);
    ck_assert_uint_eq(scene_add(&scene, 3, 1), 2);
    ck_assert_uint_eq(scene_add(&scene, 3, 0), 2); /* again, as a replacement does */
    ck_assert_uint_eq(scene_add(&scene, 3, 1), 2);
    ck_assert_uint_eq(scene_add(&scene, 3, 2), 3);
    ck_assert_uint_eq(scene_add(&scene, 4, 0), 4); /* numbers restart with the phase */
    ck_assert_uint_eq(scene_add(&scene, 3, 3), 4); /* a phase that is over */
    ck_assert_int_eq(scene.lane.failure, KEEL_OK);
    ck_assert_uint_eq(scene_add(&scene, 4, 2), 4); /* a record is missing */
    ck_assert_int_eq(scene.lane.failure, KEEL_ERR_CORRUPT);
    scene_end(&scene);
}
END_TEST

/* One message back for a get, and one for any number of puts. */
START_TEST(an_answer_acknowledges_what_it_answers)
{
    scene_t scene;
    put_t put = put_of(8, WINDOW);
    keel_wire_t wire;

    scene_begin(&scene, 0);
    wire = scene_wire(&scene, 1, KEEL_WIRE_RECORDS);
    scene_deliver(&scene, &wire, &put, sizeof(put));
    ck_assert_uint_eq(fake.replies, 0);
    wire = scene_wire(&scene, 1, KEEL_WIRE_GET);
    wire.body.get.id = 77;
    wire.body.get.where = keel_where(8, KEEL_RECORD_PUT, WINDOW);
    wire.body.get.length = 8;
    scene_deliver(&scene, &wire, NULL, 0);
    ck_assert_uint_eq(fake.replies, 1);
    ck_assert_uint_eq(fake.last_reply.type, KEEL_WIRE_VALUE);
    ck_assert_uint_eq(fake.last_reply.body.reply.id, 77);
    ck_assert_uint_eq(fake.last_reply.body.reply.sequence, 2);
    ck_assert_int_eq(keel_lane_on_idle(&scene.lane, 0), 0);
    ck_assert_uint_eq(fake.replies, 1);
    for (unsigned i = 0; i < 3; i++) {
        wire = scene_wire(&scene, 1, KEEL_WIRE_RECORDS);
        wire.body.records.number = 1 + i;
        scene_deliver(&scene, &wire, &put, sizeof(put));
    }
    ck_assert_int_eq(keel_lane_on_idle(&scene.lane, 0), 0);
    ck_assert_uint_eq(fake.replies, 2);
    ck_assert_uint_eq(fake.last_reply.type, KEEL_WIRE_ACK);
    ck_assert_uint_eq(fake.last_reply.body.reply.sequence, 5);
    scene_end(&scene);
}
END_TEST

/* In a put of several messages only the last message is acknowledged, for all of them. If nothing
 * follows in time, the idle lane acknowledges. */
START_TEST(announced_message_is_acknowledged_with_the_next_one)
{
    scene_t scene;
    put_t put = put_of(8, WINDOW);
    keel_wire_t wire;

    scene_begin(&scene, 0);
    for (unsigned i = 0; i < 6; i++) {
        wire = scene_wire(&scene, 1, KEEL_WIRE_RECORDS);
        wire.body.records.number = i;
        wire.flags = (i % 3 < 2) ? KEEL_WIRE_FLAG_MORE : 0;
        scene_deliver(&scene, &wire, &put, sizeof(put));
        ck_assert_int_eq(keel_lane_on_idle(&scene.lane, 0), i % 3 < 2);
        ck_assert_uint_eq(fake.replies, (i + 1) / 3);
    }
    ck_assert_uint_eq(fake.last_reply.body.reply.sequence, 6);
    wire = scene_wire(&scene, 1, KEEL_WIRE_RECORDS);
    wire.body.records.number = 6;
    wire.flags = KEEL_WIRE_FLAG_MORE;
    scene_deliver(&scene, &wire, &put, sizeof(put));
    ck_assert_int_eq(keel_lane_on_idle(&scene.lane, 0), 1);
    ck_assert_int_eq(keel_lane_on_idle(&scene.lane, 1), 0);
    ck_assert_uint_eq(fake.replies, 3);
    ck_assert_uint_eq(fake.last_reply.body.reply.sequence, 7);
    ck_assert_int_eq(keel_lane_on_idle(&scene.lane, 1), 0);
    ck_assert_uint_eq(fake.replies, 3);
    scene_end(&scene);
}
END_TEST

/* The thread inside Keel is woken for messages it may wait for, and for errors. */
START_TEST(reads_and_records_of_others_are_no_news)
{
    scene_t scene;
    put_t put = put_of(8, WINDOW);
    keel_wire_t wire;

    scene_begin(&scene, 0);
    wire = scene_wire(&scene, 1, KEEL_WIRE_RECORDS);
    ck_assert_int_eq(scene_deliver(&scene, &wire, &put, sizeof(put)), 0);
    for (keel_wire_type_t type = KEEL_WIRE_MARK; type <= KEEL_WIRE_USAGE; type++) {
        wire = scene_wire(&scene, 1, type);
        ck_assert_int_eq(scene_deliver(&scene, &wire, NULL, 0), KEEL_SERVED_AWAITED);
    }
    wire = scene_wire(&scene, 1, KEEL_WIRE_GET);
    wire.body.get.where = keel_where(8, KEEL_RECORD_PUT, WINDOW);
    wire.body.get.length = 8;
    ck_assert_int_eq(scene_deliver(&scene, &wire, NULL, 0), 0);
    wire = scene_wire(&scene, 1, KEEL_WIRE_PROBE);
    ck_assert_int_eq(scene_deliver(&scene, &wire, NULL, 0), 0);
    wire = scene_wire(&scene, 1, KEEL_WIRE_ARRIVE);
    ck_assert_int_eq(scene_deliver(&scene, &wire, NULL, 0), KEEL_SERVED_AWAITED);
    wire = scene_wire(&scene, 1, KEEL_WIRE_LOCK);
    wire.body.lock.ask = KEEL_LOCK_TRY;
    ck_assert_int_eq(scene_deliver(&scene, &wire, NULL, 0), KEEL_SERVED_AWAITED);
    wire = scene_wire(&scene, 1, KEEL_WIRE_CONTROL);
    wire.body.control.type = KEEL_CONTROL_REPORT; /* also for a thread that does not wait */
    ck_assert_int_eq(scene_deliver(&scene, &wire, NULL, 0), KEEL_SERVED_AWAITED | KEEL_SERVED_NOTIFY);
    scene.lane.awaits_records = 1;
    wire = scene_wire(&scene, 1, KEEL_WIRE_RECORDS);
    wire.body.records.number = 1;
    ck_assert_int_eq(scene_deliver(&scene, &wire, &put, sizeof(put)), KEEL_SERVED_AWAITED);
    ck_assert_int_eq(scene.lane.failure, KEEL_OK);
    wire = scene_wire(&scene, 1, KEEL_WIRE_RECORDS);
    wire.body.records.number = 7;
    scene.lane.awaits_records = 0;
    ck_assert_int_eq(scene_deliver(&scene, &wire, &put, sizeof(put)), KEEL_SERVED_AWAITED | KEEL_SERVED_NOTIFY);
    ck_assert_int_eq(scene.lane.failure, KEEL_ERR_CORRUPT);
    scene_end(&scene);
}
END_TEST

START_TEST(no_flipped_bit_of_a_message_is_applied)
{
    scene_t scene;
    struct {
        keel_wire_t wire;
        put_t put;
    } sent, got;

    scene_begin(&scene, 0);
    sent.wire = scene_wire(&scene, 1, KEEL_WIRE_RECORDS);
    sent.put = put_of(0, WINDOW);
    keel_wire_seal(&sent.wire, &sent.put, sizeof(sent.put));
    for (size_t bit = 0; bit < sizeof(sent) * 8; bit++) {
        got = sent;
        ((uint8_t *)&got)[bit / 8] ^= (uint8_t)(1u << bit % 8);
        keel_lane_on_request(&scene.lane, &got.wire, sizeof(got.wire), &got.put, sizeof(got.put));
        ck_assert_int_eq(scene.lane.failure, KEEL_ERR_CORRUPT);
        scene.lane.failure = KEEL_OK; /* otherwise the lane applies nothing more */
    }
    ck_assert(window_is_zero(&scene));
    keel_lane_on_request(&scene.lane, &sent.wire, sizeof(sent.wire), &sent.put, sizeof(sent.put));
    ck_assert_uint_eq(scene.window[0], 0xab); /* and no refused message counted in the sequence */
    scene_end(&scene);
}
END_TEST

START_TEST(no_short_message_is_applied)
{
    scene_t scene;
    put_t put = put_of(0, WINDOW);
    keel_wire_t wire;

    scene_begin(&scene, 0);
    wire = scene_wire(&scene, 1, KEEL_WIRE_RECORDS);
    keel_wire_seal(&wire, &put, sizeof(put));
    for (size_t length = 0; length < sizeof(wire); length++) {
        keel_lane_on_request(&scene.lane, &wire, length, &put, sizeof(put));
    }
    for (size_t length = 0; length < sizeof(put); length++) {
        keel_lane_on_request(&scene.lane, &wire, sizeof(wire), &put, length);
    }
    /* well sealed, but the record states more bytes than follow */
    for (size_t length = 0; length < sizeof(put); length++) {
        wire = scene_wire(&scene, 1, KEEL_WIRE_RECORDS);
        scene_deliver(&scene, &wire, &put, length);
    }
    ck_assert(window_is_zero(&scene));
    scene_end(&scene);
}
END_TEST

START_TEST(nothing_is_written_outside_a_window)
{
    static const struct {
        uint64_t offset;
        unsigned region;
    } bad[] = {{BYTES, WINDOW},           {BYTES - 7, WINDOW},    {KEEL_OFFSET_MAX, WINDOW}, {0, WINDOW + 1},
               {0, KEEL_REGION_LAST - 1}, {0, KEEL_REGION_BOARD}, {0, KEEL_REGION_GETLOG},   {0, KEEL_REGION_IMAGE0}};
    scene_t scene;
    keel_wire_t wire;

    scene_begin(&scene, 0);
    for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        put_t put = put_of(bad[i].offset, bad[i].region);

        wire = scene_wire(&scene, 1, KEEL_WIRE_RECORDS);
        scene_deliver(&scene, &wire, &put, sizeof(put));
    }
    ck_assert(window_is_zero(&scene));
    for (unsigned i = 0; i < RANKS; i++) {
        ck_assert_uint_eq(scene.lane.board[i].arrive, 0);
    }
    scene_end(&scene);
}
END_TEST

/* Delivers a logged get of the window, by rank 1. */
static void scene_get(scene_t *scene, uint64_t offset, uint64_t length)
{
    keel_wire_t wire = scene_wire(scene, 1, KEEL_WIRE_GET);

    wire.flags = KEEL_WIRE_FLAG_LOGGED;
    wire.body.get.where = keel_where(offset, KEEL_RECORD_PUT, WINDOW);
    wire.body.get.length = length;
    scene_deliver(scene, &wire, NULL, 0);
}

START_TEST(a_read_that_cannot_be_answered_is_refused_and_not_recorded)
{
    scene_t scene;

    scene_begin(&scene, 0);
    scene_get(&scene, BYTES - 4, 8);
    ck_assert_uint_eq(fake.last_reply.type, KEEL_WIRE_REFUSAL);
    scene_get(&scene, 0, UINT64_MAX);
    ck_assert_uint_eq(fake.last_reply.type, KEEL_WIRE_REFUSAL);
    ck_assert_uint_eq(scene.noted, 0);
    scene_end(&scene);
}
END_TEST

/* Long reads use streaming stores; their ends share lines with other records. */
START_TEST(a_read_beside_a_write_is_answered_as_it_was_recorded)
{
    static const size_t lengths[] = {1, 7, 8, 64, 255, 256, 257, 700, BYTES - 8};
    const uint64_t offset = 8;

    for (unsigned i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
        scene_t scene;
        keel_wire_t wire;

        scene_begin(&scene, 0);
        for (size_t at = 0; at < BYTES; at++) {
            scene.window[at] = (uint8_t)(at % 127 + 1);
        }
        scene_get(&scene, offset, lengths[i]);
        ck_assert_uint_eq(scene.noted, 1);
        ck_assert_uint_eq(scene.window[offset], 0xa5);
        ck_assert_uint_eq(scene.log[lengths[i] - 1], (offset + lengths[i] - 1) % 127 + 1);
        ck_assert_uint_eq(scene.log[lengths[i]], 0);
        ck_assert_mem_eq(fake.room, scene.log, lengths[i]);
        wire = fake.last_reply;
        keel_wire_seal(&wire, scene.log, lengths[i]);
        ck_assert_uint_eq(wire.crc, fake.last_reply.crc);
        scene_end(&scene);
    }
}
END_TEST

START_TEST(a_log_without_room_costs_no_answer)
{
    scene_t scene;

    scene_begin(&scene, 0);
    scene.is_log_full = 1;
    memset(scene.window, 0x5c, BYTES);
    scene_get(&scene, 0, BYTES);
    ck_assert_uint_eq(scene.noted, 0);
    ck_assert_uint_eq(fake.last_reply.type, KEEL_WIRE_VALUE);
    ck_assert_mem_eq(fake.room, scene.window, BYTES);
    scene_end(&scene);
}
END_TEST

/* A record of a read from the get log's own memory would overwrite the source of the read. */
START_TEST(only_a_window_is_read_with_a_record)
{
    static const unsigned regions[] = {KEEL_REGION_BOARD, KEEL_REGION_WINDOW0};

    for (unsigned is_window = 0; is_window < 2; is_window++) {
        for (unsigned is_logged = 0; is_logged < 2; is_logged++) {
            const int is_answered = is_window || !is_logged;
            keel_wire_t wire;
            scene_t scene;

            scene_begin(&scene, 0);
            wire = scene_wire(&scene, 1, KEEL_WIRE_GET);
            wire.flags = is_logged ? KEEL_WIRE_FLAG_LOGGED : 0;
            wire.body.get.where = keel_where(0, KEEL_RECORD_PUT, regions[is_window]);
            wire.body.get.length = 8;
            scene_deliver(&scene, &wire, NULL, 0);
            ck_assert_uint_eq(fake.last_reply.type, is_answered ? KEEL_WIRE_VALUE : KEEL_WIRE_REFUSAL);
            ck_assert_uint_eq(scene.noted, is_window && is_logged);
            scene_end(&scene);
        }
    }
}
END_TEST

/* A source waits for ever for a reply that cannot be sent, unless the source is dead. */
START_TEST(a_read_without_memory_for_its_answer_ends_the_process)
{
    static const struct {
        keel_status_t of_room, of_reply, of_lane;
    } cases[] = {{KEEL_ERR_UNREACHABLE, KEEL_OK, KEEL_OK},
                 {KEEL_ERR_NO_MEMORY, KEEL_OK, KEEL_ERR_NO_MEMORY},
                 {KEEL_OK, KEEL_ERR_UNREACHABLE, KEEL_OK},
                 {KEEL_OK, KEEL_ERR_NO_MEMORY, KEEL_ERR_NO_MEMORY}};

    for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        const unsigned noted = (cases[i].of_room == KEEL_OK) ? 1 : 0;
        scene_t scene;

        scene_begin(&scene, 0);
        fake.room_status = cases[i].of_room;
        fake.reply_status = cases[i].of_reply;
        scene_get(&scene, 8, 8);
        ck_assert_uint_eq(scene.noted, noted);
        ck_assert_uint_eq(fake.replies, 0);
        ck_assert_int_eq(scene.lane.failure, cases[i].of_lane);
        fake.room_status = fake.reply_status = KEEL_OK;
        scene_get(&scene, 8, 8); /* its reply would be taken for the reply before */
        ck_assert_uint_eq(fake.replies, (cases[i].of_lane == KEEL_OK) ? 1 : 0);
        ck_assert_uint_eq(scene.noted, noted + fake.replies);
        scene_end(&scene);
    }
}
END_TEST

START_TEST(a_gap_a_stranger_and_another_rollback_are_refused)
{
    scene_t scene;
    put_t put = put_of(0, WINDOW);
    keel_wire_t wire;

    scene_begin(&scene, 0);
    wire = scene_wire(&scene, 1, KEEL_WIRE_RECORDS);
    wire.sequence++;
    scene_deliver(&scene, &wire, &put, sizeof(put));
    ck_assert_int_eq(scene.lane.failure, KEEL_ERR_CORRUPT);
    scene.lane.failure = KEEL_OK; /* otherwise the lane applies nothing more */
    scene.sequence[1]--;
    wire = scene_wire(&scene, 1, KEEL_WIRE_RECORDS);
    wire.source_incarnation = 1; /* an incarnation unknown to all ranks */
    scene_deliver(&scene, &wire, &put, sizeof(put));
    scene.sequence[1]--;
    wire = scene_wire(&scene, 1, KEEL_WIRE_RECORDS);
    wire.target_incarnation = 1;
    scene_deliver(&scene, &wire, &put, sizeof(put));
    scene.sequence[1]--;
    wire = scene_wire(&scene, 1, KEEL_WIRE_RECORDS);
    wire.rollback = 1;
    scene_deliver(&scene, &wire, &put, sizeof(put)); /* in the sequence, without effect */
    ck_assert(window_is_zero(&scene));
    wire = scene_wire(&scene, 1, KEEL_WIRE_RECORDS);
    scene_deliver(&scene, &wire, &put, sizeof(put));
    ck_assert_uint_eq(scene.window[0], 0xab);
    scene_end(&scene);
}
END_TEST

static void board_say(scene_t *scene, uint32_t source, uint32_t incarnation, uint32_t number)
{
    keel_wire_t wire = scene_wire(scene, source, KEEL_WIRE_ARRIVE);

    wire.source_incarnation = incarnation;
    wire.body.arrive.arrive = keel_arrive(0, incarnation, number);
    scene_deliver(scene, &wire, NULL, 0);
}

START_TEST(a_greeting_outruns_the_news_of_the_predecessors_life_and_death)
{
    scene_t scene;

    scene_begin(&scene, 1);
    scene_greet(&scene, 2, 2);
    /* joined before this process asked */
    ck_assert_int_eq(keel_lane_peer_up(&scene.lane, 2, 1, "there", 5), KEEL_OK);
    board_say(&scene, 2, 2, 1);
    keel_lane_peer_down(&scene.lane, 2, 2); /* and died */
    board_say(&scene, 2, 2, 2);
    ck_assert_int_eq(keel_lane_peer_up(&scene.lane, 2, 2, "there", 5), KEEL_OK);
    board_say(&scene, 2, 2, 3);
    ck_assert_uint_eq(keel_arrive_number(scene.lane.board[2].arrive, 0, 2), 3);
    scene_end(&scene);
}
END_TEST

START_TEST(a_dead_incarnation_is_cut_off)
{
    scene_t scene;

    scene_begin(&scene, 1);
    scene_greet(&scene, 2, 0);
    board_say(&scene, 2, 0, 1);
    ck_assert_int_eq(keel_lane_peer_up(&scene.lane, 2, 0, "there", 5), KEEL_OK);
    keel_lane_peer_down(&scene.lane, 2, 1);
    board_say(&scene, 2, 0, 2);
    ck_assert_uint_eq(keel_arrive_number(scene.lane.board[2].arrive, 0, 0), 1);
    /* the greeting was dropped with the incarnation */
    ck_assert_ptr_null(keel_lane_control_next(&scene.lane));
    scene_end(&scene);
}
END_TEST

START_TEST(a_malformed_region_announcement_is_refused)
{
    union {
        keel_control_in_t in;
        uint8_t room[sizeof(keel_control_in_t) + 512];
    } message;
    scene_t scene;

    scene_begin(&scene, 0);
    for (size_t length = 0; length < 512; length++) {
        memset(&message, 0xff, sizeof(message));
        message.in.source = 1;
        message.in.type = KEEL_CONTROL_REGION;
        message.in.length = length;
        ck_assert_int_eq(keel_lane_control(&scene.lane, &message.in), 1);
    }
    for (unsigned region = 0; region < scene.lane.regions_room; region++) {
        ck_assert(!keel_lane_region_is_known(&scene.lane, 1, region));
    }
    scene_end(&scene);
}
END_TEST

START_TEST(an_arrival_is_what_it_was)
{
    const uint64_t flags = KEEL_ARRIVE_CANNOT | (7u << KEEL_ARRIVE_CALL_SHIFT), last = UINT32_MAX;

    for (unsigned odd = 0; odd < 2; odd++) {
        const keel_board_slot_t said = {.arrive = last << 32 | 5,
                                        .image_copied = last << 32 | 4,
                                        .flags = {odd ? 0 : flags, odd ? flags : 0},
                                        .parity_done = (1ull << 32) | last,
                                        .committed = last,
                                        .lost_gets = last};
        const keel_board_slot_t *heard;
        keel_wire_t wire;
        scene_t scene;

        scene_begin(&scene, 0);
        wire = scene_wire(&scene, 1, KEEL_WIRE_ARRIVE);
        wire.body = keel_arrival_body(&said);
        scene_deliver(&scene, &wire, NULL, 0);
        heard = &scene.lane.board[1];
        ck_assert(heard->arrive == said.arrive && heard->image_copied == said.image_copied);
        ck_assert(heard->flags[0] == said.flags[0] && heard->flags[1] == said.flags[1]);
        ck_assert(heard->parity_done == said.parity_done && heard->committed == said.committed);
        ck_assert(heard->lost_gets == said.lost_gets);
        scene_end(&scene);
    }
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {a_sealed_put_is_applied,
                                  each_record_of_a_phase_is_applied_once,
                                  an_answer_acknowledges_what_it_answers,
                                  announced_message_is_acknowledged_with_the_next_one,
                                  reads_and_records_of_others_are_no_news,
                                  no_flipped_bit_of_a_message_is_applied,
                                  no_short_message_is_applied,
                                  nothing_is_written_outside_a_window,
                                  a_read_that_cannot_be_answered_is_refused_and_not_recorded,
                                  a_read_beside_a_write_is_answered_as_it_was_recorded,
                                  a_log_without_room_costs_no_answer,
                                  only_a_window_is_read_with_a_record,
                                  a_read_without_memory_for_its_answer_ends_the_process,
                                  a_gap_a_stranger_and_another_rollback_are_refused,
                                  a_greeting_outruns_the_news_of_the_predecessors_life_and_death,
                                  a_dead_incarnation_is_cut_off,
                                  a_malformed_region_announcement_is_refused,
                                  an_arrival_is_what_it_was,
                                  NULL};

    return unit_run("lane_wire", tests);
}
