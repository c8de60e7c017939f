/* How far everybody is in a rollback: each stage is told to all, by the number of the rollback. */
#ifndef KEEL_RECOVERY_ROLLBACK_STAGE_H_
#define KEEL_RECOVERY_ROLLBACK_STAGE_H_

#include "recovery/recovery.h"

/* this process is at that stage */
keel_status_t keel_rollback_stage_announce(keel_recovery_t *rec, uint32_t target, keel_roll_t stage);
void keel_rollback_stage_receive(void *arg, const keel_control_in_t *in);
/* @a rank has said so, or that it is further */
int keel_rollback_stage_is_reached(const keel_recovery_t *rec, uint32_t rank, uint32_t target, keel_roll_t stage);

#endif
