/* Default size of logs. */
#include "engine/logs_plan.h"
#include "unit.h"

#define MIB ((size_t)1 << 20)

static keel_logs_plan_t plan_of(size_t share, int is_lazy, size_t lendable, uint32_t ranks)
{
    const keel_logs_room_t room = {
        .usual = 256 * MIB, .share = share, .is_lazy = is_lazy, .lendable = lendable, .ranks = ranks};

    return keel_logs_plan(&room);
}

static void is_plan(keel_logs_plan_t plan, size_t bytes, size_t most, enum keel_logs_limit limit)
{
    ck_assert_uint_eq(plan.bytes, bytes);
    ck_assert_uint_eq(plan.most, most);
    ck_assert_int_eq(plan.limit, limit);
}

START_TEST(logs_take_what_is_usual_within_the_share_of_the_node)
{
    is_plan(plan_of(1024 * MIB, 1, SIZE_MAX, 4), 256 * MIB, 1024 * MIB, KEEL_LOGS_UNLIMITED);
    is_plan(plan_of(1024 * MIB, 0, SIZE_MAX, 4), 256 * MIB, 256 * MIB, KEEL_LOGS_UNLIMITED);
    is_plan(plan_of(100 * MIB, 1, SIZE_MAX, 4), 100 * MIB, 100 * MIB, KEEL_LOGS_UNLIMITED);
    is_plan(plan_of(10 * MIB, 1, SIZE_MAX, 4), KEEL_LOGS_LEAST, KEEL_LOGS_LEAST, KEEL_LOGS_UNLIMITED);
}
END_TEST

START_TEST(logs_shrink_to_half_of_what_may_be_lent)
{
    is_plan(plan_of(1024 * MIB, 1, 512 * MIB, 4), 256 * MIB, 256 * MIB, KEEL_LOGS_UNLIMITED);
    is_plan(plan_of(1024 * MIB, 1, 600 * MIB, 4), 256 * MIB, 300 * MIB, KEEL_LOGS_UNLIMITED);
    is_plan(plan_of(1024 * MIB, 1, 512 * MIB - 2, 4), 256 * MIB - 1, 256 * MIB - 1, KEEL_LOGS_SHRUNK);
    is_plan(plan_of(1024 * MIB, 1, 5 * MIB, 4), 5 * MIB / 2, 5 * MIB / 2, KEEL_LOGS_SHRUNK);
    is_plan(plan_of(10 * MIB, 1, 5 * MIB, 4), 5 * MIB / 2, 5 * MIB / 2, KEEL_LOGS_SHRUNK);
}
END_TEST

/* The minimum is four segments for each rank: 1 MiB for four ranks, 64 MiB for 256. */
START_TEST(logs_that_would_be_too_short_stay_as_they_are)
{
    is_plan(plan_of(1024 * MIB, 1, 2 * MIB, 4), MIB, MIB, KEEL_LOGS_SHRUNK);
    is_plan(plan_of(1024 * MIB, 1, 2 * MIB - 2, 4), 256 * MIB, 1024 * MIB, KEEL_LOGS_BEYOND);
    is_plan(plan_of(1024 * MIB, 1, 0, 4), 256 * MIB, 1024 * MIB, KEEL_LOGS_BEYOND);
    is_plan(plan_of(1024 * MIB, 0, 0, 4), 256 * MIB, 256 * MIB, KEEL_LOGS_BEYOND);
    is_plan(plan_of(1024 * MIB, 1, 128 * MIB, 256), 64 * MIB, 64 * MIB, KEEL_LOGS_SHRUNK);
    is_plan(plan_of(1024 * MIB, 1, 127 * MIB, 256), 256 * MIB, 1024 * MIB, KEEL_LOGS_BEYOND);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {logs_take_what_is_usual_within_the_share_of_the_node,
                                  logs_shrink_to_half_of_what_may_be_lent,
                                  logs_that_would_be_too_short_stay_as_they_are, NULL};

    return unit_run("logs_plan", tests);
}
