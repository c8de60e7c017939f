/* The state of a peer: every event in every state. */
#include "recovery/peer_state.h"

#include "unit.h"

static int is_replaying(keel_replay_state_t state)
{
    return keel_peer_state_is_replaying(&(keel_peer_state_t){.replay = state});
}

static int is_held(keel_replay_state_t state)
{
    return keel_peer_state_defers_puts(&(keel_peer_state_t){.replay = state});
}

static keel_replay_state_t replay_path(const keel_replay_event_t *events, unsigned count)
{
    keel_replay_state_t state = KEEL_REPLAY_NONE;

    for (unsigned i = 0; i < count; i++) {
        state = keel_replay_after(state, events[i]);
    }
    return state;
}
#define PATH(...)                                           \
    replay_path((const keel_replay_event_t[]){__VA_ARGS__}, \
                sizeof((const keel_replay_event_t[]){__VA_ARGS__}) / sizeof(keel_replay_event_t))

/* Sections: phases, done, live. Waits: phases, done, remaining records sent, remaining records
 * replayed, live. */
START_TEST(a_replay_goes_its_way)
{
    ck_assert_int_eq(PATH(KEEL_REPLAY_DECIDED_ORDERED), KEEL_REPLAY_PHASES);
    ck_assert_int_eq(PATH(KEEL_REPLAY_DECIDED_ORDERED, KEEL_REPLAY_REPORTS_DONE), KEEL_REPLAY_DONE);
    ck_assert_int_eq(PATH(KEEL_REPLAY_DECIDED_ORDERED, KEEL_REPLAY_REPORTS_DONE, KEEL_REPLAY_LIVE), KEEL_REPLAY_NONE);
    ck_assert_int_eq(PATH(KEEL_REPLAY_DECIDED_ORDERED, KEEL_REPLAY_REPORTS_DONE, KEEL_REPLAY_SENDS_REST),
                     KEEL_REPLAY_REST_SENT);
    ck_assert_int_eq(PATH(KEEL_REPLAY_DECIDED_ORDERED, KEEL_REPLAY_REPORTS_DONE, KEEL_REPLAY_SENDS_REST,
                          KEEL_REPLAY_REPORTS_REST_DONE),
                     KEEL_REPLAY_REST_DONE);
    ck_assert_int_eq(PATH(KEEL_REPLAY_DECIDED_ORDERED, KEEL_REPLAY_REPORTS_DONE, KEEL_REPLAY_SENDS_REST,
                          KEEL_REPLAY_REPORTS_REST_DONE, KEEL_REPLAY_LIVE),
                     KEEL_REPLAY_NONE);
}
END_TEST

/* A decision may differ from the one before, as long as the replacement has not acted on the
 * earlier decision. */
START_TEST(a_decision_takes_back_what_the_one_before_said)
{
    ck_assert_int_eq(PATH(KEEL_REPLAY_DECIDED_UNBEGUN, KEEL_REPLAY_DECIDED_ORDERED), KEEL_REPLAY_PHASES);
    ck_assert_int_eq(PATH(KEEL_REPLAY_DECIDED_ORDERED, KEEL_REPLAY_DECIDED_UNBEGUN), KEEL_REPLAY_UNBEGUN);
    ck_assert_int_eq(PATH(KEEL_REPLAY_DECIDED_ORDERED, KEEL_REPLAY_DECIDED_PLAIN), KEEL_REPLAY_NONE);
    ck_assert_int_eq(PATH(KEEL_REPLAY_DECIDED_UNBEGUN, KEEL_REPLAY_DECIDED_PLAIN), KEEL_REPLAY_NONE);
}
END_TEST

START_TEST(done_ahead_of_the_decision_is_remembered)
{
    ck_assert_int_eq(PATH(KEEL_REPLAY_REPORTS_DONE, KEEL_REPLAY_DECIDED_ORDERED), KEEL_REPLAY_DONE);
    ck_assert_int_eq(PATH(KEEL_REPLAY_DECIDED_UNBEGUN, KEEL_REPLAY_REPORTS_DONE, KEEL_REPLAY_DECIDED_ORDERED),
                     KEEL_REPLAY_DONE);
    ck_assert(!is_replaying(PATH(KEEL_REPLAY_REPORTS_DONE)));
    ck_assert(!is_held(PATH(KEEL_REPLAY_REPORTS_DONE)));
}
END_TEST

/* A rank that was lost before any rank had begun is held until the front. */
START_TEST(unbegun_is_held_until_the_front)
{
    ck_assert(is_held(PATH(KEEL_REPLAY_DECIDED_UNBEGUN)));
    ck_assert(!is_replaying(PATH(KEEL_REPLAY_DECIDED_UNBEGUN)));
    ck_assert_int_eq(PATH(KEEL_REPLAY_DECIDED_UNBEGUN, KEEL_REPLAY_LIVE), KEEL_REPLAY_UNBEGUN);
    ck_assert_int_eq(PATH(KEEL_REPLAY_DECIDED_UNBEGUN, KEEL_REPLAY_LIVE_AT_FRONT), KEEL_REPLAY_NONE);
}
END_TEST

/* Every event in every state, for any report of a faulty process. */
START_TEST(only_a_decision_begins_a_replay_and_only_going_live_ends_one_that_was_done)
{
    for (int s = 0; s < KEEL_REPLAY_LAST; s++) {
        for (int e = 0; e < KEEL_REPLAY_EVENT_LAST; e++) {
            const keel_replay_state_t state = (keel_replay_state_t)s;
            const keel_replay_state_t after = keel_replay_after(state, (keel_replay_event_t)e);

            ck_assert_int_lt(after, KEEL_REPLAY_LAST);
            if (is_replaying(after) && !is_replaying(state)) {
                ck_assert_int_eq(e, KEEL_REPLAY_DECIDED_ORDERED);
            }
            if (is_replaying(state) && !is_replaying(after)) {
                ck_assert(e == KEEL_REPLAY_LIVE || e == KEEL_REPLAY_LIVE_AT_FRONT ||
                          (state == KEEL_REPLAY_PHASES &&
                           (e == KEEL_REPLAY_DECIDED_PLAIN || e == KEEL_REPLAY_DECIDED_UNBEGUN)));
            }
            if (is_held(after) && !is_held(state)) {
                ck_assert(e == KEEL_REPLAY_DECIDED_UNBEGUN || e == KEEL_REPLAY_SENDS_REST ||
                          e == KEEL_REPLAY_REPORTS_REST_DONE);
            }
            /* no rank goes live towards a rank that is still in its phases */
            ck_assert(state != KEEL_REPLAY_PHASES || after == KEEL_REPLAY_PHASES || e < KEEL_REPLAY_SENDS_REST);
            /* a repeated event has no effect */
            ck_assert_int_eq(keel_replay_after(after, (keel_replay_event_t)e), after);
        }
    }
}
END_TEST

START_TEST(a_rank_is_complete_again_when_it_says_so)
{
    for (int s = 0; s < KEEL_COMPLETE_LAST; s++) {
        const keel_complete_t state = (keel_complete_t)s;

        ck_assert_int_eq(keel_complete_after(state, KEEL_COMPLETE_DIED), KEEL_COMPLETE_NOT);
        ck_assert_int_eq(keel_complete_after(state, KEEL_COMPLETE_REPORTS), KEEL_COMPLETE_AGAIN);
    }
}
END_TEST

/* Reports were written before the rank announced completeness. */
START_TEST(a_decision_does_not_outdo_what_a_rank_has_said_itself)
{
    ck_assert_int_eq(keel_complete_after(KEEL_COMPLETE_AGAIN, KEEL_COMPLETE_DECIDED_NOT), KEEL_COMPLETE_AGAIN);
    ck_assert_int_eq(keel_complete_after(KEEL_COMPLETE_AGAIN, KEEL_COMPLETE_DECIDED), KEEL_COMPLETE_AGAIN);
    ck_assert_int_eq(keel_complete_after(KEEL_COMPLETE_NOT, KEEL_COMPLETE_DECIDED), KEEL_COMPLETE_ALWAYS);
    ck_assert_int_eq(keel_complete_after(KEEL_COMPLETE_ALWAYS, KEEL_COMPLETE_DECIDED_NOT), KEEL_COMPLETE_NOT);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {a_replay_goes_its_way,
                                  a_decision_takes_back_what_the_one_before_said,
                                  done_ahead_of_the_decision_is_remembered,
                                  unbegun_is_held_until_the_front,
                                  only_a_decision_begins_a_replay_and_only_going_live_ends_one_that_was_done,
                                  a_rank_is_complete_again_when_it_says_so,
                                  a_decision_does_not_outdo_what_a_rank_has_said_itself,
                                  NULL};

    return unit_run("peer_state", tests);
}
