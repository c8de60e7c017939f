/*
 * The put log against a plain list: phases are handed over in order, a trim never drops one record
 * too many, a full log states the lost phase.
 */
#include "oplog/put_send.h"

#include "base/memory.h"
#include "unit.h"

#include <string.h>

#define RANKS   2
#define TARGET  1
#define SEGMENT 4096u
#define MESSAGE 65280u /* largest message of the transport over a network */

typedef struct scene {
    keel_lane_t lane;
    keel_peer_t peers[RANKS];
    keel_config_t config;
    keel_message_t message;
    keel_transport_ops_t ops;
    keel_segment_pool_t pool;
    keel_put_log_t log;
    uint64_t seen[1024]; /* offsets handed over */
    unsigned count;
    unsigned messages;
    uint64_t bytes; /* bytes in the messages */
    unsigned asked; /* messages that ask for an acknowledgement */
    unsigned run;   /* messages since the last such request */
} scene_t;

static void scene_begin_with(scene_t *scene, size_t budget, size_t ready)
{
    memset(scene, 0, sizeof(*scene));
    scene->config.protect = KEEL_PROTECT_ALL;
    scene->ops.max_data = MESSAGE;
    scene->lane = (keel_lane_t){
        .message = &scene->message, .config = &scene->config, .ops = &scene->ops, .size = RANKS, .peers = scene->peers};
    scene->peers[TARGET].lanes = KEEL_LANE_PTR;
    ck_assert_int_eq(keel_segment_pool_init(&scene->pool, budget, 0, ready), KEEL_OK);
    ck_assert_int_eq(keel_put_log_init(&scene->log, &scene->lane, &scene->pool), KEEL_OK);
}

static void scene_begin(scene_t *scene, unsigned segments)
{
    scene_begin_with(scene, sizeof(keel_segment_arena_t) + segments * (SEGMENT + sizeof(keel_segment_t)), SIZE_MAX);
}

static void scene_end(scene_t *scene)
{
    keel_put_log_release(&scene->log);
    keel_segment_pool_release(&scene->pool);
}

/* Returns 1 if the put was logged. */
static int put(scene_t *scene, uint64_t offset, uint32_t length)
{
    keel_record_t *record = keel_put_log_reserve(&scene->log, TARGET, length);

    if (record == NULL) {
        return 0;
    }
    record->where = keel_where(offset, KEEL_RECORD_PUT, 8);
    record->length = length;
    record->epoch = scene->log.epochs.open;
    memset(record + 1, 0x5a, length);
    return 1;
}

static keel_status_t note_run(void *arg, const keel_record_t *records, size_t length)
{
    scene_t *scene = arg;
    const char *at = (const char *)records;

    while (at < (const char *)records + length) {
        const keel_record_t *record = (const void *)at;

        scene->seen[scene->count++] = keel_where_offset(record->where);
        at += sizeof(*record) + keel_pad8(record->length);
    }
    ck_assert_ptr_eq(at, (const char *)records + length);
    return KEEL_OK;
}

static unsigned hand_over(scene_t *scene, uint32_t phase)
{
    uint64_t count = 0;

    scene->count = 0;
    ck_assert_int_eq(keel_put_log_for_phase(&scene->log, TARGET, phase, 1000, note_run, scene, &count), KEEL_OK);
    ck_assert_uint_eq(count, scene->count);
    return scene->count;
}

START_TEST(each_phase_is_handed_over_whole_and_in_order)
{
    scene_t scene;
    uint64_t seed = unit_seed(), offset = 0, first[21];

    scene_begin(&scene, 64);
    for (uint32_t phase = 0; phase < 20; phase++) {
        first[phase] = offset;
        for (uint64_t n = unit_random(&seed) % 40; n > 0; n--) {
            ck_assert(put(&scene, offset++, (uint32_t)(unit_random(&seed) % 300)));
            if (unit_random(&seed) % 4 == 0) {
                keel_put_log_close_epoch(&scene.log);
            }
        }
        keel_put_log_set_phase(&scene.log, phase + 1);
    }
    first[20] = offset;
    for (uint32_t phase = 0; phase < 20; phase++) {
        ck_assert_uint_eq(hand_over(&scene, phase), first[phase + 1] - first[phase]);
        for (unsigned i = 0; i < scene.count; i++) {
            ck_assert_uint_eq(scene.seen[i], first[phase] + i);
        }
    }
    /* An image of phase 7 needs the records of phase 7. */
    keel_put_log_trim(&scene.log, 7, 20);
    ck_assert_uint_eq(hand_over(&scene, 6), 0);
    for (uint32_t phase = 7; phase < 20; phase++) {
        ck_assert_uint_eq(hand_over(&scene, phase), first[phase + 1] - first[phase]);
    }
    scene_end(&scene);
}
END_TEST

/* Default size; the memory is not touched here. A put is cut at the size of messages. */
START_TEST(puts_of_a_power_of_two_leave_nothing_of_segments_empty)
{
    enum { PUTS = 64 };

    for (size_t length = 64 << 10; length <= 256 << 10; length *= 2) {
        scene_t scene;
        size_t piece;

        scene_begin_with(&scene, 256 << 20, 0);
        for (unsigned i = 0; i < PUTS; i++) {
            for (size_t left = length; left > 0; left -= piece) {
                piece = keel_put_log_record_length(&scene.log, TARGET, left);
                ck_assert_ptr_nonnull(keel_put_log_reserve(&scene.log, TARGET, piece));
            }
        }
        ck_assert_uint_eq(scene.pool.in_use, PUTS * length / (256 << 10));
        scene_end(&scene);
    }
}
END_TEST

START_TEST(a_log_that_lost_records_is_whole_from_the_image_of_its_target_on)
{
    scene_t scene;

    scene_begin(&scene, 4);
    scene.peers[TARGET].mode = KEEL_PEER_LIVE;
    keel_put_log_set_phase(&scene.log, 3);
    while (put(&scene, 0, 1000)) {
    }
    keel_put_log_set_phase(&scene.log, 4);
    /* the target copies its image at the start of phase 4 */
    keel_put_log_resume(&scene.log, TARGET);
    ck_assert(put(&scene, 1, 8));
    keel_put_log_set_phase(&scene.log, 5);
    ck_assert(put(&scene, 2, 8));
    ck_assert_uint_eq(scene.log.targets[TARGET].lost, 4); /* until that image is in use */
    keel_put_log_trim_image(&scene.log, TARGET, 4, 5);
    ck_assert_uint_eq(scene.log.targets[TARGET].lost, 0);
    ck_assert_uint_eq(hand_over(&scene, 4), 1);
    ck_assert_uint_eq(scene.seen[0], 1);
    keel_put_log_trim_image(&scene.log, TARGET, 5, 5); /* an image of 5 needs the records of 5 */
    ck_assert_uint_eq(hand_over(&scene, 4), 0);
    ck_assert_uint_eq(hand_over(&scene, 5), 1);
    keel_put_log_set_phase(&scene.log, 6);
    keel_put_log_trim_image(&scene.log, TARGET, 6, 6);
    ck_assert_uint_eq(scene.pool.in_use, 0); /* and unneeded records take no room */
    scene_end(&scene);
}
END_TEST

/* A grown log uses its first segments first. */
START_TEST(a_log_that_may_grow_takes_more_and_touches_what_it_had_first)
{
    const uint32_t length = SEGMENT - sizeof(keel_record_t);
    scene_t scene;
    uint8_t *first;
    size_t bytes;

    scene_begin(&scene, 3);
    first = scene.pool.arenas->data;
    bytes = scene.pool.bytes;
    ck_assert_int_eq(keel_segment_pool_grow(&scene.pool, bytes), KEEL_OK);
    ck_assert_int_eq(keel_segment_pool_grow(&scene.pool, 0), KEEL_OK);
    ck_assert_int_eq(keel_segment_pool_grow(&scene.pool, bytes + sizeof(keel_segment_arena_t) + SEGMENT), KEEL_OK);
    ck_assert_uint_eq(scene.pool.count, 3); /* no room for the table of a fourth */
    ck_assert_ptr_null(scene.pool.arenas->next);
    ck_assert(put(&scene, 0, length));
    ck_assert_int_eq(keel_segment_pool_grow(&scene.pool, bytes + sizeof(keel_segment_arena_t) +
                                                             2 * (SEGMENT + sizeof(keel_segment_t))),
                     KEEL_OK);
    ck_assert_uint_eq(scene.pool.count, 5);
    ck_assert_uint_eq(scene.pool.in_use, 1);
    for (uint64_t i = 1; i < 5; i++) {
        ck_assert(put(&scene, i * SEGMENT, length));
        ck_assert_int_eq(scene.log.targets[TARGET].list.last->data == first + i * SEGMENT, i < 3);
    }
    ck_assert(!put(&scene, 5 * SEGMENT, length));
    keel_put_log_set_phase(&scene.log, 1);
    keel_put_log_trim(&scene.log, 1, 1);
    ck_assert_uint_eq(scene.pool.in_use, 0);
    ck_assert_uint_eq(scene.pool.bytes, bytes + sizeof(keel_segment_arena_t) + 2 * (SEGMENT + sizeof(keel_segment_t)));
    scene_end(&scene);
    ck_assert_ptr_null(scene.pool.arenas);
}
END_TEST

static int refuse_logs(void *arg, size_t bytes, const char *name)
{
    return strcmp(name, arg) != 0;
}

START_TEST(a_log_without_memory_to_grow_stays_as_it_was)
{
    char *const names[] = {"oplog", "oplog segments"};
    scene_t scene;

    scene_begin(&scene, 3);
    for (unsigned i = 0; i < 2; i++) {
        keel_memory_set_hook(&(keel_memory_hook_t){.may_allocate = refuse_logs, .arg = names[i]});
        ck_assert_int_eq(keel_segment_pool_grow(&scene.pool, 100 * SEGMENT), KEEL_ERR_NO_MEMORY);
        keel_memory_set_hook(NULL);
        ck_assert_uint_eq(scene.pool.count, 3);
    }
    for (uint64_t i = 0; i < 4; i++) {
        ck_assert_int_eq(put(&scene, i * SEGMENT, SEGMENT - sizeof(keel_record_t)), i < 3);
    }
    scene_end(&scene);
}
END_TEST

START_TEST(a_full_log_says_which_phase_it_lost_and_resumes_after_an_image)
{
    scene_t scene;
    unsigned logged = 0;

    scene_begin(&scene, 4);
    scene.peers[TARGET].mode = KEEL_PEER_LIVE;
    keel_put_log_set_phase(&scene.log, 3);
    while (put(&scene, 0, 1000)) {
        ck_assert_uint_lt(++logged, 100);
    }
    ck_assert_uint_eq(scene.log.targets[TARGET].lost, 4);
    ck_assert_uint_eq(scene.log.overflows, 1);
    ck_assert(!put(&scene, 0, 8)); /* off for good: a hole in the middle is worse than no records */
    keel_put_log_set_phase(&scene.log, 4);
    ck_assert(!put(&scene, 0, 8));
    ck_assert_uint_eq(scene.log.targets[TARGET].lost, 5);
    keel_put_log_trim(&scene.log, 4, 4); /* an image of 4 does not cover phase 4 */
    ck_assert_uint_eq(scene.log.targets[TARGET].lost, 5);
    keel_put_log_set_phase(&scene.log, 5);
    ck_assert(put(&scene, 0, 8));
    keel_put_log_trim(&scene.log, 5, 5);
    ck_assert_uint_eq(scene.log.targets[TARGET].lost, 0);
    ck_assert_uint_eq(hand_over(&scene, 5), 1);
    scene_end(&scene);
}
END_TEST

START_TEST(what_a_target_that_is_away_has_yet_to_be_given_is_never_dropped)
{
    scene_t scene;
    unsigned logged = 0;

    scene_begin(&scene, 4);
    scene.peers[TARGET].mode = KEEL_PEER_BEHIND;
    while (put(&scene, logged, 1000)) {
        ck_assert_uint_lt(++logged, 100);
    }
    ck_assert_uint_eq(scene.log.targets[TARGET].lost, 0); /* the caller waits */
    ck_assert(!scene.log.targets[TARGET].is_off);
    ck_assert_uint_eq(hand_over(&scene, 0), logged);
    scene_end(&scene);
}
END_TEST

static keel_status_t count_message(keel_transport_t *transport, uint32_t peer, const void *header, size_t header_len,
                                   const void *data, size_t data_len)
{
    scene_t *scene = (scene_t *)transport;
    keel_wire_t wire;

    ck_assert_uint_le(data_len, MESSAGE);
    ck_assert_int_eq(keel_lane_open_message(&scene->lane, "message", header, header_len, data, data_len, &wire), 1);
    scene->messages++;
    scene->bytes += data_len;
    scene->run = (wire.flags & KEEL_WIRE_FLAG_MORE) ? scene->run + 1 : 0;
    scene->asked += scene->run == 0;
    ck_assert_uint_lt(scene->run, 16); /* for puts of any length */
    return KEEL_OK;
}

static void scene_serve(scene_t *scene)
{
    scene->lane.transport = (keel_transport_t *)scene;
    scene->ops.send = count_message;
    scene->peers[TARGET].lanes = KEEL_LANE_SERVED;
    scene->peers[TARGET].is_up = 1;
}

/* The least and the largest default size of logs: a re-execution must cut records as its
 * predecessor on another node did. */
START_TEST(logs_of_any_default_size_have_records_alike)
{
    size_t least, most;
    scene_t scene;

    scene_begin_with(&scene, 64 << 20, 0);
    least = scene.log.record_max;
    scene_end(&scene);
    scene_begin_with(&scene, 256 << 20, 0);
    most = scene.log.record_max;
    scene_end(&scene);
    ck_assert_uint_eq(least, most);
    scene_begin_with(&scene, 32 << 20, 0);
    ck_assert_uint_lt(scene.log.record_max, most);
    scene_end(&scene);
}
END_TEST

/* Over a network each message has its price. A put that fits in a record is not cut. */
START_TEST(records_of_long_puts_fill_their_messages)
{
    static const size_t lengths[] = {65225, 64 << 10, 100000, 1 << 20, 2 << 20};
    enum { PUTS = 100 };

    for (unsigned l = 0; l < sizeof(lengths) / sizeof(*lengths); l++) {
        uint64_t heads = 0;
        scene_t scene;
        size_t piece;

        scene_begin_with(&scene, 256 << 20, 0);
        scene_serve(&scene);
        ck_assert_uint_eq(keel_put_log_record_length(&scene.log, TARGET, 8), 8);
        ck_assert_uint_eq(keel_put_log_record_length(&scene.log, TARGET, scene.log.record_max), scene.log.record_max);
        for (unsigned i = 0; i < PUTS; i++) {
            for (size_t left = lengths[l]; left > 0; left -= piece) {
                piece = keel_put_log_record_length(&scene.log, TARGET, left);
                ck_assert(put(&scene, 0, (uint32_t)piece));
                ck_assert_int_eq(keel_put_log_gather(&scene.log, TARGET, piece,
                                                     keel_put_log_cut(&scene.log, TARGET, piece), left - piece),
                                 KEEL_OK);
                heads++;
            }
            /* the last message asks for an acknowledgement, as none may follow */
            ck_assert_uint_eq(scene.run, 0);
        }
        ck_assert_int_eq(keel_put_log_send(&scene.log, TARGET), KEEL_OK);
        ck_assert_uint_ge(scene.bytes, PUTS * lengths[l] + heads * sizeof(keel_record_t));
        /* Four records nearly fill a segment, and the small remainder behind takes one more
         * message. */
        ck_assert_uint_le(scene.messages, scene.bytes / MESSAGE + scene.pool.in_use + 1);
        ck_assert_uint_le(scene.asked, PUTS + scene.messages / 16 + scene.pool.in_use + 1);
        scene_end(&scene);
    }
}
END_TEST

/* The log may fill during a put. A rank that waits then sends a message that is acknowledged. */
START_TEST(a_wait_amid_a_put_ends_the_run)
{
    scene_t scene;
    size_t piece;

    scene_begin_with(&scene, 16 << 20, 0);
    scene_serve(&scene);
    while (scene.run == 0) {
        piece = keel_put_log_record_length(&scene.log, TARGET, 1 << 20);
        ck_assert(put(&scene, 0, (uint32_t)piece));
        ck_assert_int_eq(
            keel_put_log_gather(&scene.log, TARGET, piece, keel_put_log_cut(&scene.log, TARGET, piece), 1 << 20),
            KEEL_OK);
    }
    ck_assert_int_eq(keel_put_log_send(&scene.log, TARGET), KEEL_OK);
    ck_assert_uint_eq(scene.run, 0);
    piece = scene.messages;
    ck_assert_int_eq(keel_put_log_send(&scene.log, TARGET), KEEL_OK);
    ck_assert_uint_eq(scene.messages, piece);
    scene_end(&scene);
}
END_TEST

/* Each message has the correct sum, no matter which records were summed when written, and which
 * calls came before the message. */
START_TEST(every_message_has_the_sum_of_its_records)
{
    uint64_t seed = unit_seed();
    static uint8_t data[MESSAGE];
    keel_record_t *record;
    scene_t scene;
    uint32_t length;

    scene_begin_with(&scene, 16 << 20, SIZE_MAX);
    scene_serve(&scene);
    for (unsigned i = 0; i < 20000; i++) {
        const uint64_t draw = unit_random(&seed) % 64;

        length = (draw < 32) ? 1024 + unit_random(&seed) % 4096 : 1 + unit_random(&seed) % 100;
        length = (draw == 0) ? (uint32_t)scene.log.record_max : length;
        data[unit_random(&seed) % MESSAGE]++;
        if (draw % 8 == 1) {
            ck_assert(put(&scene, i, length)); /* a record written by other code */
        } else {
            record = keel_put_log_reserve(&scene.log, TARGET, length);
            ck_assert_ptr_nonnull(record);
            keel_put_log_fill(&scene.log, TARGET, record, keel_where(i, KEEL_RECORD_PUT, 8), data, length);
            ck_assert_int_eq(memcmp(record + 1, data, length), 0);
            ck_assert_uint_eq(record->length, length);
        }
        switch (draw) {
        case 40:
            ck_assert_int_eq(keel_put_log_send(&scene.log, TARGET), KEEL_OK);
            break;
        case 41:
            keel_put_log_mark_sent(&scene.log, TARGET);
            break;
        case 42:
            keel_put_log_clear(&scene.log, scene.log.phase + 1);
            break;
        case 43:
            ck_assert_int_eq(keel_put_log_send(&scene.log, TARGET), KEEL_OK);
            keel_put_log_set_phase(&scene.log, scene.log.phase + 1);
            keel_put_log_trim(&scene.log, scene.log.phase, scene.log.phase);
            break;
        default:
            ck_assert_int_eq(keel_put_log_gather(&scene.log, TARGET, length, 0, 0), KEEL_OK);
            break;
        }
    }
    ck_assert_uint_gt(scene.messages, 1000);
    scene_end(&scene);
}
END_TEST

/* A re-execution only logs, or sends at other moments, and cuts the same records: records are
 * numbered. */
START_TEST(records_are_cut_the_same_whatever_was_sent)
{
    uint64_t seed = unit_seed();

    for (unsigned run = 0; run < 50; run++) {
        uint32_t lengths[200];
        uint32_t pieces[2][4000];
        unsigned counts[2] = {0, 0};

        for (unsigned i = 0; i < 200; i++) {
            lengths[i] = 1 + (uint32_t)(unit_random(&seed) % (unit_random(&seed) % 2 ? 200000 : 5000));
        }
        for (unsigned life = 0; life < 2; life++) {
            scene_t scene;

            scene_begin_with(&scene, 64 << 20, 0);
            scene_serve(&scene);
            (void)keel_put_log_cut(&scene.log, TARGET, life * 100); /* cut of the phase before */
            keel_put_log_set_phase(&scene.log, 1);
            for (unsigned i = 0; i < 200; i++) {
                size_t piece;
                int is_due;

                for (size_t left = lengths[i]; left > 0; left -= piece) {
                    piece = keel_put_log_record_length(&scene.log, TARGET, left);
                    pieces[life][counts[life]++] = (uint32_t)piece;
                    ck_assert(put(&scene, 0, (uint32_t)piece));
                    is_due = lengths[i] > scene.log.record_max && keel_put_log_cut(&scene.log, TARGET, piece);
                    if (life == 0) {
                        ck_assert_int_eq(keel_put_log_gather(&scene.log, TARGET, piece, is_due, left - piece), KEEL_OK);
                    }
                }
                switch (unit_random(&seed) % 8) {
                case 0:
                    ck_assert_int_eq(keel_put_log_send(&scene.log, TARGET), KEEL_OK);
                    break;
                case 1:
                    keel_put_log_mark_sent(&scene.log, TARGET);
                    break;
                default:
                    break;
                }
            }
            scene_end(&scene);
        }
        ck_assert_uint_eq(counts[0], counts[1]);
        ck_assert_mem_eq(pieces[0], pieces[1], counts[0] * sizeof(pieces[0][0]));
    }
}
END_TEST

START_TEST(a_rollback_forgets_all_and_logs_again)
{
    scene_t scene;

    scene_begin(&scene, 4);
    scene.peers[TARGET].mode = KEEL_PEER_LIVE;
    while (put(&scene, 0, 1000)) {
    }
    keel_put_log_clear(&scene.log, 2);
    ck_assert_uint_eq(scene.log.targets[TARGET].lost, 0);
    ck_assert_uint_eq(keel_put_log_bytes(&scene.log), 0);
    ck_assert_uint_eq(scene.pool.in_use, 0);
    ck_assert(put(&scene, 9, 8));
    ck_assert_uint_eq(hand_over(&scene, 2), 1);
    ck_assert_uint_eq(scene.seen[0], 9);
    scene_end(&scene);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {each_phase_is_handed_over_whole_and_in_order,
                                  puts_of_a_power_of_two_leave_nothing_of_segments_empty,
                                  a_log_that_may_grow_takes_more_and_touches_what_it_had_first,
                                  a_log_without_memory_to_grow_stays_as_it_was,
                                  logs_of_any_default_size_have_records_alike,
                                  records_of_long_puts_fill_their_messages,
                                  a_wait_amid_a_put_ends_the_run,
                                  records_are_cut_the_same_whatever_was_sent,
                                  every_message_has_the_sum_of_its_records,
                                  a_full_log_says_which_phase_it_lost_and_resumes_after_an_image,
                                  a_log_that_lost_records_is_whole_from_the_image_of_its_target_on,
                                  what_a_target_that_is_away_has_yet_to_be_given_is_never_dropped,
                                  a_rollback_forgets_all_and_logs_again,
                                  NULL};

    return unit_run("put_log", tests);
}
