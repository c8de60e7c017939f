/* Who has handed everything over says so, with what it holds of a predecessor. */
#ifndef KEEL_RECOVERY_HAND_OVER_CHECK_H_
#define KEEL_RECOVERY_HAND_OVER_CHECK_H_

#include "recovery/recovery.h"

/* before an arrival, all have handed over: goes on. KEEL_ERR_ROLLED_BACK in a replacement that did otherwise than what others hold */
keel_status_t keel_hand_over_check(keel_recovery_t *rec);
/* @a rank refused an atomic that fetches: what this process's is to be called. The next progress asks for a rollback. */
keel_status_t keel_hand_over_fetch_refused(keel_recovery_t *rec, uint32_t rank);

#endif
