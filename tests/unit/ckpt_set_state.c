/*
 * Every event in every state of a set of images (ckpt/set_state.h), against two tables written by
 * hand.
 */
#include "ckpt/set_state.h"
#include "unit.h"

#include <string.h>

#define STAGES 6u
#define SHARES 3u

/* By stage: the legal events of a set in the making, and the next stage. */
static const struct stage_row {
    keel_set_stage_t stage;
    struct {
        keel_set_event_t event;
        keel_set_stage_t next;
    } may[KEEL_SET_EVENTS];
} stages[STAGES] = {
    {KEEL_SET_IDLE,
     {{KEEL_SET_BEGUN, KEEL_SET_IMAGES}, {KEEL_SET_LOST, KEEL_SET_IDLE}, {KEEL_SET_VOID, KEEL_SET_IDLE}}},
    {KEEL_SET_COMPARING,
     {{KEEL_SET_ANNOUNCED, KEEL_SET_IMAGES}, {KEEL_SET_REFUSED, KEEL_SET_FAILED}, {KEEL_SET_DROPPED, KEEL_SET_IDLE}}},
    {KEEL_SET_IMAGES,
     {{KEEL_SET_COPIED, KEEL_SET_COMPARING},
      {KEEL_SET_GATHERED, KEEL_SET_ENCODING},
      {KEEL_SET_REFUSED, KEEL_SET_FAILED},
      {KEEL_SET_DROPPED, KEEL_SET_IDLE}}},
    {KEEL_SET_ENCODING,
     {{KEEL_SET_ENCODED, KEEL_SET_SAFE}, {KEEL_SET_REFUSED, KEEL_SET_FAILED}, {KEEL_SET_DROPPED, KEEL_SET_IDLE}}},
    {KEEL_SET_SAFE, {{KEEL_SET_USED, KEEL_SET_IDLE}, {KEEL_SET_DROPPED, KEEL_SET_IDLE}}},
    {KEEL_SET_FAILED, {{KEEL_SET_DROPPED, KEEL_SET_IDLE}}},
};

/* By state of the share: the legal events of the share in use, and its next state. */
static const struct share_row {
    keel_set_share_t share;
    struct {
        keel_set_event_t event;
        keel_set_share_t next;
    } may[KEEL_SET_EVENTS];
} shares[SHARES] = {
    {KEEL_SHARE_ARMED,
     {{KEEL_SET_USED, KEEL_SHARE_ARMED}, {KEEL_SET_LOST, KEEL_SHARE_LACKING}, {KEEL_SET_VOID, KEEL_SHARE_ARMED}}},
    {KEEL_SHARE_LACKING,
     {{KEEL_SET_USED, KEEL_SHARE_ARMED},
      {KEEL_SET_LOST, KEEL_SHARE_LACKING},
      {KEEL_SET_VOID, KEEL_SHARE_ARMED},
      {KEEL_SET_REARM, KEEL_SHARE_REARMING}}},
    {KEEL_SHARE_REARMING, {{KEEL_SET_REARMED, KEEL_SHARE_ARMED}, {KEEL_SET_UNARMED, KEEL_SHARE_LACKING}}},
};

static int is_of_share(keel_set_event_t event)
{
    return event == KEEL_SET_USED || event == KEEL_SET_LOST || event == KEEL_SET_VOID || event == KEEL_SET_REARM ||
           event == KEEL_SET_REARMED || event == KEEL_SET_UNARMED;
}

/* True if the event changes the share alone: legal in any stage without work of parity. */
static int is_of_share_alone(keel_set_event_t event)
{
    return event == KEEL_SET_REARM || event == KEEL_SET_REARMED || event == KEEL_SET_UNARMED;
}

/* Unused entries of the table read as BEGUN, hence the check of that event. */
static int stage_may(keel_set_stage_t stage, keel_set_event_t event, keel_set_stage_t *next_p)
{
    *next_p = stage;
    if (is_of_share_alone(event)) {
        return stage != KEEL_SET_ENCODING;
    }
    for (unsigned i = 0; i < KEEL_SET_EVENTS; i++) {
        if (stages[stage].may[i].event == event && (event != KEEL_SET_BEGUN || stage == KEEL_SET_IDLE)) {
            *next_p = stages[stage].may[i].next;
            return 1;
        }
    }
    return 0;
}

static int share_may(keel_set_share_t share, keel_set_event_t event, keel_set_share_t *next_p)
{
    *next_p = share;
    if (!is_of_share(event)) { /* parity runs one computation at a time */
        return share != KEEL_SHARE_REARMING || (event != KEEL_SET_GATHERED && event != KEEL_SET_ENCODED);
    }
    for (unsigned i = 0; i < KEEL_SET_EVENTS; i++) {
        if (shares[share].may[i].event == event) {
            *next_p = shares[share].may[i].next;
            return 1;
        }
    }
    return 0;
}

START_TEST(every_event_in_every_state_is_legal_or_refused_as_written)
{
    unsigned legal = 0;

    ck_assert_uint_eq(KEEL_SET_STAGES, STAGES);
    ck_assert_uint_eq(KEEL_SHARE_STATES, SHARES);
    for (unsigned stage = 0; stage < STAGES; stage++) {
        ck_assert_uint_eq(stages[stage].stage, stage);
        for (unsigned share = 0; share < SHARES; share++) {
            const keel_set_state_t state = {.stage = (keel_set_stage_t)stage, .share = (keel_set_share_t)share};

            ck_assert_uint_eq(shares[share].share, share);
            for (unsigned event = 0; event < KEEL_SET_EVENTS; event++) {
                keel_set_state_t next, expected;
                const int may = stage_may(state.stage, (keel_set_event_t)event, &expected.stage) &
                                share_may(state.share, (keel_set_event_t)event, &expected.share);
                const int is_legal = keel_set_state_next(state, (keel_set_event_t)event, &next);

                ck_assert_msg(is_legal == may, "event %u at stage %u, share %u: %d, not %d", event, stage, share,
                              is_legal, may);
                ck_assert_msg(!is_legal || (next.stage == expected.stage && next.share == expected.share),
                              "event %u at stage %u, share %u leads to %u, %u, not to %u, %u", event, stage, share,
                              next.stage, next.share, expected.stage, expected.share);
                legal += (unsigned)is_legal;
            }
        }
    }
    ck_assert_uint_eq(legal, 58);
}
END_TEST

static keel_set_state_t after(keel_set_state_t state, const keel_set_event_t *events, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        ck_assert_msg(keel_set_state_next(state, events[i], &state), "event %u, the %u.", events[i], i);
    }
    return state;
}

START_TEST(a_set_comes_into_use_and_its_share_back)
{
    static const keel_set_event_t made[] = {KEEL_SET_BEGUN,   KEEL_SET_COPIED, KEEL_SET_ANNOUNCED, KEEL_SET_GATHERED,
                                            KEEL_SET_ENCODED, KEEL_SET_USED,   KEEL_SET_LOST,      KEEL_SET_REARM,
                                            KEEL_SET_UNARMED, KEEL_SET_REARM,  KEEL_SET_BEGUN};
    keel_set_state_t state = {KEEL_SET_IDLE, KEEL_SHARE_ARMED};

    state = after(state, made, sizeof(made) / sizeof(*made));
    /* the set waits: parity computes the share first */
    ck_assert_int_eq(state.stage, KEEL_SET_IMAGES);
    ck_assert_int_eq(state.share, KEEL_SHARE_REARMING);
    ck_assert_int_eq(keel_set_state_next(state, KEEL_SET_GATHERED, &state), 0);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {every_event_in_every_state_is_legal_or_refused_as_written,
                                  a_set_comes_into_use_and_its_share_back, NULL};

    return unit_run("ckpt_set_state", tests);
}
