/* Next state for each state and event. */
#include "recovery/peer_state.h"

/*
 * An impossible event leaves the state unchanged. A replacement reports DONE and REST_DONE itself,
 * so false reports by a faulty process must not make this one wait for ever, or access memory that
 * is not there.
 *
 * DONE may come before the decision: the predecessor that left a gsync first has nothing to replay,
 * so its replacement waits for no rank (keel_sections_are_here()), and the process may receive the
 * decision late. The state remembers the report (DONE_EARLY).
 */
static const keel_replay_state_t replay_after[KEEL_REPLAY_LAST][KEEL_REPLAY_EVENT_LAST] = {
    [KEEL_REPLAY_NONE] = {KEEL_REPLAY_PHASES, KEEL_REPLAY_UNBEGUN, KEEL_REPLAY_NONE, KEEL_REPLAY_DONE_EARLY,
                          KEEL_REPLAY_NONE, KEEL_REPLAY_NONE, KEEL_REPLAY_NONE, KEEL_REPLAY_NONE},
    [KEEL_REPLAY_DONE_EARLY] = {KEEL_REPLAY_DONE, KEEL_REPLAY_DONE_EARLY, KEEL_REPLAY_DONE_EARLY,
                                KEEL_REPLAY_DONE_EARLY, KEEL_REPLAY_DONE_EARLY, KEEL_REPLAY_DONE_EARLY,
                                KEEL_REPLAY_NONE, KEEL_REPLAY_NONE},
    /* a live rank may fall behind again, and is held then */
    [KEEL_REPLAY_UNBEGUN] = {KEEL_REPLAY_PHASES, KEEL_REPLAY_UNBEGUN, KEEL_REPLAY_NONE, KEEL_REPLAY_DONE_EARLY,
                             KEEL_REPLAY_UNBEGUN, KEEL_REPLAY_UNBEGUN, KEEL_REPLAY_UNBEGUN, KEEL_REPLAY_NONE},
    [KEEL_REPLAY_PHASES] = {KEEL_REPLAY_PHASES, KEEL_REPLAY_UNBEGUN, KEEL_REPLAY_NONE, KEEL_REPLAY_DONE,
                            KEEL_REPLAY_PHASES, KEEL_REPLAY_PHASES, KEEL_REPLAY_PHASES, KEEL_REPLAY_PHASES},
    [KEEL_REPLAY_DONE] = {KEEL_REPLAY_DONE, KEEL_REPLAY_DONE, KEEL_REPLAY_DONE, KEEL_REPLAY_DONE, KEEL_REPLAY_REST_SENT,
                          KEEL_REPLAY_REST_DONE, KEEL_REPLAY_NONE, KEEL_REPLAY_NONE},
    [KEEL_REPLAY_REST_SENT] = {KEEL_REPLAY_REST_SENT, KEEL_REPLAY_REST_SENT, KEEL_REPLAY_REST_SENT,
                               KEEL_REPLAY_REST_SENT, KEEL_REPLAY_REST_SENT, KEEL_REPLAY_REST_DONE, KEEL_REPLAY_NONE,
                               KEEL_REPLAY_NONE},
    [KEEL_REPLAY_REST_DONE] = {KEEL_REPLAY_REST_DONE, KEEL_REPLAY_REST_DONE, KEEL_REPLAY_REST_DONE,
                               KEEL_REPLAY_REST_DONE, KEEL_REPLAY_REST_DONE, KEEL_REPLAY_REST_DONE, KEEL_REPLAY_NONE,
                               KEEL_REPLAY_NONE},
};

/* The rank's own report is newer than a decision, which summarises earlier reports. */
static const keel_complete_t complete_after[KEEL_COMPLETE_LAST][KEEL_COMPLETE_EVENT_LAST] = {
    [KEEL_COMPLETE_ALWAYS] = {KEEL_COMPLETE_NOT, KEEL_COMPLETE_ALWAYS, KEEL_COMPLETE_NOT, KEEL_COMPLETE_AGAIN},
    [KEEL_COMPLETE_NOT] = {KEEL_COMPLETE_NOT, KEEL_COMPLETE_ALWAYS, KEEL_COMPLETE_NOT, KEEL_COMPLETE_AGAIN},
    [KEEL_COMPLETE_AGAIN] = {KEEL_COMPLETE_NOT, KEEL_COMPLETE_AGAIN, KEEL_COMPLETE_AGAIN, KEEL_COMPLETE_AGAIN},
};

keel_replay_state_t keel_replay_after(keel_replay_state_t state, keel_replay_event_t event)
{
    return replay_after[state][event];
}

keel_complete_t keel_complete_after(keel_complete_t state, keel_complete_event_t event)
{
    return complete_after[state][event];
}
