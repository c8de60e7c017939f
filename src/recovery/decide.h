/* The decision: how far the computation has come, who begins where, and whether that can be had without a rollback. */
#ifndef KEEL_RECOVERY_DECIDE_H_
#define KEEL_RECOVERY_DECIDE_H_

#include "recovery/view.h"

/* decide.c: rank 0, on one report of every rank */
void keel_view_decide(const keel_recovery_t *rec, decision_t *d);

#endif
