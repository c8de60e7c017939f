/* The decision: how far the computation has come, where each rank begins, and whether a rollback
 * is necessary. */
#ifndef KEEL_RECOVERY_DECIDE_H_
#define KEEL_RECOVERY_DECIDE_H_

#include "recovery/view.h"

/* The leader: decides on one report of every rank. */
void keel_view_decide(const keel_recovery_t *rec, decision_t *d);

#endif
