/*
 * Requests for images when logs fill: the rank with the most freeable records, of either log, is
 * always asked, and no rank below the limit.
 */
#include "recovery/recovery.h"

#include "oplog/get_log_chunks.h"
#include "unit.h"

#include <string.h>

#define RANKS     6u
#define OWN       2u
#define SOFT      50u
#define SEGMENTS  64u
#define SEGMENT   4096u
#define BUDGET    (sizeof(keel_segment_arena_t) + SEGMENTS * (SEGMENT + sizeof(keel_segment_t)))
#define GETLOG    (64u << 10)
#define BYTES     200u
#define A_SEGMENT (SEGMENT / (sizeof(keel_record_t) + BYTES))
/* number of a gsync at which no process looks at the records that sources logged here */
#define NUMBER 101u
/* number of a gsync at which this process looks at the records that sources logged here */
#define LOOKS 104u

typedef struct scene {
    keel_lane_t lane;
    keel_peer_t peers[RANKS];
    keel_region_t regions[RANKS][KEEL_REGION_WINDOW0];
    keel_own_region_t own[KEEL_REGION_WINDOW0];
    keel_config_t config;
    keel_message_t message;
    keel_transport_ops_t ops;
    keel_segment_pool_t pool;
    keel_put_log_t puts;
    keel_get_log_t gets;
    keel_ckpt_t ckpt;
    keel_demand_t demand;
    keel_demand_start_t starts[RANKS];
    keel_sync_t sync;
    keel_recovery_t rec;
    _Alignas(64) uint8_t arena[GETLOG];
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

static void scene_begin_with(size_t budget)
{
    memset(&scene, 0, sizeof(scene));
    scene.config = (keel_config_t){.protect = KEEL_PROTECT_ALL, .oplog_soft = SOFT, .getlog_size = GETLOG};
    scene.ops = (keel_transport_ops_t){.max_data = 1 << 16, .mem_alloc = give_arena};
    scene.lane = (keel_lane_t){.message = &scene.message,
                               .config = &scene.config,
                               .ops = &scene.ops,
                               .rank = OWN,
                               .size = RANKS,
                               .programs = RANKS - 1, /* the last rank holds parity */
                               .peers = scene.peers,
                               .own = scene.own,
                               .regions_room = KEEL_REGION_WINDOW0};
    for (uint32_t r = 0; r < RANKS; r++) {
        scene.peers[r].regions = scene.regions[r];
        scene.peers[r].lanes = KEEL_LANE_PTR;
        scene.peers[r].mode = KEEL_PEER_LIVE;
    }
    ck_assert_int_eq(keel_segment_pool_init(&scene.pool, budget, 0, SIZE_MAX), KEEL_OK);
    ck_assert_int_eq(keel_put_log_init(&scene.puts, &scene.lane, &scene.pool), KEEL_OK);
    ck_assert_int_eq(keel_get_log_init(&scene.gets, &scene.lane, &scene.pool), KEEL_OK);
    scene.demand = (keel_demand_t){.starts = scene.starts, .set = {.parity = (void *)&scene}};
    scene.sync = (keel_sync_t){.is_deterministic = 1, .waits.since = KEEL_PHASE_NONE};
    scene.rec = (keel_recovery_t){.lane = &scene.lane,
                                  .puts = &scene.puts,
                                  .gets = &scene.gets,
                                  .ckpt = &scene.ckpt,
                                  .demand = &scene.demand,
                                  .message = &scene.message,
                                  .sync = &scene.sync,
                                  .life = KEEL_LIFE_LIVE};
    ck_assert_int_eq(keel_trim_init(&scene.rec), KEEL_OK);
}

static void scene_begin(void)
{
    scene_begin_with(BUDGET);
}

static void scene_end(void)
{
    keel_trim_release(&scene.rec);
    keel_get_log_release(&scene.gets);
    keel_put_log_release(&scene.puts);
    keel_segment_pool_release(&scene.pool);
}

static void log_puts(uint32_t target, unsigned count)
{
    while (count-- > 0) {
        keel_record_t *record = keel_put_log_reserve(&scene.puts, target, BYTES);

        ck_assert_ptr_nonnull(record);
        record->length = BYTES;
        record->epoch = scene.puts.epochs.open;
    }
}

static void log_gets(uint32_t target, unsigned count)
{
    uint32_t index;

    while (count-- > 0) {
        ck_assert_ptr_nonnull(keel_get_log_reserve(&scene.gets, target, 0, BYTES, &index));
    }
}

/* Logs records as the source does by stores. */
static void log_here(uint32_t source, unsigned count)
{
    static const uint8_t data[BYTES];
    keel_get_chunks_writer_t writer = {0};

    for (uint32_t i = 0; i < count; i++) {
        const keel_get_record_t record = {.index = i, .length = BYTES};

        ck_assert(keel_get_chunks_write(scene.arena, GETLOG, scene.gets.chunk_size, &writer, source, &record, data));
    }
}

/* Returns the ranks asked at this gsync, a bit each. */
static unsigned asked_at(uint32_t number)
{
    const uint64_t before = scene.rec.trim.asked;
    unsigned asked = 0, count = 0;

    keel_trim_request(&scene.rec, number);
    for (uint32_t r = 0; r < RANKS; r++) {
        if (scene.rec.trim.requests[r].number == number) {
            asked |= 1u << r;
            count++;
        }
    }
    ck_assert_uint_eq(scene.rec.trim.asked - before, count);
    return asked;
}

static void ask_is(uint32_t number, unsigned expected)
{
    const unsigned asked = asked_at(number);

    ck_assert_msg(asked == expected, "gsync %u: 0x%x were asked, not 0x%x", number, asked, expected);
}

START_TEST(no_rank_is_asked_below_the_limit)
{
    scene_begin();
    ask_is(NUMBER, 0);
    log_puts(1, A_SEGMENT * (SEGMENTS / 2 - 1));
    ck_assert_uint_eq(scene.pool.in_use, SEGMENTS / 2 - 1);
    ask_is(NUMBER + 1, 0);
    log_puts(1, 1);
    ask_is(NUMBER + 2, 1u << 1);
    scene_end();
}
END_TEST

START_TEST(the_target_that_most_is_logged_towards_is_asked)
{
    for (uint32_t most = 0; most < RANKS - 1; most++) {
        scene_begin();
        for (uint32_t r = 0; r < RANKS - 1; r++) {
            if (r != OWN) {
                log_puts(r, (r == most) ? 170 : 140);
            }
        }
        log_gets(0, (OWN == most) ? 160 : 40); /* gets from any rank need the own image */
        log_gets(4, 20);
        ask_is(NUMBER, 1u << most);
        scene_end();
    }
}
END_TEST

START_TEST(what_was_read_counts_in_all)
{
    scene_begin();
    for (uint32_t r = 0; r < RANKS - 1; r++) {
        log_gets(r, 70); /* a few records from each rank, most in sum */
    }
    log_puts(0, 300);
    log_puts(3, 310);
    ask_is(NUMBER, 1u << OWN);
    ck_assert_uint_eq(scene.demand.asked, NUMBER);
    scene_end();
}
END_TEST

START_TEST(of_equals_one_is_asked)
{
    scene_begin();
    log_puts(4, 200);
    log_puts(3, 200);
    log_puts(1, 200);
    log_puts(0, 199);
    ask_is(NUMBER, 1u << 1);
    scene_end();
}
END_TEST

START_TEST(after_a_request_the_next_largest_is_asked)
{
    scene_begin();
    log_puts(0, 300);
    log_puts(1, 400);
    log_puts(3, 100);
    ask_is(NUMBER, 1u << 1);
    ask_is(NUMBER + 1, 1u << 0);
    ask_is(NUMBER + 2, 1u << 3);
    ask_is(NUMBER + 3, 0);
    ask_is(NUMBER + 4, 1u << 1); /* no image came: asked again */
    scene_end();
}
END_TEST

START_TEST(ranks_that_hold_parity_have_no_image_to_ask_for)
{
    scene_begin();
    log_puts(RANKS - 1, 500);
    log_puts(0, 200);
    ask_is(NUMBER, 1u << 0);
    scene_end();
}
END_TEST

START_TEST(the_source_that_logged_most_here_is_asked)
{
    const unsigned chunks = GETLOG / keel_get_chunk_size(GETLOG);
    const unsigned each = (unsigned)((keel_get_chunk_size(GETLOG) - sizeof(keel_get_chunk_t)) /
                                     (sizeof(keel_get_record_t) + keel_pad8(BYTES)));

    ck_assert_uint_ge(chunks, 8);
    for (uint32_t most = 0; most < RANKS - 1; most++) {
        if (most == OWN) {
            continue;
        }
        scene_begin();
        for (uint32_t r = 0; r < RANKS - 1; r++) {
            if (r != OWN && r != most) {
                log_here(r, each * (chunks / 8));
            }
        }
        ask_is(LOOKS, 0); /* less than half */
        log_here(most, each * (chunks / 4));
        ask_is(LOOKS + 1, 0); /* no process looks */
        ask_is(LOOKS + 4, 1u << most);
        scene_end();
    }
}
END_TEST

START_TEST(of_equal_sources_one_is_asked)
{
    const unsigned chunks = GETLOG / keel_get_chunk_size(GETLOG);
    const unsigned each = (unsigned)((keel_get_chunk_size(GETLOG) - sizeof(keel_get_chunk_t)) /
                                     (sizeof(keel_get_record_t) + keel_pad8(BYTES)));
    unsigned asked;

    scene_begin();
    log_here(4, each * (chunks / 3));
    log_here(1, each * (chunks / 3));
    log_here(0, each * (chunks / 4));
    asked = asked_at(LOOKS);
    ck_assert_msg(asked == 1u << 4 || asked == 1u << 1, "0x%x were asked", asked);
    scene_end();
}
END_TEST

/* The table of phases fills, too, even with few records in each phase. The rank with records of the
 * oldest phase is asked. */
START_TEST(rank_of_the_oldest_of_too_many_phases_is_asked)
{
    const uint32_t half = KEEL_PUT_LOG_PHASES / 2;
    uint32_t phase;

    scene_begin_with((size_t)64 << 20);
    log_puts(3, 1);
    for (phase = 1; phase < half - 1; phase++) {
        keel_put_log_set_phase(&scene.puts, phase);
        log_puts(1, 1);
    }
    ask_is(NUMBER, 0);
    keel_put_log_set_phase(&scene.puts, phase);
    log_puts(4, 1);
    ck_assert_uint_lt(scene.pool.in_use, scene.pool.count / 2);
    ask_is(NUMBER + 1, 1u << 3);
    ask_is(NUMBER + 2, 1u << 1);
    ask_is(NUMBER + 3, 0); /* records of this phase need no image */
    keel_put_log_trim_image(&scene.puts, 3, phase, phase);
    keel_put_log_trim_image(&scene.puts, 1, phase, phase);
    ck_assert_uint_le(keel_put_log_phases(&scene.puts), 1);
    ask_is(NUMBER + 10, 0);
    scene_end();
}
END_TEST

START_TEST(no_rank_is_asked_if_no_image_would_help)
{
    scene_begin();
    log_puts(1, 700);
    scene.sync.is_deterministic = 0;
    ask_is(LOOKS, 0);
    scene.sync.is_deterministic = 1;
    scene.rec.life = KEEL_LIFE_RECOVERING;
    ask_is(LOOKS, 0);
    scene.rec.life = KEEL_LIFE_LIVE;
    scene.config.oplog_soft = 0;
    ask_is(LOOKS, 0);
    scene.config.oplog_soft = SOFT;
    scene.sync.sections.is_used = 1; /* the same in programs that lock */
    ask_is(LOOKS, 1u << 1);
    scene.sync.sections.is_used = 0;
    scene_end();
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {no_rank_is_asked_below_the_limit,
                                  the_target_that_most_is_logged_towards_is_asked,
                                  what_was_read_counts_in_all,
                                  of_equals_one_is_asked,
                                  after_a_request_the_next_largest_is_asked,
                                  ranks_that_hold_parity_have_no_image_to_ask_for,
                                  the_source_that_logged_most_here_is_asked,
                                  of_equal_sources_one_is_asked,
                                  rank_of_the_oldest_of_too_many_phases_is_asked,
                                  no_rank_is_asked_if_no_image_would_help,
                                  NULL};

    return unit_run("trim", tests);
}
