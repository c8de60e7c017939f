/* Hand-over: a survivor does at a replacement what its put log holds for that rank, phase by
 * phase (recovery/position). */
#ifndef KEEL_RECOVERY_HAND_OVER_H_
#define KEEL_RECOVERY_HAND_OVER_H_

#include "oplog/put_log.h"
#include "peer/control.h"

typedef struct keel_recovery keel_recovery_t;

/* Hands over all logged actions of @a phase towards @a rank in order, from before the death,
 * too; then sends the arrival. */
keel_status_t keel_hand_over(keel_recovery_t *rec, uint32_t rank, uint32_t phase, uint32_t arrival);
/* Hands over the actions of the rank's present phase before the first pending value.
 * keel_hand_over() follows later with the rest. */
keel_status_t keel_hand_over_prefix(keel_recovery_t *rec, uint32_t rank);
/* A program that locks or waits: sends the records of @a phase to the replay of @a rank, then
 * the arrival. */
void keel_hand_over_to_replay(keel_recovery_t *rec, uint32_t rank, uint32_t phase, uint32_t arrival);
/* Announces the end of the hand-over to a rank that was behind, or is, with the digest of the
 * predecessor's records here. */
void keel_hand_over_announce(keel_recovery_t *rec, uint32_t rank);
void keel_hand_over_receive(void *arg, const keel_control_in_t *in);

#endif
