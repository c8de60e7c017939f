/* What recovery knows of itself and says. */
#ifndef KEEL_RECOVERY_RECOVERY_STATUS_H_
#define KEEL_RECOVERY_RECOVERY_STATUS_H_

#include "recovery/recovery.h"

uint64_t keel_recovery_now(const keel_recovery_t *rec);
/* KEEL_OK, KEEL_ERR_ROLLED_BACK or what is final */
keel_status_t keel_recovery_status(const keel_recovery_t *rec);
/* a line for people (KEEL_VERBOSE): what recovery does, with the time since the death */
void keel_recovery_info(keel_recovery_t *rec, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* it cannot go on: what every call returns from now on; the first reason counts */
void keel_recovery_fail(keel_recovery_t *rec, keel_status_t status);

#endif
