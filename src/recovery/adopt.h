/* Adoption of a decision: the new state of the process, and the messages that help other ranks
 * to come back. */
#ifndef KEEL_RECOVERY_ADOPT_H_
#define KEEL_RECOVERY_ADOPT_H_

#include "recovery/recovery.h"
#include "recovery/view.h"

void keel_view_receive_decision(void *arg, const keel_control_in_t *in);
/* Adopts a decision on every rank if the rank still has the same view. */
void keel_view_adopt(keel_recovery_t *rec, const decision_t *d);

#endif
