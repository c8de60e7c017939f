/* A rollback: drain, barrier, restore of the generation, barrier. */
#ifndef KEEL_RECOVERY_ROLLBACK_H_
#define KEEL_RECOVERY_ROLLBACK_H_

#include "recovery/recovery.h"

/* All ranks, after the decision (protocol/recovery.md). */
keel_status_t keel_rollback_run(keel_recovery_t *rec, keel_restore_cb_t restore, void *arg);
/* A replacement, before keel_rollback_run(): obtains the image to be restored, NULL in
 * generation 0. It reads the other members' shares. Images do not change from the decision on,
 * so the other ranks need not have drained. */
keel_status_t keel_rollback_peek(keel_recovery_t *rec, const void **image_p, size_t *size_p);

/* Every rank, before the job begins at @a generation, with the own image loaded from files: the
 * process becomes a replacement amid a rollback to the generation. */
void keel_rollback_begin_at(keel_recovery_t *rec, const keel_generation_t *generation);

#endif
