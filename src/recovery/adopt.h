/* Taking a decision up: what this process is from now on, and what it has to send so that the others can come back. */
#ifndef KEEL_RECOVERY_ADOPT_H_
#define KEEL_RECOVERY_ADOPT_H_

#include "recovery/recovery.h"
#include "recovery/view.h"

void keel_view_receive_decision(void *arg, const keel_control_in_t *in);
/* adopt.c: every rank, when it is for the view that it knows */
void keel_view_adopt(keel_recovery_t *rec, const decision_t *d);

#endif
