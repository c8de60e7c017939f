/* Table of transitions. */
#include "ckpt/set_state.h"

#define IN(_state) (1u << (_state))
#define ANY        ((1u << KEEL_SET_STAGES) - 1)
#define SAME       -1

#define IN_PROGRESS (IN(KEEL_SET_COMPARING) | IN(KEEL_SET_IMAGES) | IN(KEEL_SET_ENCODING))
#define PARITY_IDLE (IN(KEEL_SHARE_ARMED) | IN(KEEL_SHARE_LACKING)) /* parity is idle */

static const struct {
    unsigned stages, shares; /* states in which the event may occur */
    int stage, share;        /* next state */
} moves[KEEL_SET_EVENTS] = {
    [KEEL_SET_BEGUN] = {IN(KEEL_SET_IDLE), ANY, KEEL_SET_IMAGES, SAME},
    [KEEL_SET_COPIED] = {IN(KEEL_SET_IMAGES), ANY, KEEL_SET_COMPARING, SAME},
    [KEEL_SET_ANNOUNCED] = {IN(KEEL_SET_COMPARING), ANY, KEEL_SET_IMAGES, SAME},
    [KEEL_SET_GATHERED] = {IN(KEEL_SET_IMAGES), PARITY_IDLE, KEEL_SET_ENCODING, SAME},
    [KEEL_SET_ENCODED] = {IN(KEEL_SET_ENCODING), PARITY_IDLE, KEEL_SET_SAFE, SAME},
    [KEEL_SET_REFUSED] = {IN_PROGRESS, ANY, KEEL_SET_FAILED, SAME},
    [KEEL_SET_USED] = {IN(KEEL_SET_SAFE), PARITY_IDLE, KEEL_SET_IDLE, KEEL_SHARE_ARMED},
    [KEEL_SET_DROPPED] = {ANY & ~IN(KEEL_SET_IDLE), ANY, KEEL_SET_IDLE, SAME},
    [KEEL_SET_LOST] = {IN(KEEL_SET_IDLE), PARITY_IDLE, SAME, KEEL_SHARE_LACKING},
    [KEEL_SET_VOID] = {IN(KEEL_SET_IDLE), PARITY_IDLE, SAME, KEEL_SHARE_ARMED},
    [KEEL_SET_REARM] = {ANY & ~IN(KEEL_SET_ENCODING), IN(KEEL_SHARE_LACKING), SAME, KEEL_SHARE_REARMING},
    [KEEL_SET_REARMED] = {ANY & ~IN(KEEL_SET_ENCODING), IN(KEEL_SHARE_REARMING), SAME, KEEL_SHARE_ARMED},
    [KEEL_SET_UNARMED] = {ANY & ~IN(KEEL_SET_ENCODING), IN(KEEL_SHARE_REARMING), SAME, KEEL_SHARE_LACKING},
};

int keel_set_state_next(keel_set_state_t state, keel_set_event_t event, keel_set_state_t *next_p)
{
    *next_p = state;
    if (moves[event].stage != SAME) {
        next_p->stage = (keel_set_stage_t)moves[event].stage;
    }
    if (moves[event].share != SAME) {
        next_p->share = (keel_set_share_t)moves[event].share;
    }
    return (moves[event].stages & IN(state.stage)) != 0 && (moves[event].shares & IN(state.share)) != 0;
}
