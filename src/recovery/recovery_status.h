/* Status, time and messages of recovery. */
#ifndef KEEL_RECOVERY_RECOVERY_STATUS_H_
#define KEEL_RECOVERY_RECOVERY_STATUS_H_

#include "recovery/recovery.h"

uint64_t keel_recovery_now(const keel_recovery_t *rec);
/* Returns KEEL_OK, KEEL_ERR_ROLLED_BACK or a final error. */
keel_status_t keel_recovery_status(const keel_recovery_t *rec);
/* Message for users (KEEL_VERBOSE): a step of recovery, with the time since the death. */
void keel_recovery_info(keel_recovery_t *rec, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Records a final error for all further calls; the first one counts. */
void keel_recovery_fail(keel_recovery_t *rec, keel_status_t status);

#endif
