/* A rollback: drain, barrier, everything as it was at the generation, barrier. */
#ifndef KEEL_RECOVERY_ROLLBACK_H_
#define KEEL_RECOVERY_ROLLBACK_H_

#include "recovery/recovery.h"

/* everybody, after it was decided (protocol.md, A death) */
keel_status_t keel_rollback_run(keel_recovery_t *rec, keel_restore_cb_t restore, void *arg);
/* a replacement, before that: the image it will be given is here, NULL in generation 0. It reads what others have of it, and images
 * lie still from the decision on, so nobody need have drained. */
keel_status_t keel_rollback_peek(keel_recovery_t *rec, const void **image_p, size_t *size_p);

#endif
