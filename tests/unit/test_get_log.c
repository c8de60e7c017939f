/* The get log of the direct lane, towards a target that gets its log back. */
#include "oplog/get_log.h"

#include "oplog/get_log_chunks.h"
#include "oplog/get_log_replay.h"
#include "oplog/get_reference.h"
#include "unit.h"

#include <string.h>

#define RANKS    2u
#define TARGET   1u
#define SEGMENT  4096u
#define SEGMENTS 8u
#define BUDGET   (sizeof(keel_segment_arena_t) + SEGMENTS * (SEGMENT + sizeof(keel_segment_t)))
#define GETLOG   (2u << 20) /* with chunks longer than a segment */
#define CHUNK    1024u
#define BYTES    200u
#define RECORDS  5u
#define LONG     600u /* bytes of a long get */

typedef struct scene {
    keel_lane_t lane;
    keel_peer_t peers[RANKS];
    keel_region_t regions[RANKS][KEEL_REGION_WINDOW0];
    keel_own_region_t own[KEEL_REGION_WINDOW0];
    keel_config_t config;
    keel_message_t message;
    keel_transport_ops_t ops;
    keel_segment_pool_t pool;
    keel_get_log_t gets;
    keel_board_slot_t board[RANKS];
    _Alignas(64) uint8_t arena[GETLOG], arena_there[GETLOG];
} scene_t;

static scene_t scene;

static keel_status_t give_arena(keel_transport_t *transport, size_t bytes, void *address, keel_transport_mem_t **mem_p,
                                void **base_p)
{
    ck_assert_uint_le(bytes, sizeof(scene.arena));
    *mem_p = (void *)scene.arena;
    *base_p = scene.arena;
    return KEEL_OK;
}

/* Starts a replacement with a known get log, and the room for the log at @a there; NULL: the room
 * could not be mapped. */
static void scene_begin(void *there)
{
    static const uint8_t data[BYTES];
    keel_get_record_t *record;
    uint32_t index;

    memset(&scene, 0, sizeof(scene));
    scene.config = (keel_config_t){.protect = KEEL_PROTECT_ALL, .getlog_size = GETLOG};
    scene.ops = (keel_transport_ops_t){.max_data = 1 << 16, .mem_alloc = give_arena};
    scene.lane = (keel_lane_t){.message = &scene.message,
                               .config = &scene.config,
                               .ops = &scene.ops,
                               .size = RANKS,
                               .peers = scene.peers,
                               .own = scene.own,
                               .regions_room = KEEL_REGION_WINDOW0,
                               .board = scene.board};
    for (uint32_t r = 0; r < RANKS; r++) {
        scene.peers[r] = (keel_peer_t){.lanes = KEEL_LANE_PTR, .regions = scene.regions[r]};
    }
    ck_assert_int_eq(keel_segment_pool_init(&scene.pool, BUDGET, 0, SIZE_MAX), KEEL_OK);
    ck_assert_int_eq(keel_get_log_init(&scene.gets, &scene.lane, &scene.pool), KEEL_OK);
    scene.regions[TARGET][KEEL_REGION_GETLOG] =
        (keel_region_t){.base = (uintptr_t)scene.arena_there, .size = GETLOG, .ptr = there, .is_known = 1};
    for (unsigned i = 0; i < RECORDS; i++) {
        record = keel_get_log_reserve(&scene.gets, TARGET, 0, BYTES, &index);
        ck_assert_ptr_nonnull(record);
        keel_get_log_complete(record, data);
    }
}

static void scene_end(void)
{
    keel_get_log_release(&scene.gets);
    keel_segment_pool_release(&scene.pool);
}

START_TEST(a_replacement_is_given_its_part_back)
{
    keel_get_chunks_walk_t next = {0};
    const keel_get_chunk_t *chunk;

    scene_begin(scene.arena_there);
    ck_assert_int_eq(keel_get_log_refill(&scene.gets, TARGET), KEEL_OK);
    chunk = keel_get_chunks_next(scene.arena_there, GETLOG, scene.gets.chunk_size, 0, &next);
    ck_assert_ptr_nonnull(chunk);
    ck_assert(!scene.gets.is_off);
    scene_end();
}
END_TEST

/* The target has just died. The log stays as complete as before, and the next replacement gets the
 * whole log. */
START_TEST(one_that_cannot_be_mapped_fills_no_log)
{
    keel_get_chunks_walk_t next = {0};

    scene_begin(NULL);
    ck_assert_int_eq(keel_get_log_refill(&scene.gets, TARGET), KEEL_OK);
    ck_assert(!scene.gets.is_off);
    ck_assert_uint_eq(scene.gets.overflows, 0);
    ck_assert_uint_eq(scene.lane.slot.lost_gets, 0);

    keel_get_log_target_down(&scene.gets, TARGET);
    scene.regions[TARGET][KEEL_REGION_GETLOG].ptr = scene.arena_there;
    ck_assert_int_eq(keel_get_log_refill(&scene.gets, TARGET), KEEL_OK);
    ck_assert_ptr_nonnull(keel_get_chunks_next(scene.arena_there, GETLOG, scene.gets.chunk_size, 0, &next));
    scene_end();
}
END_TEST

/* A target without room makes the log full. */
START_TEST(one_without_room_makes_the_log_full)
{
    scene_begin(scene.arena_there);
    scene.regions[TARGET][KEEL_REGION_GETLOG].size = CHUNK; /* one chunk of the least size */
    ((keel_get_chunk_t *)(void *)scene.arena_there)->owner = TARGET + 1;
    ck_assert_int_eq(keel_get_log_refill(&scene.gets, TARGET), KEEL_OK);
    ck_assert(scene.gets.is_off);
    ck_assert_uint_eq(scene.lane.slot.lost_gets, 1);
    scene_end();
}
END_TEST

/* Records come back phase by phase, behind the announcement that later phases have losses. */
START_TEST(an_older_loss_does_not_hide_a_later_one)
{
    keel_get_record_t record = {.phase = 5, .length = BYTES};

    scene_begin(NULL);
    scene.board[TARGET].lost_gets = 10;
    for (size_t at = 0; at < GETLOG; at += scene.gets.chunk_size) {
        ((keel_get_chunk_t *)(void *)(scene.arena + at))->owner = 1;
    }
    ck_assert_ptr_null(keel_get_log_serve(&scene.gets, TARGET, &record));
    ck_assert_uint_eq(scene.board[TARGET].lost_gets, 10);
    record.phase = 12;
    ck_assert_ptr_null(keel_get_log_serve(&scene.gets, TARGET, &record));
    ck_assert_uint_eq(scene.board[TARGET].lost_gets, 13);
    scene_end();
}
END_TEST

/* Receives messages of ten records each, @a times as many records as fill the initial log. */
static void receive_replay(unsigned times)
{
    static _Alignas(8) uint8_t message[sizeof(keel_control_in_t) + 8 + 10 * (sizeof(keel_get_record_t) + BYTES)];
    keel_control_in_t *in = (void *)message;

    memset(message, 0, sizeof(message));
    in->source = TARGET;
    in->length = sizeof(message) - sizeof(*in);
    for (unsigned i = 0; i < 10; i++) {
        ((keel_get_record_t *)(void *)(in->payload + 8 + i * (sizeof(keel_get_record_t) + BYTES)))->length = BYTES;
    }
    for (unsigned i = 0; i < times * SEGMENTS * SEGMENT / BYTES / 10; i++) {
        keel_get_log_receive_replay(&scene.gets, in, 0);
    }
}

/* The predecessor's log had grown, perhaps for windows that the replacement has yet to make. */
START_TEST(a_log_that_may_grow_has_room_for_all_that_comes_back)
{
    for (int is_auto = 0; is_auto < 2; is_auto++) {
        scene_begin(scene.arena_there);
        scene.config.is_oplog_auto = is_auto;
        receive_replay(3);
        ck_assert_int_eq(scene.gets.has_overflowed, !is_auto);
        if (is_auto) {
            ck_assert_uint_eq(keel_get_log_bytes(&scene.gets), (3 * SEGMENTS * SEGMENT / BYTES / 10 * 10 + RECORDS) *
                                                                   (sizeof(keel_get_record_t) + BYTES));
        }
        scene_end();
    }
}
END_TEST

/* Service side: a reader of the log between the two calls finds only the earlier records. */
START_TEST(a_served_record_is_there_when_it_is_whole)
{
    const keel_get_record_t record = {.phase = 3, .index = 7, .where = 64, .length = BYTES};
    const keel_get_chunk_t *chunk;
    uint8_t bytes[BYTES];
    keel_get_chunks_walk_t next = {0};
    void *to;

    scene_begin(NULL);
    memset(bytes, 0x5c, sizeof(bytes));
    to = keel_get_log_serve(&scene.gets, TARGET, &record);
    ck_assert_ptr_nonnull(to);
    ck_assert_ptr_null(keel_get_chunks_next(scene.arena, GETLOG, scene.gets.chunk_size, TARGET, &next));
    memcpy(to, bytes, BYTES);
    keel_get_log_served(&scene.gets, &record);
    chunk = keel_get_chunks_next(scene.arena, GETLOG, scene.gets.chunk_size, TARGET, &next);
    ck_assert_ptr_nonnull(chunk);
    ck_assert_uint_eq(chunk->used, sizeof(record) + BYTES);
    ck_assert_uint_eq(chunk->last_phase, 3);
    ck_assert_mem_eq(chunk + 1, &record, sizeof(record));
    ck_assert_mem_eq((const uint8_t *)(chunk + 1) + sizeof(record), bytes, BYTES);
    scene_end();
}
END_TEST

/* (phase, index) names a record. */
START_TEST(no_index_comes_again_in_a_phase)
{
    uint32_t index, records = 0;
    keel_get_target_t *t;

    scene_begin(scene.arena_there);
    t = &scene.gets.targets[TARGET];
    t->index = UINT32_MAX - scene.pool.segment_size;
    while (keel_get_log_reserve(&scene.gets, TARGET, 0, BYTES, &index) != NULL) {
        records++;
    }
    /* the last segment was filled, and no further segment begun */
    ck_assert_uint_gt(t->index, records);
    ck_assert_uint_le(records * BYTES, scene.pool.segment_size);
    ck_assert(scene.gets.is_off);
    ck_assert_uint_eq(scene.lane.slot.lost_gets, 1);
    scene_end();
}
END_TEST

/* Gets @a length bytes of @a value from the target, behind the records of the scene. */
static void get_bytes(uint8_t value, size_t length)
{
    static uint8_t from[SEGMENT], to[SEGMENT];

    memset(from, value, length);
    scene.peers[TARGET].mode = KEEL_PEER_LIVE;
    ck_assert(keel_get_reference_read(&scene.gets, TARGET, 64, to, from, length));
    ck_assert_mem_eq(to, from, length);
}

static void get_long(uint8_t value)
{
    get_bytes(value, LONG);
}

/* the record of the last reference in the list of the target; NULL: lost */
static const keel_get_record_t *last_referred(void)
{
    keel_cursor_t cursor = {0};
    const keel_get_record_t *record, *last = NULL;

    while ((record = keel_get_log_peek(&scene.gets.targets[TARGET], &cursor)) != NULL) {
        last = (record->completeness == KEEL_GET_REFERRED) ? record : last;
        keel_get_log_advance(&cursor, record);
    }
    ck_assert_ptr_nonnull(last);
    return keel_get_reference_data(last);
}

/* The data of a long get are stored once. They come back if their target dies, and again if the
 * replacement dies. An open record of the list stays where it is. */
START_TEST(a_reference_has_its_data_when_its_target_dies)
{
    const size_t frame = 2 * sizeof(keel_get_record_t) + LONG;
    uint8_t data[LONG];
    keel_get_record_t *open;
    uint32_t index;
    uint64_t bytes;

    scene_begin(scene.arena_there);
    bytes = keel_get_log_bytes(&scene.gets);
    for (unsigned life = 0; life < 2; life++) {
        get_long(3);
        get_long(4);
        ck_assert(keel_get_log_is_pushed(&scene.gets, TARGET));
        bytes += 2 * (sizeof(keel_get_record_t) + sizeof(keel_get_reference_t));
        ck_assert_uint_eq(keel_get_log_bytes(&scene.gets), bytes);
        open = keel_get_log_reserve(&scene.gets, TARGET, 8, sizeof(index), &index);
        bytes += keel_get_record_size(open) + 2 * frame;
        keel_get_references_resolve(&scene.gets, TARGET);
        memset(data, 4, sizeof(data));
        ck_assert_uint_eq(last_referred()->index, index - 1);
        ck_assert_uint_eq(last_referred()->where, 64);
        ck_assert_uint_eq(last_referred()->length, LONG);
        ck_assert_uint_eq(last_referred()->completeness, KEEL_GET_COMPLETE);
        ck_assert_mem_eq(last_referred() + 1, data, sizeof(data));
        ck_assert_uint_eq(keel_get_log_bytes(&scene.gets), bytes);
        ck_assert_uint_eq(scene.lane.slot.lost_gets, 0);

        keel_get_log_target_down(&scene.gets, TARGET);
        memset(scene.arena_there, 0, sizeof(scene.arena_there));
        ck_assert_int_eq(keel_get_log_refill(&scene.gets, TARGET), KEEL_OK);
        ck_assert(!keel_get_log_is_pushed(&scene.gets, TARGET));
        keel_get_log_complete(open, &index);
        ck_assert_int_eq(keel_get_log_refill(&scene.gets, TARGET), KEEL_OK);
        ck_assert(keel_get_log_is_pushed(&scene.gets, TARGET));
        ck_assert(!scene.gets.is_off);
    }
    scene_end();
}
END_TEST

/* The target freed the chunk, which it may do once an image covers the records, and gave it to
 * another rank, which had written or not yet written its record. */
START_TEST(a_record_in_a_reused_chunk_is_lost)
{
    for (unsigned i = 0; i < 3; i++) {
        scene_begin(scene.arena_there);
        scene.gets.phase = 5;
        get_long(3);
        for (size_t at = 0; at < GETLOG; at += scene.gets.chunk_size) {
            keel_get_chunk_t *chunk = (void *)(scene.arena_there + at);

            chunk->owner += i == 0;
            chunk->number += i == 1;
            memset(chunk + 1, 0, (i == 2) ? scene.gets.chunk_size - sizeof(*chunk) : 0);
        }
        keel_get_references_resolve(&scene.gets, TARGET);
        ck_assert_ptr_null(last_referred());
        ck_assert_uint_eq(scene.lane.slot.lost_gets, 6);
        ck_assert_uint_eq(scene.gets.overflows, 1);
        ck_assert(!scene.gets.is_off);
        scene_end();
    }
}
END_TEST

/* The data of the longest get of a record fit into a segment, too, with the heads of their records
 * around. */
START_TEST(the_longest_record_may_be_a_reference)
{
    scene_begin(scene.arena_there);
    ck_assert_uint_lt(scene.pool.segment_size, scene.gets.chunk_size);
    get_bytes(3, scene.gets.record_max);
    keel_get_references_resolve(&scene.gets, TARGET);
    ck_assert_ptr_nonnull(last_referred());
    ck_assert_uint_eq(last_referred()->length, scene.gets.record_max);
    ck_assert(!scene.gets.is_off);
    scene_end();
}
END_TEST

/* A log with room for the references alone is full when it gets the data, unless it may grow. */
START_TEST(references_without_room_for_the_data_make_the_log_full)
{
    for (int is_auto = 0; is_auto < 2; is_auto++) {
        scene_begin(scene.arena_there);
        scene.config.is_oplog_auto = is_auto;
        for (unsigned i = 0; i < SEGMENTS * SEGMENT / LONG + 1; i++) {
            get_long(3);
        }
        ck_assert(!scene.gets.is_off);
        keel_get_references_resolve(&scene.gets, TARGET);
        ck_assert_int_eq(scene.gets.is_off, !is_auto);
        ck_assert_uint_eq(scene.lane.slot.lost_gets, !is_auto);
        ck_assert_int_eq(last_referred() != NULL, is_auto);
        scene_end();
    }
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {a_replacement_is_given_its_part_back,
                                  one_that_cannot_be_mapped_fills_no_log,
                                  one_without_room_makes_the_log_full,
                                  an_older_loss_does_not_hide_a_later_one,
                                  a_log_that_may_grow_has_room_for_all_that_comes_back,
                                  a_served_record_is_there_when_it_is_whole,
                                  no_index_comes_again_in_a_phase,
                                  a_reference_has_its_data_when_its_target_dies,
                                  a_record_in_a_reused_chunk_is_lost,
                                  the_longest_record_may_be_a_reference,
                                  references_without_room_for_the_data_make_the_log_full,
                                  NULL};

    return unit_run("get_log", tests);
}
