/*
 * Record holders of a lost rank: the ranks with records for the rank or of the rank's accesses, or
 * with own gets from the rank. A decision names the holders. Until the front the replacement
 * exchanges data with the holders alone, and only their hand-overs are awaited
 * (protocol/recovery.md).
 */
#ifndef KEEL_RECOVERY_HOLDERS_H_
#define KEEL_RECOVERY_HOLDERS_H_

#include "recovery/view.h"

/* For a report: true if this rank holds records of @a rank. */
int keel_holders_has_records(const keel_recovery_t *rec, uint32_t rank);
/* The leader: names the holders of all lost ranks in the decision. */
void keel_holders_decide(const keel_recovery_t *rec, decision_t *d);
/* Takes the holders of a local decision. */
void keel_holders_adopt(keel_recovery_t *rec, const decision_t *d);
/* True if @a rank, a holder, died before the hand-over of its earlier accesses to this process. */
int keel_holders_lost_hand_over(const keel_recovery_t *rec, uint32_t rank);
/* True if this rank and @a rank, both at the front, have nothing to hand over to each other, and
 * no hand-over between them is awaited. */
int keel_holders_are_apart(const keel_recovery_t *rec, uint32_t rank);

#endif
