/* Rollbacks that a process asks for. */
#ifndef KEEL_RECOVERY_ROLLBACK_REQUEST_H_
#define KEEL_RECOVERY_ROLLBACK_REQUEST_H_

#include "recovery/recovery.h"

/* asks for a rollback; KEEL_ERR_ROLLED_BACK, or what is final: @a reason where nothing can be rolled back */
keel_status_t keel_rollback_request(keel_recovery_t *rec, keel_status_t reason);
void keel_rollback_request_receive(void *arg, const keel_control_in_t *in);
/* rank 0, for each report: all have to know the same number */
void keel_rollback_request_compare(keel_recovery_t *rec, uint32_t rank, uint32_t number);
/* for people; NULL: nothing is wanted */
const char *keel_rollback_request_reason(keel_status_t rollback_reason);

#endif
