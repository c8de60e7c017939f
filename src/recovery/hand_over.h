/* What this process has logged towards a rank that is behind, one phase of it after the other (recovery/position). */
#ifndef KEEL_RECOVERY_HAND_OVER_H_
#define KEEL_RECOVERY_HAND_OVER_H_

#include "oplog/put_log.h"
#include "peer/control.h"

typedef struct keel_recovery keel_recovery_t;

/* all logged actions of @a phase towards @a rank, in order, those from before its death too; then the arrival */
keel_status_t keel_hand_over(keel_recovery_t *rec, uint32_t rank, uint32_t phase, uint32_t arrival);
/* of the phase that it stands at those before the first whose value is still awaited: to be called before, with the rest to follow */
keel_status_t keel_hand_over_prefix(keel_recovery_t *rec, uint32_t rank);
/* a program that locks or waits: what was done in @a phase at @a rank, which replays it in its order; then the arrival */
void keel_hand_over_to_replay(keel_recovery_t *rec, uint32_t rank, uint32_t phase, uint32_t arrival);
/* to a process that was behind, or is one: everything was handed over to it, and what this process holds of its predecessor */
void keel_hand_over_announce(keel_recovery_t *rec, uint32_t rank);
void keel_hand_over_receive(void *arg, const keel_control_in_t *in);

#endif
