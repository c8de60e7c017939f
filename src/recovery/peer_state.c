/* What follows from each event in each state. */
#include "recovery/peer_state.h"

/*
 * What cannot happen leaves the state as it is: a replacement says DONE and TAKEN itself, so the wrong words of a process that has
 * gone astray must not make this one wait for ever, or access memory that is not there.
 *
 * DONE may come before the decision: a predecessor that was the first to leave a gsync has nothing to replay, so its replacement
 * awaits nobody (keel_sections_are_here()), and this process may be slow to hear what was decided. It is remembered (EARLY).
 */
static const keel_replay_state_t replay_after[KEEL_REPLAY_LAST][KEEL_REPLAY_EVENT_LAST] = {
    [KEEL_REPLAY_NONE] = {KEEL_REPLAY_PHASES, KEEL_REPLAY_UNBEGUN, KEEL_REPLAY_NONE, KEEL_REPLAY_DONE_EARLY,
                          KEEL_REPLAY_NONE, KEEL_REPLAY_NONE, KEEL_REPLAY_NONE, KEEL_REPLAY_NONE},
    [KEEL_REPLAY_DONE_EARLY] = {KEEL_REPLAY_DONE, KEEL_REPLAY_DONE_EARLY, KEEL_REPLAY_DONE_EARLY,
                                KEEL_REPLAY_DONE_EARLY, KEEL_REPLAY_DONE_EARLY, KEEL_REPLAY_DONE_EARLY,
                                KEEL_REPLAY_NONE, KEEL_REPLAY_NONE},
    /* one that is live may fall behind again, and is held then */
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

/* what it has said itself is newer than what a decision says, which was asked before */
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
