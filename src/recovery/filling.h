/*
 * A program that offers no safe point: nothing of its logs can be dropped, and when they are full a death is a rollback to its start. That
 * is said once, by rank 0, when the first rank has used half of its own; again at most where rank 0 dies before another death has been decided.
 */
#ifndef KEEL_RECOVERY_FILLING_H_
#define KEEL_RECOVERY_FILLING_H_

#include "recovery/recovery.h"

/* this process has come to a safe gsync, or a checkpoint */
void keel_filling_offer(keel_recovery_t *rec);
/* looks, and tells */
void keel_filling_step(keel_recovery_t *rec);
void keel_filling_receive(keel_recovery_t *rec, const keel_control_in_t *in);

#endif
