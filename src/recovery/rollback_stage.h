/* Progress of all ranks in a rollback: each rank announces its stages with the number of the
 * rollback. */
#ifndef KEEL_RECOVERY_ROLLBACK_STAGE_H_
#define KEEL_RECOVERY_ROLLBACK_STAGE_H_

#include "recovery/recovery.h"

/* Announces the own stage. */
keel_status_t keel_rollback_stage_announce(keel_recovery_t *rec, uint32_t target, keel_roll_t stage);
void keel_rollback_stage_receive(void *arg, const keel_control_in_t *in);
/* True if @a rank has announced the stage, or a later one. */
int keel_rollback_stage_is_reached(const keel_recovery_t *rec, uint32_t rank, uint32_t target, keel_roll_t stage);

#endif
