/* The state of this process: every event in every state. */
#include "recovery/own_state.h"

#include "unit.h"

static keel_life_t life_path(keel_life_t life, const keel_life_event_t *events, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        life = keel_life_after(life, events[i]);
    }
    return life;
}
#define PATH(...)                                                        \
    life_path(KEEL_LIFE_FRESH, (const keel_life_event_t[]){__VA_ARGS__}, \
              sizeof((const keel_life_event_t[]){__VA_ARGS__}) / sizeof(keel_life_event_t))

START_TEST(a_replacement_goes_its_way)
{
    ck_assert_int_eq(PATH(KEEL_LIFE_RESTORED_BEFORE_FRONT), KEEL_LIFE_RECOVERING);
    ck_assert_int_eq(PATH(KEEL_LIFE_RESTORED_BEFORE_FRONT, KEEL_LIFE_REACHES_FRONT), KEEL_LIFE_AWAITING);
    ck_assert_int_eq(PATH(KEEL_LIFE_RESTORED_AT_FRONT), KEEL_LIFE_AWAITING);
    ck_assert_int_eq(PATH(KEEL_LIFE_RESTORED_AT_FRONT, KEEL_LIFE_HANDED_OVER), KEEL_LIFE_LIVE);
    ck_assert_int_eq(PATH(KEEL_LIFE_ROLLED_BACK), KEEL_LIFE_LIVE);
}
END_TEST

/* The process awaits no hand-over any more, and has not caught up before all ranks have their
 * memory. */
START_TEST(a_rollback_ends_what_is_awaited)
{
    ck_assert_int_eq(PATH(KEEL_LIFE_RESTORED_AT_FRONT, KEEL_LIFE_ROLLS_BACK), KEEL_LIFE_ROLLING);
    ck_assert_int_eq(PATH(KEEL_LIFE_RESTORED_AT_FRONT, KEEL_LIFE_ROLLS_BACK, KEEL_LIFE_HANDED_OVER), KEEL_LIFE_ROLLING);
    ck_assert_int_eq(PATH(KEEL_LIFE_ROLLS_BACK), KEEL_LIFE_FRESH);
    for (int life = 0; life < KEEL_LIFE_LAST; life++) {
        ck_assert_int_eq(keel_life_after((keel_life_t)life, KEEL_LIFE_ROLLED_BACK), KEEL_LIFE_LIVE);
    }
}
END_TEST

/* Only a restore brings memory, and only the hand-over of all others or a rollback makes a
 * replacement live. */
START_TEST(no_life_skips_a_step)
{
    for (int s = 0; s < KEEL_LIFE_LAST; s++) {
        for (int e = 0; e < KEEL_LIFE_EVENT_LAST; e++) {
            const keel_life_t life = (keel_life_t)s, after = keel_life_after(life, (keel_life_event_t)e);

            ck_assert_int_lt(after, KEEL_LIFE_LAST);
            ck_assert_int_ge(after, life); /* no state goes back */
            if (life == KEEL_LIFE_FRESH && after != life) {
                ck_assert(e == KEEL_LIFE_RESTORED_BEFORE_FRONT || e == KEEL_LIFE_RESTORED_AT_FRONT ||
                          e == KEEL_LIFE_ROLLED_BACK);
            }
            if (after == KEEL_LIFE_LIVE && life != after) {
                ck_assert(e == KEEL_LIFE_ROLLED_BACK || (e == KEEL_LIFE_HANDED_OVER && life == KEEL_LIFE_AWAITING));
            }
            /* a repeated event has no effect */
            ck_assert_int_eq(keel_life_after(after, (keel_life_event_t)e), after);
        }
    }
    ck_assert_int_eq(keel_life_state(KEEL_LIFE_FRESH), KEEL_RANK_FRESH);
    ck_assert_int_eq(keel_life_state(KEEL_LIFE_RECOVERING), KEEL_RANK_RECOVERING);
    for (int life = KEEL_LIFE_AWAITING; life < KEEL_LIFE_LAST; life++) {
        ck_assert_int_eq(keel_life_state((keel_life_t)life), KEEL_RANK_FRONT);
    }
}
END_TEST

/* A further death makes all ranks report again; no rank reports an unchanged view. */
START_TEST(a_view_is_reported_again_after_each_change)
{
    for (int view = 0; view < KEEL_VIEW_LAST; view++) {
        ck_assert_int_eq(keel_view_after((keel_view_t)view, KEEL_VIEW_CHANGES), KEEL_VIEW_CHANGED);
        ck_assert_int_eq(keel_view_after((keel_view_t)view, KEEL_VIEW_DECIDED), KEEL_VIEW_STABLE);
    }
    ck_assert_int_eq(keel_view_after(KEEL_VIEW_CHANGED, KEEL_VIEW_REPORTS), KEEL_VIEW_REPORTED);
    ck_assert_int_eq(keel_view_after(KEEL_VIEW_STABLE, KEEL_VIEW_REPORTS), KEEL_VIEW_STABLE);
}
END_TEST

START_TEST(facts_announced_as_certain_stay)
{
    ck_assert_int_eq(keel_leave_after(KEEL_LEAVE_NOT, KEEL_LEAVE_PROCESS_EXITS), KEEL_LEAVE_SUSPECTED);
    ck_assert_int_eq(keel_leave_after(KEEL_LEAVE_SUSPECTED, KEEL_LEAVE_ANNOUNCED), KEEL_LEAVE_CERTAIN);
    ck_assert_int_eq(keel_leave_after(KEEL_LEAVE_NOT, KEEL_LEAVE_ANNOUNCED), KEEL_LEAVE_CERTAIN);
    ck_assert_int_eq(keel_leave_after(KEEL_LEAVE_CERTAIN, KEEL_LEAVE_PROCESS_EXITS), KEEL_LEAVE_CERTAIN);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {a_replacement_goes_its_way,
                                  a_rollback_ends_what_is_awaited,
                                  no_life_skips_a_step,
                                  a_view_is_reported_again_after_each_change,
                                  facts_announced_as_certain_stay,
                                  NULL};

    return unit_run("stage", tests);
}
