/* A replacement's way back: the decision, its image from the group, its get records, its memory. */
#ifndef KEEL_RECOVERY_REBUILD_H_
#define KEEL_RECOVERY_REBUILD_H_

#include "recovery/recovery.h"

/* replacement: waits for the decision, in init */
keel_status_t keel_rebuild_await_decision(keel_recovery_t *rec);
/* replacement, local recovery: image, get records; restore; then announces its position */
keel_status_t keel_rebuild_run(keel_recovery_t *rec, keel_restore_cb_t restore, void *arg);
/* everybody, after a rollback was decided: drain, barrier, restore, barrier (protocol.md, A death) */
keel_status_t keel_rollback_run(keel_recovery_t *rec, keel_restore_cb_t restore, void *arg);
void keel_rollback_receive(keel_recovery_t *rec, const keel_control_in_t *in);

#endif
