/* Arithmetic of keel_perftest, on numbers with known results, and the accepted plans. */
#include "perftest/perf_compute.h"

#include "unit.h"

#include <math.h>
#include <string.h>

static int is_near(double a, double b)
{
    return fabs(a - b) < 1e-9;
}

/* ---- percentiles ---- */

START_TEST(percentile_is_the_nearest_rank)
{
    static const struct {
        size_t count;
        double rank, value; /* values: 10, 20, 30, ... */
    } cases[] = {
        {1, 0, 10},  {1, 50, 10},    {1, 100, 10},   {2, 50, 10},    {2, 51, 20},       {3, 50, 20},
        {4, 25, 10}, {4, 50, 20},    {4, 75, 30},    {5, 25, 20},    {5, 50, 30},       {5, 75, 40},
        {9, 25, 30}, {9, 50, 50},    {9, 75, 70},    {10, 50, 50},   {10, 90, 90},      {10, 91, 100},
        {10, 0, 10}, {10, 100, 100}, {100, 99, 990}, {100, 29, 290}, {100, 99.5, 1000},
    };

    for (unsigned c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        double values[100];

        for (size_t i = 0; i < cases[c].count; i++) {
            /* unsorted; 7 divides none of the counts */
            values[i] = 10 * (double)(1 + (i * 7 + 3) % cases[c].count);
        }
        ck_assert_msg(is_near(perf_percentile(values, cases[c].count, cases[c].rank), cases[c].value),
                      "%g %% of %zu values", cases[c].rank, cases[c].count);
    }
    ck_assert(is_near(perf_percentile(NULL, 0, 50), 0));
}
END_TEST

START_TEST(ratio_is_of_times_for_latencies_and_of_rates_else)
{
    static const double keel[] = {10, 20, 8}, peer[] = {40, 10, 8};
    double ratios[3];

    perf_ratios_make(keel, peer, 3, 1, ratios);
    ck_assert(is_near(ratios[0], 0.25) && is_near(ratios[1], 2) && is_near(ratios[2], 1));
    perf_ratios_make(keel, peer, 3, 0, ratios);
    ck_assert(is_near(ratios[0], 4) && is_near(ratios[1], 0.5) && is_near(ratios[2], 1));
}
END_TEST

/* ---- schedules ---- */

static perf_test_t test_of(perf_kind_id_t id, size_t size, unsigned long iterations, unsigned long warmup,
                           unsigned long outstanding, unsigned long rounds)
{
    return (perf_test_t){.id = id,
                         .name = "it",
                         .size = size,
                         .iterations = iterations,
                         .warmup = warmup,
                         .outstanding = outstanding,
                         .rounds = rounds,
                         .replay = 1};
}

START_TEST(schedule_holds_iterations_and_warm_up)
{
    perf_test_t test = test_of(PERF_PUT_MR, 8, 9000, 100, 64, 9);
    perf_schedule_t schedule;

    /* 1000 puts a round in five blocks of whole flushes. A record has 72 bytes, and half of the log
     * is used. */
    perf_schedule_make(&test, 48ul << 20, &schedule);
    ck_assert_uint_eq(schedule.block, 256);
    ck_assert_uint_eq(schedule.pairs, 5);
    ck_assert_uint_eq(schedule.most, (48ul << 20) / 72 / 2 / 64 * 64);
    ck_assert_uint_eq(schedule.ckpt_every, schedule.most / 256);
    ck_assert_uint_eq(test.warmup, 128);
    ck_assert_uint_eq(test.outstanding, 64);
}
END_TEST

START_TEST(small_log_makes_blocks_and_flushes_smaller_and_pairs_more)
{
    perf_test_t test = test_of(PERF_PUT_BW, 1u << 20, 900, 7, 64, 9);
    perf_schedule_t schedule;

    perf_schedule_make(&test, 16ul << 20, &schedule);
    ck_assert_uint_eq(test.outstanding, 7); /* 16 MiB / (1 MiB + 64) / 2 */
    ck_assert_uint_eq(schedule.block, 7);
    ck_assert_uint_eq(schedule.pairs, 15); /* 100 in blocks of 7 */
    ck_assert_uint_eq(schedule.ckpt_every, 1);
    ck_assert_uint_eq(test.warmup, 7);
}
END_TEST

START_TEST(schedule_never_does_less_nor_overfills_a_log)
{
    static const perf_kind_id_t kinds[] = {PERF_PUT_LAT, PERF_PUT_MR, PERF_GET_BW, PERF_FADD, PERF_FLUSH, PERF_GSYNC};
    uint64_t state = unit_seed();

    for (unsigned turn = 0; turn < UNIT_ROUNDS(20000u); turn++) {
        const perf_kind_id_t id = kinds[unit_random(&state) % 6];
        const size_t size = 1 + unit_random(&state) % (1u << unit_random(&state) % 24);
        const unsigned long log_bytes = (1ul << 20) + unit_random(&state) % (64ul << 20);
        perf_test_t test =
            test_of(id, id == PERF_FADD ? 8 : size, 1 + unit_random(&state) % 100000, unit_random(&state) % 1000,
                    1 + unit_random(&state) % 300, 1 + unit_random(&state) % PERF_ROUNDS_MAX);
        const unsigned long warmup = test.warmup, outstanding = test.outstanding;
        perf_schedule_t schedule;

        perf_schedule_make(&test, log_bytes, &schedule);
        ck_assert_uint_ge(schedule.block * schedule.pairs * test.rounds, test.iterations);
        ck_assert_uint_ge(schedule.pairs, 5);
        ck_assert(test.outstanding >= 1 && test.outstanding <= outstanding);
        ck_assert(schedule.block % test.outstanding == 0 && test.warmup % test.outstanding == 0);
        ck_assert(test.warmup >= warmup && test.warmup < warmup + test.outstanding);
        ck_assert(schedule.ckpt_every >= 1 && schedule.ckpt_every * schedule.block <= schedule.most);
        if (id != PERF_FLUSH && id != PERF_GSYNC && schedule.most > 1) {
            ck_assert_uint_le(schedule.most * (id == PERF_FADD ? 64 : size + 64) * 2, log_bytes);
        }
    }
}
END_TEST

/* ---- plans ---- */

static int parse(perf_plan_t *plan, const char *words)
{
    char text[256], *argv[32] = {NULL}, *rest = text;
    int argc = 0;

    snprintf(text, sizeof text, "keel_perftest %s", words);
    while ((argv[argc] = strtok_r(rest, " ", &rest)) != NULL) {
        argc++;
    }
    return perf_plan_parse(argc, argv, 0, plan);
}

/* The process reports no errors: parse() returns 0 for a refused plan, -1 for an accepted plan. */
START_TEST(options_come_to_the_plan)
{
    static perf_plan_t plan;
    const perf_test_t *test = plan.tests;

    ck_assert_int_eq(
        parse(&plan, "-t put_mr -s 4k -n 3m -w 0 -O 5 -R 12.5 --pattern random --seed 7 --rounds 4 -P gets"), -1);
    ck_assert(plan.count == 1 && test->id == PERF_PUT_MR && test->size == 4096 && test->iterations == 3u << 20);
    ck_assert(test->warmup == 0 && test->outstanding == 5 && is_near(test->percentile, 12.5) && test->rounds == 4);
    ck_assert(test->pattern == PERF_RANDOM && test->seed == 7 && !strcmp(plan.protect, "gets"));
    ck_assert_int_eq(parse(&plan, "-t get_lat -n 500"), -1);
    ck_assert(test->warmup == 50 && test->outstanding == 16);
    ck_assert_int_eq(parse(&plan, "-t put_lat"), -1);
    ck_assert_uint_eq(test->outstanding, 1);
    ck_assert_int_eq(parse(&plan, "-t ckpt --rounds 5"), -1);
    ck_assert(test->rounds == 5 && test->iterations == 5);
    ck_assert_int_eq(parse(&plan, "-t ckpt -n 6 --rounds 6"), -1);
    ck_assert(test->rounds == 6 && test->iterations == 6);
    ck_assert_int_eq(parse(&plan, "-t ckpt -n 6 --rounds 5"), 0);
}
END_TEST

START_TEST(only_plans_that_can_be_parsed_are_sane)
{
    static perf_plan_t good, plan;

#define REFUSE(_change)                                     \
    do {                                                    \
        plan = good;                                        \
        _change;                                            \
        ck_assert_msg(!perf_plan_is_sane(&plan), #_change); \
    } while (0)

    ck_assert_int_eq(parse(&good, "-t fadd --vs-ucx -P all"), -1);
    ck_assert(perf_plan_is_sane(&good));
    REFUSE(plan.tests[0].percentile = NAN);
    REFUSE(plan.tests[0].percentile = -1);
    REFUSE(plan.tests[0].percentile = 100.5);
    REFUSE(plan.tests[0].peer = PERF_PEER_MEMCPY);
    REFUSE(plan.tests[0].peer = PERF_PEERS);
    REFUSE(plan.tests[0].id = PERF_KINDS);
    REFUSE(plan.tests[0].id = PERF_RESTORE);
    REFUSE(plan.tests[0].size = 16);
    REFUSE(plan.tests[0].iterations = 0);
    REFUSE(plan.tests[0].iterations = 1ul << 41);
    REFUSE(plan.tests[0].warmup = 1ul << 41);
    REFUSE(plan.tests[0].outstanding = 0);
    REFUSE(plan.tests[0].outstanding = 1ul << 21);
    REFUSE(plan.tests[0].rounds = 0);
    REFUSE(plan.tests[0].rounds = PERF_ROUNDS_MAX + 1);
    REFUSE(plan.tests[0].pattern = PERF_PATTERNS);
    REFUSE(plan.tests[0].changed = 101);
    REFUSE(plan.tests[0].replay = 0);
    REFUSE(memset(plan.tests[0].name, 'x', sizeof plan.tests[0].name));
    REFUSE(plan.count = 0);
    REFUSE(plan.count = PERF_TESTS_MAX + 1);
    REFUSE((plan.count = 2, plan.tests[1] = plan.tests[0], plan.tests[1].percentile = 51));
    REFUSE(memset(plan.ucx_option, 'x', sizeof plan.ucx_option));
    REFUSE(memcpy(plan.protect, "most", 5));
    REFUSE(plan.lane = PERF_LANES);
    REFUSE(plan.log_bytes = 0);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        percentile_is_the_nearest_rank,
        ratio_is_of_times_for_latencies_and_of_rates_else,
        schedule_holds_iterations_and_warm_up,
        small_log_makes_blocks_and_flushes_smaller_and_pairs_more,
        schedule_never_does_less_nor_overfills_a_log,
        options_come_to_the_plan,
        only_plans_that_can_be_parsed_are_sane,
        NULL,
    };

    return unit_run("perf", tests);
}
