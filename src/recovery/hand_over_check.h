/* Check after the hand-over: a replacement compares its re-execution with the predecessor's
 * records at other ranks. */
#ifndef KEEL_RECOVERY_HAND_OVER_CHECK_H_
#define KEEL_RECOVERY_HAND_OVER_CHECK_H_

#include "recovery/recovery.h"

/* Before an arrival, after the hand-overs of all ranks: ends the wait for hand-overs. Returns
 * KEEL_ERR_ROLLED_BACK in a replacement with a different re-execution. */
keel_status_t keel_hand_over_check(keel_recovery_t *rec);
/* Status of a fetch refused by @a rank because the predecessor's records differ. The next
 * progress requests a rollback. */
keel_status_t keel_hand_over_fetch_refused(keel_recovery_t *rec, uint32_t rank);

#endif
