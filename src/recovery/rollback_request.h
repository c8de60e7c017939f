/* Rollback on request of a process. */
#ifndef KEEL_RECOVERY_ROLLBACK_REQUEST_H_
#define KEEL_RECOVERY_ROLLBACK_REQUEST_H_

#include "recovery/recovery.h"

/* Requests a rollback. Returns KEEL_ERR_ROLLED_BACK, or a final error if no rollback is
 * possible. */
keel_status_t keel_rollback_request(keel_recovery_t *rec, keel_rollback_reason_t reason);
void keel_rollback_request_receive(void *arg, const keel_control_in_t *in);
/* This rank has become the leader: requests that it learned of before are passed on. */
void keel_rollback_request_pass_on(keel_recovery_t *rec);
/* The leader, for each report: makes all ranks know the same request number. */
void keel_rollback_request_compare(keel_recovery_t *rec, uint32_t rank, uint32_t number);
/* Text of a reported keel_rollback_reason_t for users; NULL: no request. */
const char *keel_rollback_request_reason(uint32_t reason);

#endif
